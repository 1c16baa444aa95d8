#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pmemcpy::codec::bp4 {

/// The element types of BP4 with the numbers that it writes for them.
enum class Type : std::uint8_t {
    int8 = 0,
    int16 = 1,
    int32 = 2,
    int64 = 4,
    float32 = 5,
    float64 = 6,
    long_double = 7,
    string = 9,
    complex64 = 10,   ///< two float32
    complex128 = 11,  ///< two float64
    string_array = 12,
    uint8 = 50,
    uint16 = 51,
    uint32 = 52,
    uint64 = 54,
    character = 55,
};

/// Bytes of one element; 0 for strings, which have no fixed size, and for numbers that are no type.
std::size_t size_bytes(Type type) noexcept;

inline constexpr std::size_t max_dimensions = 32;

/// One element of any type; the bytes behind its size are zero.
using Element = std::array<std::byte, 16>;
Element element_of(std::span<const std::byte> bytes);

/// What BP4 records of one block: where it lies in the array and in the file, and between which values.
struct Characteristics {
    Type type = Type::int8;
    std::uint32_t step = 1;  ///< BP4 counts from 1
    std::uint32_t file_index = 0;
    std::uint8_t dimensions = 0;
    std::array<std::uint64_t, max_dimensions> count{};
    std::array<std::uint64_t, max_dimensions> shape{};
    std::array<std::uint64_t, max_dimensions> offset{};
    std::optional<Element> value;  ///< of a scalar
    std::string text;              ///< of a string
    std::optional<Element> min;    ///< of an array; given with max or not at all
    std::optional<Element> max;
    std::uint64_t record_offset = 0;   ///< of the block with what BP4 puts in front of it
    std::uint64_t payload_offset = 0;  ///< of its first element
};

/// How many bytes encode_characteristics() writes.
std::size_t characteristics_size_bytes(const Characteristics& block);

/// The record as BP4 has it in md.0. The store keeps the same bytes as its block metadata, so a block is put
/// into a BP4 file by changing nothing but its two offsets. The type is not part of it: it belongs to the
/// variable. Errors: invalid_argument (more than 32 dimensions, a text beyond 65,535 bytes, `out` of another
/// size)
void encode_characteristics(const Characteristics& block, std::span<std::byte> out);
std::vector<std::byte> encode_characteristics(const Characteristics& block);

/// Reads back what encode_characteristics() wrote, from bytes that may be anything. Errors: corrupt
Characteristics decode_characteristics(Type type, std::span<const std::byte> bytes);

}  // namespace pmemcpy::codec::bp4
