#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <pmemcpy/serializer.hpp>
#include <pmemcpy/type.hpp>
#include <span>
#include <string>

namespace pmemcpy::cli {

/// So many significant digits of numbers with a fraction; 0: as few as read back to the same number.
using Precision = int;
inline constexpr Precision exact = 0;

/// One element as text: 42, 1.5, 1+2i, true, 2026-05-01, {x: 1, y: 2}, [1, 2]; opaque bytes in hexadecimal.
void append_text(std::string& out, const Type& type, std::span<const std::byte> bytes,
                 Precision precision = exact);

/// One element as JSON. What JSON cannot say becomes text (NaN, infinities, dates, opaque bytes in
/// hexadecimal), and a complex number becomes [real, imaginary].
nlohmann::ordered_json to_json(const Type& type, std::span<const std::byte> bytes);

/// Whether the bytes of a value stored so can be told apart without the program that stored them.
bool is_readable(const Type& type, SerializerType serializer);

/// Whether the bytes of such a value are text as they stand: a string, or JSON.
bool is_text(const Type& type);

/// Errors: corrupt, unless the bytes are one element (of bytes that only their owner understands, any number), or a whole number of them where that is wanted.
void check_whole(const Type& element, std::span<const std::byte> bytes, bool is_sequence);

/// A value as text, a line for each element of a sequence; and as JSON.
/// Errors: corrupt, when the bytes are not a whole number of elements
std::string value_text(const Type& type, std::span<const std::byte> bytes, Precision precision = exact);
nlohmann::ordered_json value_json(const Type& type, std::span<const std::byte> bytes);

/// JSON on one line, whatever bytes the strings in it have.
std::string dump(const nlohmann::ordered_json& json);

}  // namespace pmemcpy::cli
