#pragma once

#include <cstddef>
#include <cstdint>

#include "persist/characteristic.hpp"
#include "persist/medium.hpp"

namespace pmemcpy::persist {

// Copies between memory of this process and mapped space: any size, any alignment, no overlap.
// None ends with a fence: the caller fences once, before it publishes what was copied (law 2).

/// The fastest store: cached (and flushed, where the medium asks) when small, otherwise non-temporal.
void copy_to_medium(const Medium& medium, void* destination, const void* source, std::size_t size,
                    Site site = Site::current());

/// The same, and the CRC-32C of the bytes, in one pass.
std::uint32_t copy_to_medium_crc(const Medium& medium, void* destination, const void* source,
                                 std::size_t size, Site site = Site::current());

/// The same, and the range of the elements. A rest smaller than an element has no range.
Characteristic copy_to_medium_characterised(const Medium& medium, void* destination, const void* source,
                                            std::size_t size, Element element, Site site = Site::current());

/// Fills mapped space as copy_to_medium() would with so many equal bytes.
void fill_medium(const Medium& medium, void* destination, int byte, std::size_t size,
                 Site site = Site::current());

/// `rows` rows of `row_bytes`, each a stride of bytes behind the one before. Strides of at least `row_bytes`.
void copy_rows_to_medium(const Medium& medium, void* destination, std::size_t destination_stride,
                         const void* source, std::size_t source_stride, std::size_t row_bytes,
                         std::size_t rows, Site site = Site::current());

/// The fastest load from mapped space into memory of this process. What other threads of the process may see
/// of it is ordered by this function itself: it needs no fence.
void copy_from_medium(void* destination, const void* source, std::size_t size);
void copy_rows_from_medium(void* destination, std::size_t destination_stride, const void* source,
                           std::size_t source_stride, std::size_t row_bytes, std::size_t rows);

/// The instruction set that the copies use here: `"avx512"`, `"avx2"`, `"sse"`, `"neon"` or `"generic"`.
const char* copy_instruction_set() noexcept;

}  // namespace pmemcpy::persist
