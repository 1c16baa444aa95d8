#include <cmath>
#include <pmemcpy/float16.hpp>

namespace pmemcpy {

namespace {

/// `bits` without its lowest `drop`, rounded to nearest, ties to even.
std::uint32_t round_off(std::uint32_t bits, int drop) noexcept {
    const std::uint32_t half = std::uint32_t{1} << (drop - 1);
    const std::uint32_t kept = bits >> drop;
    const std::uint32_t rest = bits & (2 * half - 1);
    return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
}

}  // namespace

// A binary16 has 1 sign bit, 5 of exponent (bias 15) and 10 of fraction; a float has 1, 8 (bias 127) and 23.
float16::float16(float value) noexcept {
    const auto raw = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(raw >> 16 & 0x8000);
    const std::uint32_t magnitude = raw & 0x7FFFFFFF;
    std::uint32_t half = 0;
    if (magnitude > 0x7F800000) {
        half = 0x7E00 | (magnitude >> 13 & 0x3FF);  // NaN stays NaN, and becomes quiet
    } else if (magnitude >= 0x477FF000) {
        half = 0x7C00;  // 65520 and above round to infinity
    } else if (magnitude >= 0x38800000) {
        half = round_off(magnitude - (std::uint32_t{112} << 23), 13);  // a carry into the exponent is right
    } else if (magnitude >= 0x33000000) {
        // Subnormal, in units of 2^-24: the fraction with its hidden bit, shifted by what the exponent lacks.
        const int exponent = static_cast<int>(magnitude >> 23);
        half = round_off((magnitude & 0x7FFFFF) | 0x800000, 126 - exponent);
    }
    bits = static_cast<std::uint16_t>(sign | half);
}

float16::operator float() const noexcept {
    const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
    const std::uint32_t exponent = bits >> 10 & 0x1F;
    const std::uint32_t fraction = bits & 0x3FF;
    if (exponent == 0) {
        const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
        return sign != 0 ? -magnitude : magnitude;
    }
    const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
    return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

bfloat16::bfloat16(float value) noexcept {
    const auto raw = std::bit_cast<std::uint32_t>(value);
    const bool is_nan = (raw & 0x7FFFFFFF) > 0x7F800000;
    // Rounding could carry a NaN into infinity, so it is cut and made quiet instead.
    bits = static_cast<std::uint16_t>(is_nan ? raw >> 16 | 0x40 : round_off(raw, 16));
}

}  // namespace pmemcpy
