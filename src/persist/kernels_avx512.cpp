#include "persist/kernels.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/crc32c.hpp"
#include "base/crc32c_fold.hpp"
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
    const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(&whole); }

    __m512i whole;
};

constexpr std::size_t lane_bytes = 64;

#include "persist/range_loop.inc"
#include "persist/stream_loop.inc"
#include "persist/stream_ordered_loop.inc"

// (Measured on a Zen 5, of the plain copy, rows at eight times their distance: rows of 4 KiB 0.90, in pairs of lines 0.79; of 512 bytes
// 0.63 to 0.75, line by line 0.56 to 0.66; of 128 bytes 0.64 and 0.42.)
constexpr auto stream_rows_of_zen5 = stream_rows_in_order<RowWay{2, 4096}, RowWay{1, 2048}>;

constexpr std::size_t far_bytes = 8192;

/// As store_lines, with the CRC register. It costs so little beside the stores that nothing need be hidden behind them.
/// (Measured on a Zen 5, 256 MiB with CRC and range, of the plain copy: 0.97; asking for lines 512 bytes ahead 0.80, 4 KiB 0.95;
/// with the CRC instruction in stream_ordered_with_crc.inc's way 0.68.)
template <class T>
PMEMCPY_FOLD_TARGET std::uint32_t store_folding(std::uint32_t crc, Range& range, std::byte* destination,
                                                const std::byte* source, std::size_t size) {
    constexpr std::size_t step = base::Crc32cFold::step_bytes;
    const std::size_t folded = size / step * step;
    if (folded > 0) {
        base::Crc32cFold fold(crc);
        Extremes<T> even(range);
        Extremes<T> odd(range);
        for (std::size_t at = 0; at < folded; at += step) {
            const std::byte* line = source + at;
            for (std::size_t ahead = 0; ahead < step; ahead += 64)
                __builtin_prefetch(line + far_bytes + ahead);
            const Line a = Line::load(line);
            const Line b = Line::load(line + 64);
            const Line c = Line::load(line + 128);
            const Line d = Line::load(line + 192);
            a.stream(destination + at);
            b.stream(destination + at + 64);
            c.stream(destination + at + 128);
            d.stream(destination + at + 192);
            fold.take(a.whole, b.whole, c.whole, d.whole);
            // Not from memory again: where the source lies across lines each load is of two.
            even.take(a.bytes());
            odd.take(b.bytes());
            even.take(c.bytes());
            odd.take(d.bytes());
        }
        even.put_into(range);
        odd.put_into(range);
        crc = fold.crc();
    }
    store_lines<T>(range, destination + folded, source + folded, size - folded);
    return ~base::crc32c(~crc, source + folded, size - folded);
}

std::uint32_t stream_crc_folding(std::uint32_t crc, std::byte* destination, const std::byte* source,
                                 std::size_t size) {
    Range none;
    return store_folding<NoElement>(crc, none, destination, source, size);
}

std::uint32_t stream_characterised_folding(std::uint32_t crc, Range& range, Element element,
                                           std::byte* destination, const std::byte* source,
                                           std::size_t size) {
    return with_element<NoElement>(element, [&]<class T>(std::type_identity<T>) {
        return store_folding<T>(crc, range, destination, source, size);
    });
}

}  // namespace

const Kernels kernels_avx512{"avx512",    true,        stream,   keep, stream_crc, stream_characterised,
                             stream_fill, stream_rows, widen_any};

const Kernels kernels_avx512_in_order{
    "avx512, in order",           true,        stream_in_order,     keep,     stream_crc_folding,
    stream_characterised_folding, stream_fill, stream_rows_of_zen5, widen_any};

}  // namespace pmemcpy::persist

#endif
