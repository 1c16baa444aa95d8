#pragma once

#include <cstdint>
#include <optional>
#include <pmemcpy/type.hpp>
#include <span>
#include <string>
#include <string_view>

namespace pmemcpy::exchange {

// NumPy keeps text (`<U8`) as so many characters of four bytes, padded with zeros; a pool keeps UTF-8, padded in the same way.

/// Appends a character. False for what is none.
bool append_utf8(std::string& into, std::uint32_t character);

/// How many characters there are, without the zeros behind the last; nothing if it is no UTF-8.
std::optional<std::uint64_t> characters_of(std::span<const std::byte> utf8);

/// Fills `to`, which has at least as many bytes. False for what are no characters.
bool utf8_of_numpy(std::span<const std::byte> characters, ByteOrder order, std::span<std::byte> to);

/// Fills `to`, which has room for characters_of(utf8) of four bytes.
void numpy_of_utf8(std::span<const std::byte> utf8, ByteOrder order, std::span<std::byte> to);

}  // namespace pmemcpy::exchange
