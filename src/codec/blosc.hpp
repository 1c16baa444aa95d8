#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <pmemcpy/codec.hpp>
#include <span>

namespace pmemcpy::codec {

/// Frames of this many raw bytes: far from Blosc's limit of 2 GiB, and few enough that their table is
/// nothing.
inline constexpr std::uint64_t default_frame_bytes = 64u << 20;

/// The most that compress() can write for `raw_size_bytes` bytes. Errors: invalid_argument
std::uint64_t compressed_bound_bytes(std::uint64_t raw_size_bytes, std::uint64_t element_size_bytes,
                                     std::uint64_t frame_bytes = default_frame_bytes);

/// Compresses `from` straight into `to`, and says how many bytes of it are used.
/// Shape: elements of `element_size_bytes` bytes; the shuffle knows them up to 255 bytes.
/// Sharing: any thread, no threads of its own.
/// Errors: invalid_argument (no codec, a level outside 0 to 9, `to` smaller than the bound), unsupported
/// (build without Blosc or without that kind)
std::uint64_t compress(const Codec& codec, std::uint64_t element_size_bytes, std::span<const std::byte> from,
                       std::span<std::byte> to, std::uint64_t frame_bytes = default_frame_bytes);

/// What a compressed block says of itself.
struct CompressedInfo {
    Codec codec;
    std::uint64_t element_size_bytes = 0;
    std::uint64_t raw_size_bytes = 0;
    std::uint64_t compressed_size_bytes = 0;
    std::uint64_t frame_count = 0;
    std::uint64_t frame_raw_bytes = 0;
};

/// Called with a range of a compressed block before it is read, by what reads only some of it: so the rest need not be there.
using Fetch = std::function<void(std::uint64_t offset_bytes, std::uint64_t bytes)>;

/// Reads header and frame table and checks both. Errors: corrupt
CompressedInfo inspect_compressed(std::span<const std::byte> from, const Fetch& fetch = {});

/// Decompresses the whole block into `to`, which has exactly its raw size.
/// Sharing: any thread. Errors: corrupt (nothing beyond `from` is read, nothing beyond `to` is written),
/// invalid_argument (`to` has another size), unsupported
void decompress(std::span<const std::byte> from, std::span<std::byte> to);

/// Decompresses the raw bytes [offset_bytes, offset_bytes + to.size()), both multiples of the element size.
/// Cost: only what Blosc must unpack for them, not whole frames. Errors: as decompress, and out_of_range
void decompress_range(std::span<const std::byte> from, std::uint64_t offset_bytes, std::span<std::byte> to,
                      const Fetch& fetch = {});

/// A range of raw bytes.
struct RawRange {
    std::uint64_t offset_bytes = 0;
    std::uint64_t bytes = 0;
    std::uint64_t end() const { return offset_bytes + bytes; }
};
/// What decompress_range() has to unpack for a range that is not empty. Errors: as decompress_range
RawRange unpacked_with(std::span<const std::byte> from, const RawRange& range, const Fetch& fetch = {});

}  // namespace pmemcpy::codec
