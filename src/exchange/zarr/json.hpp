#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <pmemcpy/error.hpp>
#include <set>
#include <string>
#include <vector>

namespace pmemcpy::exchange {

using Json = nlohmann::json;

/// A document of metadata as zarr-python writes it: JSON, in which NaN, Infinity and -Infinity may stand for numbers.
struct ZarrDocument {
    Json json;  ///< an object, without `consolidated_metadata`, which only repeats other documents
    std::vector<std::string>
        attributes;  ///< the names below `attributes` in their order; of .zattrs all names
    std::set<std::string>
        rounded;  ///< those of them with an integer beyond 64 bits somewhere, which `json` has as a float
};

/// `is_attributes`: the whole document is the attributes, as .zattrs is.
/// Errors: not_found without such a file; corrupt, naming it, for what is no object of JSON or is nested too deep.
ZarrDocument read_zarr_document(const std::string& file, bool is_attributes = false);

/// Text of at most `most_bytes` of a file. Errors: not_found; corrupt if there is more.
std::string read_zarr_text(const std::string& file, std::uint64_t most_bytes);

/// Whether this JSON has an integer beyond 64 bits, which `Json` rounds to a float.
bool has_large_integer(const std::string& text);

/// The file is none that a writer of Zarr leaves. Errors: corrupt.
[[noreturn]] inline void refuse_zarr(const std::string& what) { throw Error(Code::corrupt, what); }

/// A part of it for a message, in ASCII.
std::string shown_json(const Json& json);

/// As it is written into a file, indented; numbers that JSON has no word for as zarr-python writes them.
std::string text_of_zarr(const nlohmann::ordered_json& json);

}  // namespace pmemcpy::exchange
