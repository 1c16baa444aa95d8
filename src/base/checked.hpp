#pragma once

#include <cstdint>

namespace pmemcpy::base {

/// Puts a + b into `sum` and says true, or says false if that does not fit in 64 bits.
[[nodiscard]] constexpr bool checked_add(std::uint64_t a, std::uint64_t b, std::uint64_t& sum) noexcept {
    return !__builtin_add_overflow(a, b, &sum);
}

/// Puts a * b into `product` and says true, or says false if that does not fit in 64 bits.
[[nodiscard]] constexpr bool checked_mul(std::uint64_t a, std::uint64_t b, std::uint64_t& product) noexcept {
    return !__builtin_mul_overflow(a, b, &product);
}

/// The next multiple of `alignment`, a power of two, at or above `value`, which must be that far from 2^64.
constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) noexcept {
    return (value + alignment - 1) & ~(alignment - 1);
}

/// The multiple of `alignment`, a power of two, at or below `value`.
constexpr std::uint64_t align_down(std::uint64_t value, std::uint64_t alignment) noexcept {
    return value & ~(alignment - 1);
}

constexpr bool is_power_of_two(std::uint64_t value) noexcept {
    return value != 0 && (value & (value - 1)) == 0;
}

}  // namespace pmemcpy::base
