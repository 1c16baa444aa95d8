#pragma once

#include <cstddef>
#include <cstdint>

namespace pmemcpy::base {

/// The CRC-32C (Castagnoli) of `size` bytes that follow those `seed` stands for; start with 0.
/// crc32c(crc32c(0, a), b) is the checksum of a followed by b. Cost: 8 bytes a cycle with CRC instructions, and
/// from 1 KiB on, where the processor multiplies lines without carries (AVX-512 with VPCLMULQDQ), 2.4 times that on a Zen 5.
std::uint32_t crc32c(std::uint32_t seed, const void* bytes, std::size_t size) noexcept;

/// The checksum of a followed by b, from the checksum of each and the length of b.
std::uint32_t crc32c_combine(std::uint32_t crc_a, std::uint32_t crc_b, std::uint64_t length_b) noexcept;

/// The same as crc32c() from a table alone: the reference, and what a processor without the instruction uses.
std::uint32_t crc32c_by_table(std::uint32_t seed, const void* bytes, std::size_t size) noexcept;

/// True when crc32c() uses the processor's CRC instruction.
bool crc32c_is_accelerated() noexcept;

/// True when this processor runs what is in crc32c_fold.hpp.
bool crc32c_can_fold() noexcept;

}  // namespace pmemcpy::base
