#include "persist/kernels.hpp"

#if defined(__x86_64__)

#include <nmmintrin.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/crc32c.hpp"
#include "base/crc32c_instruction.hpp"
#include "base/crc32c_shift.hpp"

#define PMEMCPY_TARGET __attribute__((target("sse4.2")))

namespace pmemcpy::persist {

namespace {

/// 64 bytes on their way.
struct Line {
    PMEMCPY_TARGET static Line load(const std::byte* from) {
        const auto* at = reinterpret_cast<const __m128i*>(from);
        return {_mm_loadu_si128(at), _mm_loadu_si128(at + 1), _mm_loadu_si128(at + 2),
                _mm_loadu_si128(at + 3)};
    }
    PMEMCPY_TARGET static Line broadcast(int byte) {
        const __m128i quarter = _mm_set1_epi8(static_cast<char>(byte));
        return {quarter, quarter, quarter, quarter};
    }
    PMEMCPY_TARGET void stream(std::byte* to) const {
        auto* at = reinterpret_cast<__m128i*>(to);
        _mm_stream_si128(at, a);
        _mm_stream_si128(at + 1, b);
        _mm_stream_si128(at + 2, c);
        _mm_stream_si128(at + 3, d);
    }
    PMEMCPY_TARGET void keep(std::byte* to) const {
        auto* at = reinterpret_cast<__m128i*>(to);
        _mm_storeu_si128(at, a);
        _mm_storeu_si128(at + 1, b);
        _mm_storeu_si128(at + 2, c);
        _mm_storeu_si128(at + 3, d);
    }

    __m128i a, b, c, d;
};

constexpr std::size_t lane_bytes = 16;

#include "persist/range_loop.inc"
#include "persist/stream_loop.inc"

}  // namespace

const Kernels kernels_sse{"sse",       true,        stream,   keep, stream_crc, stream_characterised,
                          stream_fill, stream_rows, widen_any};

}  // namespace pmemcpy::persist

#endif
