#include "persist/kernels.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/crc32c.hpp"

#define PMEMCPY_TARGET

namespace pmemcpy::persist {

namespace {

constexpr std::size_t lane_bytes = 16;

#include "persist/range_loop.inc"

void stream(std::byte* destination, const std::byte* source, std::size_t size) {
    std::memcpy(destination, source, size);
}

std::uint32_t stream_crc(std::uint32_t crc, std::byte* destination, const std::byte* source,
                         std::size_t size) {
    std::memcpy(destination, source, size);
    return ~base::crc32c(~crc, source, size);
}

std::uint32_t stream_characterised(std::uint32_t crc, Range& range, Element element, std::byte* destination,
                                   const std::byte* source, std::size_t size) {
    for (std::size_t at = 0; at < size; at += piece_bytes) {
        const std::size_t length = std::min(piece_bytes, size - at);
        crc = stream_crc(crc, destination + at, source + at, length);
        widen_any(range, element, source + at, length);
    }
    return crc;
}

void stream_fill(std::byte* destination, int byte, std::size_t size) { std::memset(destination, byte, size); }

void stream_rows(std::byte* destination, std::size_t destination_stride, const std::byte* source,
                 std::size_t source_stride, std::size_t row_bytes, std::size_t rows) {
    for (std::size_t row = 0; row < rows; ++row) {
        std::memcpy(destination + row * destination_stride, source + row * source_stride, row_bytes);
    }
}

}  // namespace

const Kernels kernels_generic{"generic",   false,       stream,   stream, stream_crc, stream_characterised,
                              stream_fill, stream_rows, widen_any};

}  // namespace pmemcpy::persist
