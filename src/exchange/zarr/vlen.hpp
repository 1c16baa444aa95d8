#pragma once

#include <cstdint>
#include <pmemcpy/box.hpp>
#include <span>

#include "exchange/zarr/bytes.hpp"

namespace pmemcpy::exchange {

// The codecs vlen-utf8 and vlen-bytes: the number of texts, then of each its length and itself; numbers of 4 bytes,
// little-endian. In a pool texts are padded with zeros, so zeros at a text's end are not kept.

struct VlenLook {
    std::uint64_t longest = 0;
    bool has_zeros_at_an_end = false;
};
/// Errors: corrupt, of both.
VlenLook look_at_vlen(std::span<const std::byte> coded, Extent count);
void read_vlen(std::span<const std::byte> coded, Extent count, std::uint64_t width, std::span<std::byte> to);
Bytes vlen_of(std::span<const std::byte> padded, std::uint64_t width);

}  // namespace pmemcpy::exchange
