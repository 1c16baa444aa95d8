#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <pmemcpy/type.hpp>
#include <span>
#include <string>
#include <vector>

#include "exchange/zarr/type.hpp"

namespace pmemcpy::exchange {

/// A number as JSON has it, or a value that is one inside: bool, integer, float (not always finite), a list of two of a complex
/// number; of datetime64 and enumerations their integer; of text the text. Errors: unsupported for other types.
Json number_of(const Type& type, std::span<const std::byte> bytes);

/// The bytes in a pool of an element that is spelled as `fill_value`: "NaN", "0x7fc00000", [1, 2], base64, ... Of text of any
/// length its bytes. Errors: corrupt.
std::vector<std::byte> bytes_of_fill(const Json& fill, const Json& data_type, const ZarrElement& element);

/// The other way; `element` is that of the data type, and the bytes are in the file's order.
/// Errors: unsupported.
Json fill_of_bytes(const ZarrElement& element, std::span<const std::byte> bytes);

}  // namespace pmemcpy::exchange
