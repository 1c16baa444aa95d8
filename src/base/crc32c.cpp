#include "base/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "base/crc32c_fold.hpp"
#include "base/crc32c_instruction.hpp"
#include "base/crc32c_shift.hpp"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace pmemcpy::base {

namespace {

static_assert(std::endian::native == std::endian::little, "the CRC kernels read words in memory order");

constexpr std::array<std::uint32_t, 256> make_byte_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t value = 0; value < 256; ++value) {
        std::uint32_t crc = value;
        for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ crc32c_polynomial : crc >> 1;
        table[value] = crc;
    }
    return table;
}

constexpr auto byte_table = make_byte_table();

std::uint64_t word_at(const unsigned char* bytes) noexcept {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

// The instruction takes three cycles but a new one starts each cycle: three streams side by side keep it
// busy.
template <std::size_t stream_bytes>
PMEMCPY_CRC_TARGET std::uint32_t three_streams(std::uint32_t crc, const unsigned char*& bytes,
                                               std::size_t& size) {
    static constexpr Crc32cShift shift(stream_bytes);
    while (size >= 3 * stream_bytes) {
        std::uint64_t a = crc;
        std::uint64_t b = 0;
        std::uint64_t c = 0;
        for (std::size_t at = 0; at < stream_bytes; at += 8) {
            a = crc32c_step8(a, word_at(bytes + at));
            b = crc32c_step8(b, word_at(bytes + stream_bytes + at));
            c = crc32c_step8(c, word_at(bytes + 2 * stream_bytes + at));
        }
        crc = shift(shift(static_cast<std::uint32_t>(a)) ^ static_cast<std::uint32_t>(b)) ^
              static_cast<std::uint32_t>(c);
        bytes += 3 * stream_bytes;
        size -= 3 * stream_bytes;
    }
    return crc;
}

PMEMCPY_CRC_TARGET std::uint32_t by_instruction(std::uint32_t crc, const unsigned char* bytes,
                                                std::size_t size) {
    crc = three_streams<4096>(crc, bytes, size);
    crc = three_streams<256>(crc, bytes, size);
    std::uint64_t wide = crc;
    for (; size >= 8; size -= 8, bytes += 8) wide = crc32c_step8(wide, word_at(bytes));
    crc = static_cast<std::uint32_t>(wide);
    for (; size > 0; --size, ++bytes) crc = crc32c_step1(crc, *bytes);
    return crc;
}

#if defined(__x86_64__)
constexpr std::size_t folded_from_bytes = 1024;

// Whole steps of it.
PMEMCPY_FOLD_TARGET std::uint32_t by_folding(std::uint32_t crc, const unsigned char*& bytes,
                                             std::size_t& size) {
    Crc32cFold fold(crc);
    for (; size >= Crc32cFold::step_bytes; size -= Crc32cFold::step_bytes, bytes += Crc32cFold::step_bytes)
        fold.take(_mm512_loadu_si512(bytes), _mm512_loadu_si512(bytes + 64), _mm512_loadu_si512(bytes + 128),
                  _mm512_loadu_si512(bytes + 192));
    return fold.crc();
}
#endif

bool has_instruction() noexcept {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2") != 0;
#else
    return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#endif
}

}  // namespace

bool crc32c_can_fold() noexcept {
#if defined(__x86_64__)
    static const bool can = [] {
        __builtin_cpu_init();
        return __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("avx512f") != 0 &&
               __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
               __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0;
    }();
    return can;
#else
    return false;
#endif
}

bool crc32c_is_accelerated() noexcept {
    static const bool accelerated = has_instruction();
    return accelerated;
}

std::uint32_t crc32c_by_table(std::uint32_t seed, const void* bytes, std::size_t size) noexcept {
    std::uint32_t crc = ~seed;
    const auto* byte = static_cast<const unsigned char*>(bytes);
    for (std::size_t at = 0; at < size; ++at) crc = (crc >> 8) ^ byte_table[(crc ^ byte[at]) & 0xFF];
    return ~crc;
}

std::uint32_t crc32c(std::uint32_t seed, const void* bytes, std::size_t size) noexcept {
    if (!crc32c_is_accelerated()) return crc32c_by_table(seed, bytes, size);
    std::uint32_t crc = ~seed;
    const auto* rest = static_cast<const unsigned char*>(bytes);
#if defined(__x86_64__)
    if (size >= folded_from_bytes && crc32c_can_fold()) crc = by_folding(crc, rest, size);
#endif
    return ~by_instruction(crc, rest, size);
}

std::uint32_t crc32c_combine(std::uint32_t crc_a, std::uint32_t crc_b, std::uint64_t length_b) noexcept {
    return crc32c_multiply(crc32c_power(length_b), crc_a) ^ crc_b;
}

}  // namespace pmemcpy::base
