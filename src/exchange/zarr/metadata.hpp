#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <pmemcpy/box.hpp>
#include <string>
#include <vector>

#include "exchange/zarr/chain.hpp"
#include "exchange/zarr/type.hpp"

namespace pmemcpy::exchange {

/// What the zarr.json of an array says, checked.
struct ZarrArray {
    /// Errors: corrupt; unsupported for what is not known here, naming it.
    explicit ZarrArray(const Json& document);

    Dimensions shape;
    Dimensions chunk;  ///< of the grid of files; that of shards where there are some
    ZarrChain chain;
    ZarrElement element;
    std::vector<std::byte> fill;                    ///< as in a pool; of text of any length its bytes
    bool has_no_fill = false;                       ///< as Zarr 2 allows
    std::vector<std::optional<std::string>> names;  ///< of the dimensions, or none
    bool is_key_of_v2 = false;
    char separator = '/';

    /// The number of chunks along each dimension.
    Dimensions grid() const;
    /// The file of a chunk, below the array's folder.
    std::string key(const Dimensions& place) const;
    /// The names as a pool has them, where each dimension needs one: "dim_0" for the first if it has none.
    /// Empty if no dimension has a name.
    std::vector<std::string> pool_names() const;
};

/// The `zarr.json` that says the same as a `.zarray` of Zarr 2. Errors: corrupt, unsupported.
Json zarr_document_of_v2(const Json& zarray);

/// The members of an array's document that a pool has no word for, for the attribute `_exchange`.
Json zarr_rest_of(Json document);

}  // namespace pmemcpy::exchange
