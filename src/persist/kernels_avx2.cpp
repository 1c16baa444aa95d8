#include "persist/kernels.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/crc32c.hpp"
#include "base/crc32c_instruction.hpp"
#include "base/crc32c_shift.hpp"

#define PMEMCPY_TARGET __attribute__((target("avx2,sse4.2")))

namespace pmemcpy::persist {

namespace {

/// 64 bytes on their way.
struct Line {
    PMEMCPY_TARGET static Line load(const std::byte* from) {
        const auto* at = reinterpret_cast<const __m256i*>(from);
        return {_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1)};
    }
    PMEMCPY_TARGET static Line broadcast(int byte) {
        const __m256i half = _mm256_set1_epi8(static_cast<char>(byte));
        return {half, half};
    }
    PMEMCPY_TARGET void stream(std::byte* to) const {
        auto* at = reinterpret_cast<__m256i*>(to);
        _mm256_stream_si256(at, first);
        _mm256_stream_si256(at + 1, second);
    }
    PMEMCPY_TARGET void keep(std::byte* to) const {
        auto* at = reinterpret_cast<__m256i*>(to);
        _mm256_storeu_si256(at, first);
        _mm256_storeu_si256(at + 1, second);
    }

    __m256i first, second;
};

constexpr std::size_t lane_bytes = 32;

#include "persist/range_loop.inc"
#include "persist/stream_loop.inc"
#include "persist/stream_ordered_loop.inc"
#include "persist/stream_ordered_with_crc.inc"

}  // namespace

const Kernels kernels_avx2{"avx2",      true,        stream,   keep, stream_crc, stream_characterised,
                           stream_fill, stream_rows, widen_any};

const Kernels kernels_avx2_in_order{"avx2, in order",
                                    true,
                                    stream_in_order,
                                    keep,
                                    stream_crc_in_order,
                                    stream_characterised_in_order,
                                    stream_fill,
                                    stream_rows_in_order<RowWay{1, 1024}, RowWay{1, 1024}>,
                                    widen_any};

}  // namespace pmemcpy::persist

#endif
