#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <pmemcpy/serializer.hpp>
#include <pmemcpy/type.hpp>
#include <span>
#include <string>

namespace pmemcpy::cli {

/// One element as text: 42, 1.5, 1+2i, true, 2026-05-01, {x: 1, y: 2}, [1, 2]; opaque bytes in hexadecimal.
void append_text(std::string& out, const Type& type, std::span<const std::byte> bytes);

/// One element as JSON. What JSON cannot say becomes text (NaN, infinities, dates, opaque bytes in
/// hexadecimal), and a complex number becomes [real, imaginary].
nlohmann::ordered_json to_json(const Type& type, std::span<const std::byte> bytes);

/// Whether the bytes of a value stored so can be told apart without the program that stored them.
bool is_readable(const Type& type, SerializerType serializer);

/// A value as text, a line for each element of a sequence; and as JSON.
/// Errors: corrupt, when the bytes are not a whole number of elements
std::string value_text(const Type& type, std::span<const std::byte> bytes);
nlohmann::ordered_json value_json(const Type& type, std::span<const std::byte> bytes);

/// JSON on one line, whatever bytes the strings in it have.
std::string dump(const nlohmann::ordered_json& json);

}  // namespace pmemcpy::cli
