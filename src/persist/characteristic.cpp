#include "persist/characteristic.hpp"

#include <algorithm>

#include "base/crc32c.hpp"
#include "persist/kernels.hpp"

namespace pmemcpy::persist {

Characteristic characterise(const void* bytes, std::size_t size, Element element) {
    Characteristic result;
    // Piece by piece, so that the second look at each finds it in the cache.
    for (std::size_t at = 0; at < size; at += piece_bytes) {
        const auto* piece = static_cast<const std::byte*>(bytes) + at;
        const std::size_t length = std::min(piece_bytes, size - at);
        result.crc = base::crc32c(result.crc, piece, length);
        kernels().widen(result, element, piece, length);
    }
    return result;
}

void widen(Range& range, const void* bytes, std::size_t size, Element element) {
    kernels().widen(range, element, static_cast<const std::byte*>(bytes), size);
}

void widen(Range& range, const Range& other, Element element) {
    if (!other.has_range) return;
    const std::size_t size = size_of(element);
    widen(range, &other.minimum, size, element);  // the low bytes come first on the processors that we know
    widen(range, &other.maximum, size, element);
}

}  // namespace pmemcpy::persist
