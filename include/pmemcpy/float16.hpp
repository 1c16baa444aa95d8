#pragma once

#include <bit>
#include <cstdint>

namespace pmemcpy {

/// IEEE 754 binary16, for storage: it is kept and copied; arithmetic is done in float.
struct float16 {
    std::uint16_t bits = 0;

    float16() = default;
    /// Rounds to nearest, ties to even; values that are too large become infinite.
    explicit float16(float value) noexcept;
    explicit operator float() const noexcept;

    static constexpr float16 from_bits(std::uint16_t raw) noexcept {
        float16 half;
        half.bits = raw;
        return half;
    }
    friend bool operator==(float16 a, float16 b) noexcept { return float(a) == float(b); }
};

/// The upper half of a float, for storage.
struct bfloat16 {
    std::uint16_t bits = 0;

    bfloat16() = default;
    /// Rounds to nearest, ties to even.
    explicit bfloat16(float value) noexcept;
    explicit operator float() const noexcept { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

    static constexpr bfloat16 from_bits(std::uint16_t raw) noexcept {
        bfloat16 half;
        half.bits = raw;
        return half;
    }
    friend bool operator==(bfloat16 a, bfloat16 b) noexcept { return float(a) == float(b); }
};

}  // namespace pmemcpy
