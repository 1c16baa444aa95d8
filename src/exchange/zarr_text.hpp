#pragma once

#include <cstddef>
#include <optional>
#include <pmemcpy/type.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::exchange {

/// Text padded with zeros, in place: UTF-8 never takes more than UTF-32. Errors: corrupt for what is no character.
void utf32_to_utf8(std::span<std::byte> text, ByteOrder order);
/// Errors: unsupported when it has too many characters for so many bytes, or is no UTF-8.
void utf8_to_utf32(std::span<std::byte> text, ByteOrder order);

std::string base64_of(std::span<const std::byte> bytes);
/// Nothing if it is none.
std::optional<std::vector<std::byte>> bytes_of_base64(std::string_view text);

}  // namespace pmemcpy::exchange
