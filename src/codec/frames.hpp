#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "codec/blosc.hpp"
#include "codec/format.hpp"

namespace pmemcpy::codec {

/// How raw bytes are cut: every frame holds `frame_raw_bytes`, a whole number of elements, but the last.
struct FramePlan {
    std::uint64_t raw_size_bytes = 0;
    std::uint64_t frame_raw_bytes = 0;
    std::uint64_t frame_count = 0;

    std::uint64_t payload_offset() const noexcept;  ///< where the first frame lies behind header and table
    std::uint64_t raw_offset(std::uint64_t frame) const noexcept { return frame * frame_raw_bytes; }
    std::uint64_t raw_bytes(std::uint64_t frame) const noexcept;
};

/// Errors: invalid_argument
FramePlan plan_frames(std::uint64_t raw_size_bytes, std::uint64_t element_size_bytes,
                      std::uint64_t frame_bytes);

/// Puts the checksums into `header` and writes it to the front of `block`, where the table already stands.
void seal_header(CompressedHeader header, std::span<std::byte> block);

/// A block whose header and table have been checked: every frame lies inside the block, none before the one
/// in front.
class CheckedFrames {
public:
    explicit CheckedFrames(std::span<const std::byte> block, const Fetch& fetch = {});  ///< Errors: corrupt

    const CompressedHeader& header() const noexcept { return header_; }
    const FramePlan& plan() const noexcept { return plan_; }
    std::span<const std::byte> frame(std::uint64_t index) const;  ///< Errors: corrupt
    std::uint64_t offset_of(std::span<const std::byte> frame) const noexcept {
        return static_cast<std::uint64_t>(frame.data() - block_.data());
    }

private:
    std::span<const std::byte> block_;
    CompressedHeader header_;
    FramePlan plan_;
};

/// A corrupt compressed block, and why.
[[noreturn]] void throw_corrupt_block(const std::string& why);

}  // namespace pmemcpy::codec
