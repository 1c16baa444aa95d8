#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "exchange/holding.hpp"
#include "exchange/zarr/metadata.hpp"
#include "exchange/zarr/type.hpp"

namespace pmemcpy::exchange {

/// What is to become an array of Zarr: an array of a pool, or a value.
struct ZarrSubject {
    Type type;  ///< of an element, of fixed size; text of any length is text of its own length
    Dimensions dims;
    std::vector<std::byte> fill{};  ///< one element, or empty
    Codec codec{};
    bool is_any_length = false;  ///< text of any length
};

/// How it is written.
struct ZarrPlan {
    Json document;  ///< without attributes
    ZarrArray array;
    std::vector<std::byte> fill;  ///< one element as in the file; of text padded as in the pool
    std::string note{};           ///< what of it Zarr cannot hold
};

/// As the array was that it came from, as far as that fits, else anew. Errors: unsupported.
ZarrPlan zarr_plan(const ZarrSubject& subject, const Variable& variable);

}  // namespace pmemcpy::exchange
