#pragma once

#if defined(__x86_64__)

#include "base/crc32c_instruction.hpp"
#include "base/crc32c_shift.hpp"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

// What a function that uses Crc32cFold carries (or a wider target). It runs only where crc32c_can_fold().
#define PMEMCPY_FOLD_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,vpclmulqdq,sse4.2")))

namespace pmemcpy::base {

/// The CRC-32C of a long text, 256 bytes at a time, by multiplication without carries: eight of them and some exclusive ors instead
/// of 32 CRC instructions, so that it can accompany a copy at the speed of memory.
///
/// What is kept is 256 bytes that have the CRC of all bytes so far. Before the next 256 are added to it, it is multiplied by
/// x^2048 modulo the generator, each half of 128 bits by its own factor (Gopal et al., "Fast CRC Computation for Generic
/// Polynomials Using PCLMULQDQ Instruction", Intel 2009).
class Crc32cFold {
public:
    static constexpr std::size_t step_bytes = 256;

    /// `crc`: the register (not inverted) over what was before.
    [[gnu::always_inline]] PMEMCPY_FOLD_TARGET explicit Crc32cFold(std::uint32_t crc)
        : before_(_mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(crc)))) {}

    /// The next four lines.
    [[gnu::always_inline]] PMEMCPY_FOLD_TARGET void take(__m512i a, __m512i b, __m512i c, __m512i d) {
        a_ = behind<step_bytes>(a_, _mm512_xor_si512(a, before_));
        b_ = behind<step_bytes>(b_, b);
        c_ = behind<step_bytes>(c_, c);
        d_ = behind<step_bytes>(d_, d);
        before_ = _mm512_setzero_si512();
    }
    /// The register over all of it, if any was taken.
    [[nodiscard]] [[gnu::always_inline]] PMEMCPY_FOLD_TARGET std::uint32_t crc() const {
        const __m512i all = behind<192>(a_, behind<128>(b_, behind<64>(c_, d_)));
        alignas(64) std::uint64_t words[8];
        _mm512_store_si512(words, all);
        std::uint64_t crc = 0;
        for (const std::uint64_t word : words) crc = crc32c_step8(crc, word);
        return static_cast<std::uint32_t>(crc);
    }

private:
    /// `line` so many bytes behind `text`, as one line.
    template <std::size_t bytes>
    [[gnu::always_inline]] PMEMCPY_FOLD_TARGET static __m512i behind(__m512i text, __m512i line) {
        constexpr std::uint64_t first = crc32c_power(bytes + 4);
        constexpr std::uint64_t second = crc32c_power(bytes - 4);
        const __m512i factors = _mm512_set4_epi64(second << 1, first << 1, second << 1, first << 1);
        constexpr int exclusive_or_of_three = 0x96;
        return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(text, factors, 0x00),
                                         _mm512_clmulepi64_epi128(text, factors, 0x11), line,
                                         exclusive_or_of_three);
    }

    __m512i before_;
    __m512i a_ = _mm512_setzero_si512();
    __m512i b_ = _mm512_setzero_si512();
    __m512i c_ = _mm512_setzero_si512();
    __m512i d_ = _mm512_setzero_si512();
};

}  // namespace pmemcpy::base

#endif
