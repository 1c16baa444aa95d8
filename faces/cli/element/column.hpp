#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <pmemcpy/packing.hpp>
#include <pmemcpy/type.hpp>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace pmemcpy::cli {

/// A number of any type, in one that holds it exactly.
using Number = std::variant<std::int64_t, std::uint64_t, float, double>;

/// The numbers of one field of many elements, or the elements themselves. Bools are 0 and 1, enumerations their integers,
/// times their ticks; of a complex number it is the magnitude.
struct Column {
    std::string field;                   ///< "x", "inner.x"; "value" where the elements are no structures
    Type type;                           ///< of one number in the elements
    std::vector<std::uint64_t> offsets;  ///< in an element; several where the field is an array
};

struct Columns {
    std::vector<Column> numbers;
    std::vector<std::string> others;  ///< fields without numbers: text, opaque bytes
};

Columns columns_of(const Type& element);

/// Up to `most_numbers` numbers of a column.
using Chunk = std::variant<std::span<const std::int64_t>, std::span<const std::uint64_t>,
                           std::span<const float>, std::span<const double>>;
inline constexpr std::size_t most_numbers = 1024;

/// Visits the numbers of a column in chunks, each of the same kind, in their order.
/// Shape: `elements` are a whole number of elements of `element_bytes`, one behind the other.
void each_chunk(const Column& column, std::uint64_t element_bytes, std::span<const std::byte> elements,
                const std::function<void(const Chunk&)>& visit);

/// Visits what those of a chunk stand for that are not missing. Returns how many are.
std::uint64_t each_meant(const Packing& packing, const Chunk& chunk,
                         const std::function<void(const Chunk&)>& visit);

/// The number for people: times as dates, all others as short as they can be read back.
std::string number_text(const Type& type, const Number& number);

}  // namespace pmemcpy::cli
