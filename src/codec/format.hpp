#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pmemcpy::codec {

/// A compressed block on media: this header, one FrameEntry for each frame, then the frames one behind the
/// other, each a Blosc buffer. Numbers are in the byte order of the pool, which its superblock names.
struct CompressedHeader {
    std::uint64_t magic;
    std::uint16_t version;
    std::uint8_t kind;  ///< Codec::Kind
    std::uint8_t level;
    std::uint8_t shuffle;
    std::uint8_t reserved[3];
    std::uint64_t element_size_bytes;
    std::uint64_t raw_size_bytes;
    std::uint64_t frame_raw_bytes;  ///< of every frame but the last
    std::uint64_t frame_count;
    std::uint64_t total_size_bytes;  ///< header, table and frames
    std::uint32_t table_crc32c;
    std::uint32_t header_crc32c;  ///< of all that stands before it
};

/// Where one frame is.
struct FrameEntry {
    std::uint64_t offset_bytes;  ///< from the start of the header
    std::uint64_t size_bytes;    ///< compressed
};

inline constexpr std::uint64_t compressed_magic = 0x31637362'79636d70;  // "pmcybsc1" in a little-endian file
inline constexpr std::uint16_t compressed_version = 1;

static_assert(std::is_trivially_copyable_v<CompressedHeader> && std::is_standard_layout_v<CompressedHeader>);
static_assert(sizeof(CompressedHeader) == 64);
static_assert(offsetof(CompressedHeader, element_size_bytes) == 16);
static_assert(offsetof(CompressedHeader, total_size_bytes) == 48);
static_assert(offsetof(CompressedHeader, header_crc32c) == 60);
static_assert(sizeof(FrameEntry) == 16);

}  // namespace pmemcpy::codec
