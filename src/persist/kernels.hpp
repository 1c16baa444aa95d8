#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "persist/characteristic.hpp"

namespace pmemcpy::persist {

/// Where bytes are looked at twice, this many at a time: they stay in the first-level cache in between.
inline constexpr std::size_t piece_bytes = std::size_t{16} * 1024;

/// The inner loops in one instruction set. Destinations are 64-byte aligned and sizes multiples of 64.
struct Kernels {
    const char* name;
    /// False where the copies are cached ones, which line media want flushed.
    bool is_non_temporal;
    /// Non-temporal copy.
    void (*stream)(std::byte* destination, const std::byte* source, std::size_t size);
    /// Cached copy; the destination need not be aligned.
    void (*keep)(std::byte* destination, const std::byte* source, std::size_t size);
    /// As `stream`, and the CRC register (not inverted) over what was copied.
    std::uint32_t (*stream_crc)(std::uint32_t crc, std::byte* destination, const std::byte* source,
                                std::size_t size);
    /// The same, and the range of the elements, of which a whole number begins at `source`.
    std::uint32_t (*stream_characterised)(std::uint32_t crc, Range& range, Element element,
                                          std::byte* destination, const std::byte* source, std::size_t size);
    /// Non-temporal fill with the low byte of `byte`.
    void (*stream_fill)(std::byte* destination, int byte, std::size_t size);
    /// Non-temporal copy of rows; the stride of the destination is a multiple of 64 too.
    void (*stream_rows)(std::byte* destination, std::size_t destination_stride, const std::byte* source,
                        std::size_t source_stride, std::size_t row_bytes, std::size_t rows);
    /// Takes elements into a range; any alignment and size.
    void (*widen)(Range& range, Element element, const std::byte* bytes, std::size_t size);
};

/// The best that this processor can run, found out once.
const Kernels& kernels() noexcept;

/// All that this processor can run, the best first: for tests.
std::span<const Kernels* const> runnable_kernels() noexcept;

#if defined(__x86_64__)
extern const Kernels kernels_avx512;
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512_in_order;
extern const Kernels kernels_avx2_in_order;
extern const Kernels kernels_sse;
#elif defined(__aarch64__)
extern const Kernels kernels_neon;
#endif
/// Without non-temporal stores: what they copy must be flushed on line media.
extern const Kernels kernels_generic;

}  // namespace pmemcpy::persist
