#include "persist/copy.hpp"

#include <algorithm>
#include <cstring>

#include <pmemcpy/encoder.hpp>

#include "base/checked.hpp"
#include "base/crc32c.hpp"
#include "persist/kernels.hpp"
#include "persist/late_reader.hpp"

namespace pmemcpy::persist {

namespace {

// Below this a cached copy is faster, and leaves the lines where the next reader finds them. Flushing them
// costs more than a non-temporal store, so that line media change over earlier.
constexpr std::size_t streamed_from_bytes = std::size_t{16} * 1024;
constexpr std::size_t streamed_from_bytes_on_lines = 1024;
// A load is non-temporal only where the destination would hardly stay in the cache until it is used.
constexpr std::size_t load_streamed_from_bytes = std::size_t{1024} * 1024;
// The C library's memcpy uses "rep movsb" from about here to the size of the second-level cache, which on AMD's Zen 3 and 4 is six
// times as slow as a loop when the destination lies a few bytes behind a multiple of 4 KiB from the source: as malloc's
// large memory does, and blocks begin on such a multiple (glibc bug 30994).
constexpr std::size_t kept_by_kernel_from_bytes = 4096;
// A row that begins or ends inside a line pays for its two ends.
constexpr std::size_t unaligned_row_streamed_from_bytes = 1024;

/// A destination cut where non-temporal stores can begin and end.
struct Cut {
    std::size_t head;    ///< bytes before the first whole line
    std::size_t middle;  ///< whole lines
    std::size_t tail;    ///< bytes behind the last whole line
};

Cut cut_at_lines(const void* destination, std::size_t size) {
    const auto begin = reinterpret_cast<std::uintptr_t>(destination);
    const std::size_t head = std::min<std::size_t>(base::align_up(begin, line_bytes) - begin, size);
    const std::size_t middle = base::align_down(size - head, line_bytes);
    return {head, middle, size - head - middle};
}

bool is_streamed(const Medium& medium, std::size_t size) {
    return size >= (medium.flushes() ? streamed_from_bytes_on_lines : streamed_from_bytes);
}

void copy_cached(const Medium& medium, std::byte* destination, const std::byte* source, std::size_t size) {
    if (size == 0) return;
    const std::size_t lines = size < kept_by_kernel_from_bytes ? 0 : base::align_down(size, line_bytes);
    if (lines > 0) kernels().keep(destination, source, lines);
    std::memcpy(destination + lines, source + lines, size - lines);
    if (medium.flushes()) flush_lines(destination, size);
}

/// The kernels' cached copies, on a processor without non-temporal ones, need a flush too.
void flush_after_kernel(const Medium& medium, const std::byte* destination, std::size_t size) {
    if (!kernels().is_non_temporal && medium.flushes()) flush_lines(destination, size);
}

std::uint32_t copy_crc(const Medium& medium, std::byte* destination, const std::byte* source,
                       std::size_t size) {
    if (!is_streamed(medium, size)) {
        copy_cached(medium, destination, source, size);
        return base::crc32c(0, source, size);
    }
    const Cut cut = cut_at_lines(destination, size);
    copy_cached(medium, destination, source, cut.head);
    std::uint32_t crc = base::crc32c(0, source, cut.head);
    crc = ~kernels().stream_crc(~crc, destination + cut.head, source + cut.head, cut.middle);
    flush_after_kernel(medium, destination + cut.head, cut.middle);
    const std::size_t rest = cut.head + cut.middle;
    copy_cached(medium, destination + rest, source + rest, cut.tail);
    return base::crc32c(crc, source + rest, cut.tail);
}

void stream_with_cached_ends(const Medium& medium, std::byte* destination, const std::byte* source,
                             std::size_t size) {
    const Cut cut = cut_at_lines(destination, size);
    const std::size_t rest = cut.head + cut.middle;
    copy_cached(medium, destination, source, cut.head);
    kernels().stream(destination + cut.head, source + cut.head, cut.middle);
    flush_after_kernel(medium, destination + cut.head, cut.middle);
    copy_cached(medium, destination + rest, source + rest, cut.tail);
}

/// Rows that are too many together to stay in the cache, whatever the size of one.
void stream_rows(const Medium& medium, std::byte* destination, std::size_t destination_stride,
                 const std::byte* source, std::size_t source_stride, std::size_t row_bytes,
                 std::size_t rows) {
    const auto begin = reinterpret_cast<std::uintptr_t>(destination);
    if ((begin | destination_stride | row_bytes) % line_bytes == 0 &&
        !(medium.flushes() && !kernels().is_non_temporal)) {
        kernels().stream_rows(destination, destination_stride, source, source_stride, row_bytes, rows);
        return;
    }
    const bool is_long = row_bytes >= unaligned_row_streamed_from_bytes;
    for (std::size_t row = 0; row < rows; ++row, destination += destination_stride, source += source_stride) {
        if (is_long) {
            stream_with_cached_ends(medium, destination, source, row_bytes);
        } else {
            copy_cached(medium, destination, source, row_bytes);
        }
    }
}

/// What loads take the destination for: memory that nothing needs to be flushed from.
constexpr Medium own_memory(Durability::none);

}  // namespace

void copy_to_medium(const Medium& medium, void* destination, const void* source, std::size_t size,
                    Site site) {
    auto* to = static_cast<std::byte*>(destination);
    const auto* from = static_cast<const std::byte*>(source);
    if (is_streamed(medium, size)) {
        stream_with_cached_ends(medium, to, from, size);
    } else {
        copy_cached(medium, to, from, size);
    }
    trace_bulk(destination, size, site);
}

std::uint32_t copy_to_medium_crc(const Medium& medium, void* destination, const void* source,
                                 std::size_t size, Site site) {
    const std::uint32_t crc =
        copy_crc(medium, static_cast<std::byte*>(destination), static_cast<const std::byte*>(source), size);
    trace_bulk(destination, size, site);
    return crc;
}

Characteristic copy_to_medium_characterised(const Medium& medium, void* destination, const void* source,
                                            std::size_t size, Element element, Site site) {
    auto* to = static_cast<std::byte*>(destination);
    const auto* from = static_cast<const std::byte*>(source);
    Characteristic result;
    const Cut cut = cut_at_lines(to, size);
    // In one pass where the elements begin with the lines. Elsewhere, and where the bytes stay in the cache,
    // in two.
    if (!is_streamed(medium, size) || cut.head % size_of(element) != 0) {
        result.crc = copy_crc(medium, to, from, size);
        kernels().widen(result, element, from, size);
        trace_bulk(destination, size, site);
        return result;
    }
    copy_cached(medium, to, from, cut.head);
    kernels().widen(result, element, from, cut.head);
    std::uint32_t crc = base::crc32c(0, from, cut.head);
    crc = ~kernels().stream_characterised(~crc, result, element, to + cut.head, from + cut.head, cut.middle);
    flush_after_kernel(medium, to + cut.head, cut.middle);
    const std::size_t rest = cut.head + cut.middle;
    copy_cached(medium, to + rest, from + rest, cut.tail);
    kernels().widen(result, element, from + rest, cut.tail);
    result.crc = base::crc32c(crc, from + rest, cut.tail);
    trace_bulk(destination, size, site);
    return result;
}

void fill_medium(const Medium& medium, void* destination, int byte, std::size_t size, Site site) {
    auto* to = static_cast<std::byte*>(destination);
    if (!is_streamed(medium, size)) {
        std::memset(to, byte, size);
        if (medium.flushes()) flush_lines(to, size);
    } else {
        const Cut cut = cut_at_lines(to, size);
        const std::size_t rest = cut.head + cut.middle;
        std::memset(to, byte, cut.head);
        kernels().stream_fill(to + cut.head, byte, cut.middle);
        std::memset(to + rest, byte, cut.tail);
        flush_after_kernel(medium, to + cut.head, cut.middle);
        if (medium.flushes()) {
            flush_lines(to, cut.head);
            flush_lines(to + rest, cut.tail);
        }
    }
    trace_bulk(destination, size, site);
}

void copy_rows_to_medium(const Medium& medium, void* destination, std::size_t destination_stride,
                         const void* source, std::size_t source_stride, std::size_t row_bytes,
                         std::size_t rows, Site site) {
    if (destination_stride == row_bytes && source_stride == row_bytes) {
        copy_to_medium(medium, destination, source, row_bytes * rows, site);
        return;
    }
    auto* to = static_cast<std::byte*>(destination);
    const auto* from = static_cast<const std::byte*>(source);
    if (row_bytes > 0 && is_streamed(medium, row_bytes * rows)) {
        stream_rows(medium, to, destination_stride, from, source_stride, row_bytes, rows);
    } else {
        for (std::size_t row = 0; row < rows; ++row) {
            copy_cached(medium, to + row * destination_stride, from + row * source_stride, row_bytes);
        }
    }
    if constexpr (tracing) {
        for (std::size_t row = 0; row < rows; ++row)
            trace_bulk(to + row * destination_stride, row_bytes, site);
    }
}

void copy_from_medium(void* destination, const void* source, std::size_t size) {
    [[maybe_unused]] const ReadsCheckedAfterwards checked;
    auto* to = static_cast<std::byte*>(destination);
    const auto* from = static_cast<const std::byte*>(source);
    if (size < load_streamed_from_bytes) {
        copy_cached(own_memory, to, from, size);
        return;
    }
    stream_with_cached_ends(own_memory, to, from, size);
    // Another thread of the caller may be told by an ordinary store that the data are there.
    store_fence();
}

void copy_rows_from_medium(void* destination, std::size_t destination_stride, const void* source,
                           std::size_t source_stride, std::size_t row_bytes, std::size_t rows) {
    if (destination_stride == row_bytes && source_stride == row_bytes) {
        copy_from_medium(destination, source, row_bytes * rows);
        return;
    }
    [[maybe_unused]] const ReadsCheckedAfterwards checked;
    auto* to = static_cast<std::byte*>(destination);
    const auto* from = static_cast<const std::byte*>(source);
    if (row_bytes * rows < load_streamed_from_bytes) {
        for (std::size_t row = 0; row < rows; ++row) {
            copy_cached(own_memory, to + row * destination_stride, from + row * source_stride, row_bytes);
        }
        return;
    }
    stream_rows(own_memory, to, destination_stride, from, source_stride, row_bytes, rows);
    store_fence();  // as above
}

const char* copy_instruction_set() noexcept { return kernels().name; }

}  // namespace pmemcpy::persist

namespace pmemcpy::detail {

void copy_much_out(void* to, const void* from, std::size_t bytes) noexcept {
    persist::copy_from_medium(to, from, bytes);
}

}  // namespace pmemcpy::detail
