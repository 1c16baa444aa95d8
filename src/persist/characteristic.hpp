#pragma once

#include <cstddef>
#include <cstdint>

namespace pmemcpy::persist {

/// What the bytes of a block are, as far as their minimum and maximum go; in the byte order of this machine.
enum class Element : std::uint8_t { none, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 };

/// The bytes of one element; 1 for Element::none.
constexpr std::size_t size_of(Element element) noexcept {
    switch (element) {
        case Element::f64:
        case Element::i64:
        case Element::u64:
            return 8;
        case Element::f32:
        case Element::i32:
        case Element::u32:
            return 4;
        case Element::i16:
        case Element::u16:
            return 2;
        default:
            return 1;
    }
}

/// The smallest and the greatest element. NaNs count for neither, infinities do.
struct Range {
    bool has_range = false;     ///< false without elements, for Element::none, and if every element is NaN
    std::uint64_t minimum = 0;  ///< the low bytes are the element's own; above them signed integers are
    std::uint64_t maximum = 0;  ///< sign-extended and all others zero
};

/// What is known about a block's content after one pass over it.
struct Characteristic : Range {
    std::uint32_t crc = 0;  ///< CRC-32C of the bytes
};

/// The characteristic of bytes that lie somewhere already. A rest smaller than an element has no range.
Characteristic characterise(const void* bytes, std::size_t size, Element element);

/// Takes the elements of `bytes` into the range.
void widen(Range& range, const void* bytes, std::size_t size, Element element);

/// Takes another range, of the same element, into the range.
void widen(Range& range, const Range& other, Element element);

}  // namespace pmemcpy::persist
