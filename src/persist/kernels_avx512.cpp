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

#define PMEMCPY_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,sse4.2")))

namespace pmemcpy::persist {

namespace {

/// 64 bytes on their way.
struct Line {
    PMEMCPY_TARGET static Line load(const std::byte* from) { return {_mm512_loadu_si512(from)}; }
    PMEMCPY_TARGET static Line broadcast(int byte) { return {_mm512_set1_epi8(static_cast<char>(byte))}; }
    PMEMCPY_TARGET void stream(std::byte* to) const {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to), whole);
    }
    PMEMCPY_TARGET void keep(std::byte* to) const { _mm512_storeu_si512(to, whole); }

    __m512i whole;
};

constexpr std::size_t lane_bytes = 64;

#include "persist/range_loop.inc"
#include "persist/stream_loop.inc"
#include "persist/stream_ordered_loop.inc"

}  // namespace

const Kernels kernels_avx512{"avx512",    true,        stream,   keep, stream_crc, stream_characterised,
                             stream_fill, stream_rows, widen_any};

const Kernels kernels_avx512_in_order{"avx512, in order",
                                      true,
                                      stream_in_order,
                                      keep,
                                      stream_crc_in_order,
                                      stream_characterised_in_order,
                                      stream_fill,
                                      stream_rows_in_order,
                                      widen_any};

}  // namespace pmemcpy::persist

#endif
