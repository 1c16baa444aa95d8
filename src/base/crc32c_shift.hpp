#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pmemcpy::base {

/// A CRC is the remainder of a polynomial over GF(2). Here, as everywhere in CRC-32C, polynomials are
/// reflected: bit 31 of a word is the coefficient of x^0. The generator below lacks its x^32.
inline constexpr std::uint32_t crc32c_polynomial = 0x82F63B78;

/// a * b modulo the generator.
constexpr std::uint32_t crc32c_multiply(std::uint32_t a, std::uint32_t b) noexcept {
    std::uint32_t product = 0;
    for (std::uint32_t bit = std::uint32_t{1} << 31; bit != 0; bit >>= 1) {
        if ((a & bit) != 0) product ^= b;
        b = (b & 1) != 0 ? (b >> 1) ^ crc32c_polynomial : b >> 1;
    }
    return product;
}

/// x^(8 * bytes): multiplying a CRC register by it is what so many zero bytes do to it.
constexpr std::uint32_t crc32c_power(std::uint64_t bytes) noexcept {
    std::uint32_t result = std::uint32_t{1} << 31;
    std::uint32_t square = std::uint32_t{1} << 23;  // x^8, one byte
    for (; bytes != 0; bytes >>= 1) {
        if ((bytes & 1) != 0) result = crc32c_multiply(result, square);
        square = crc32c_multiply(square, square);
    }
    return result;
}

/// What a fixed number of zero bytes does to a CRC register, as four table look-ups. It joins streams that
/// were computed side by side: register(a then b) = shift_by_length_of_b(register(a)) ^ register(b from
/// zero).
class Crc32cShift {
public:
    constexpr explicit Crc32cShift(std::uint64_t bytes) noexcept {
        const std::uint32_t power = crc32c_power(bytes);
        for (std::uint32_t position = 0; position < 4; ++position) {
            for (std::uint32_t value = 0; value < 256; ++value) {
                table_[position][value] = crc32c_multiply(power, value << (8 * position));
            }
        }
    }
    constexpr std::uint32_t operator()(std::uint32_t crc) const noexcept {
        return table_[0][crc & 0xFF] ^ table_[1][(crc >> 8) & 0xFF] ^ table_[2][(crc >> 16) & 0xFF] ^
               table_[3][crc >> 24];
    }

private:
    std::array<std::array<std::uint32_t, 256>, 4> table_{};
};

}  // namespace pmemcpy::base
