#include "codec/frames.hpp"

#include <algorithm>
#include <cstring>
#include <pmemcpy/error.hpp>

#include "base/checked.hpp"
#include "base/crc32c.hpp"

namespace pmemcpy::codec {

namespace {

// Blosc counts in int and adds up to 16 bytes to what does not compress.
constexpr std::uint64_t largest_frame_bytes = 1u << 30;
constexpr std::uint64_t largest_shuffled_element = 255;
constexpr std::uint64_t largest_ratio = 1u
                                        << 16;  // Zstandard's is the highest: 128 KiB of one byte in 4 bytes

std::uint32_t header_crc(const CompressedHeader& header) {
    return base::crc32c(0, &header, offsetof(CompressedHeader, header_crc32c));
}

FrameEntry entry_at(std::span<const std::byte> block, std::uint64_t index) {
    FrameEntry entry;
    std::memcpy(&entry, block.data() + sizeof(CompressedHeader) + index * sizeof entry, sizeof entry);
    return entry;
}

}  // namespace

void throw_corrupt_block(const std::string& why) {
    throw Error(Code::corrupt, "decompress: this is no sound compressed block: " + why);
}

std::uint64_t FramePlan::payload_offset() const noexcept {
    return sizeof(CompressedHeader) + frame_count * sizeof(FrameEntry);
}

std::uint64_t FramePlan::raw_bytes(std::uint64_t frame) const noexcept {
    return std::min(frame_raw_bytes, raw_size_bytes - raw_offset(frame));
}

FramePlan plan_frames(std::uint64_t raw_size_bytes, std::uint64_t element_size_bytes,
                      std::uint64_t frame_bytes) {
    if (element_size_bytes == 0 || raw_size_bytes % element_size_bytes != 0)
        throw Error(Code::invalid_argument, "compress: " + std::to_string(raw_size_bytes) +
                                                " bytes are no whole number of elements of " +
                                                std::to_string(element_size_bytes) + " bytes");
    if (frame_bytes == 0 || frame_bytes > largest_frame_bytes)
        throw Error(Code::invalid_argument, "compress: frames of " + std::to_string(frame_bytes) +
                                                " bytes were asked for; take 1 byte to 1 GiB");
    FramePlan plan;
    plan.raw_size_bytes = raw_size_bytes;
    // An element beyond what the shuffle knows (255 bytes) may be cut through; a smaller one never is.
    plan.frame_raw_bytes = frame_bytes - frame_bytes % element_size_bytes;
    if (plan.frame_raw_bytes == 0)
        plan.frame_raw_bytes =
            element_size_bytes <= largest_shuffled_element ? element_size_bytes : frame_bytes;
    plan.frame_count =
        raw_size_bytes / plan.frame_raw_bytes + (raw_size_bytes % plan.frame_raw_bytes != 0 ? 1 : 0);
    return plan;
}

void seal_header(CompressedHeader header, std::span<std::byte> block) {
    header.table_crc32c =
        base::crc32c(0, block.data() + sizeof header, header.frame_count * sizeof(FrameEntry));
    header.header_crc32c = header_crc(header);
    std::memcpy(block.data(), &header, sizeof header);
}

CheckedFrames::CheckedFrames(std::span<const std::byte> block, const Fetch& fetch) {
    if (block.size() < sizeof header_)
        throw_corrupt_block(std::to_string(block.size()) + " bytes are shorter than its header");
    if (fetch) fetch(0, sizeof header_);
    std::memcpy(&header_, block.data(), sizeof header_);
    if (header_.magic != compressed_magic) throw_corrupt_block("it does not begin as one");
    if (header_.header_crc32c != header_crc(header_))
        throw_corrupt_block("the checksum of its header is wrong");
    if (header_.version != compressed_version)
        throw Error(Code::unsupported, "decompress: the block has format version " +
                                           std::to_string(header_.version) +
                                           ", this library knows version 1; use a newer one");
    // The checksum says that these are the bytes that were written, not that who wrote them meant well.
    if (header_.total_size_bytes > block.size())
        throw_corrupt_block(std::to_string(header_.total_size_bytes) + " bytes long, but only " +
                            std::to_string(block.size()) + " are here");
    if (header_.element_size_bytes == 0 || header_.raw_size_bytes % header_.element_size_bytes != 0 ||
        header_.frame_raw_bytes == 0 || header_.frame_raw_bytes > largest_frame_bytes)
        throw_corrupt_block("the sizes in its header contradict each other");
    plan_ = plan_frames(header_.raw_size_bytes, header_.element_size_bytes, header_.frame_raw_bytes);
    std::uint64_t table_end = 0;
    if (plan_.frame_raw_bytes != header_.frame_raw_bytes || plan_.frame_count != header_.frame_count ||
        !base::checked_mul(header_.frame_count, sizeof(FrameEntry), table_end) ||
        !base::checked_add(table_end, sizeof header_, table_end) || table_end > header_.total_size_bytes)
        throw_corrupt_block("its frame table cannot have " + std::to_string(header_.frame_count) +
                            " entries");
    if (fetch) fetch(sizeof header_, table_end - sizeof header_);
    if (base::crc32c(0, block.data() + sizeof header_, header_.frame_count * sizeof(FrameEntry)) !=
        header_.table_crc32c)
        throw_corrupt_block("the checksum of its frame table is wrong");
    block_ = block.first(header_.total_size_bytes);
    std::uint64_t expected = table_end;
    for (std::uint64_t i = 0; i < header_.frame_count; ++i) {
        const FrameEntry entry = entry_at(block_, i);
        if (entry.offset_bytes != expected || !base::checked_add(expected, entry.size_bytes, expected) ||
            expected > header_.total_size_bytes)
            throw_corrupt_block("frame " + std::to_string(i) + " does not lie where it must");
        if (plan_.raw_bytes(i) / largest_ratio > entry.size_bytes)
            throw_corrupt_block("frame " + std::to_string(i) + " has " + std::to_string(entry.size_bytes) +
                                " bytes, and no codec makes " + std::to_string(plan_.raw_bytes(i)) +
                                " of them");
    }
    if (expected != header_.total_size_bytes) throw_corrupt_block("its frames do not fill it");
}

std::span<const std::byte> CheckedFrames::frame(std::uint64_t index) const {
    // Read again and checked again: the block is shared memory, and may have changed since the constructor
    // looked.
    const FrameEntry entry = entry_at(block_, index);
    if (entry.offset_bytes > block_.size() || entry.size_bytes > block_.size() - entry.offset_bytes)
        throw_corrupt_block("frame " + std::to_string(index) + " changed while it was read");
    return block_.subspan(entry.offset_bytes, entry.size_bytes);
}

}  // namespace pmemcpy::codec
