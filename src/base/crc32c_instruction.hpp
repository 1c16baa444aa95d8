#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#endif

// The CRC-32C instructions of both processors under one name each. A function that uses them carries
// PMEMCPY_CRC_TARGET (or a wider target), and runs only where crc32c_is_accelerated().

#if defined(__x86_64__)

#define PMEMCPY_CRC_TARGET __attribute__((target("sse4.2")))

namespace pmemcpy::base {

PMEMCPY_CRC_TARGET inline std::uint64_t crc32c_step8(std::uint64_t crc, std::uint64_t word) noexcept {
    return _mm_crc32_u64(crc, word);
}
PMEMCPY_CRC_TARGET inline std::uint32_t crc32c_step1(std::uint32_t crc, std::uint8_t byte) noexcept {
    return _mm_crc32_u8(crc, byte);
}

}  // namespace pmemcpy::base

#elif defined(__aarch64__)

#define PMEMCPY_CRC_TARGET __attribute__((target("+crc")))

namespace pmemcpy::base {

PMEMCPY_CRC_TARGET inline std::uint64_t crc32c_step8(std::uint64_t crc, std::uint64_t word) noexcept {
    return __crc32cd(static_cast<std::uint32_t>(crc), word);
}
PMEMCPY_CRC_TARGET inline std::uint32_t crc32c_step1(std::uint32_t crc, std::uint8_t byte) noexcept {
    return __crc32cb(crc, byte);
}

}  // namespace pmemcpy::base

#endif
