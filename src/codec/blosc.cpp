#include "codec/blosc.hpp"

#include <algorithm>
#include <pmemcpy/error.hpp>
#include <string>

#include "base/checked.hpp"
#include "codec/frames.hpp"

#ifdef PMEMCPY_HAVE_BLOSC
#include <blosc.h>

#include <cstring>
#endif

namespace pmemcpy {

#ifdef PMEMCPY_HAVE_BLOSC

namespace {

const char* blosc_name(Codec::Kind kind) noexcept {
    switch (kind) {
        case Codec::Kind::lz4:
            return BLOSC_LZ4_COMPNAME;
        case Codec::Kind::lz4hc:
            return BLOSC_LZ4HC_COMPNAME;
        case Codec::Kind::zstd:
            return BLOSC_ZSTD_COMPNAME;
        case Codec::Kind::zlib:
            return BLOSC_ZLIB_COMPNAME;
        case Codec::Kind::blosclz:
            return BLOSC_BLOSCLZ_COMPNAME;
        case Codec::Kind::none:
            break;
    }
    return nullptr;
}

}  // namespace

bool is_available(Codec::Kind kind) noexcept {
    const char* name = blosc_name(kind);
    return kind == Codec::Kind::none || (name != nullptr && blosc_compname_to_compcode(name) >= 0);
}

namespace codec {

namespace {

using Bytes = std::span<const std::byte>;

// As much as is unpacked for a single element, about 128 KiB; Blosc's own choice is up to 1 MiB. Of all kinds but one it makes blocks of as
// many times what it is asked for as an element has bytes.
std::size_t block_bytes_to_ask_for(Codec::Kind kind) {
    return kind == Codec::Kind::zstd ? 128u << 10 : 16u << 10;
}

// What is here and in a range of it: one frame, unpacked where it belongs, without a buffer in between.
void unpack_frame(Bytes frame, std::span<std::byte> to) {
    std::size_t raw_bytes = 0;
    if (frame.size() < BLOSC_MIN_HEADER_LENGTH ||
        blosc_cbuffer_validate(frame.data(), frame.size(), &raw_bytes) != 0 || raw_bytes != to.size())
        throw_corrupt_block("a frame is not what its table entry says");
    const int unpacked = blosc_decompress_ctx(frame.data(), to.data(), to.size(), 1);
    if (unpacked < 0 || static_cast<std::size_t>(unpacked) != to.size())
        throw_corrupt_block("a frame does not decompress (Blosc says " + std::to_string(unpacked) + ")");
}

void unpack_part(Bytes frame, std::uint64_t frame_raw_bytes, std::uint64_t offset_bytes,
                 std::span<std::byte> to) {
    std::size_t raw_bytes = 0;
    if (frame.size() < BLOSC_MIN_HEADER_LENGTH ||
        blosc_cbuffer_validate(frame.data(), frame.size(), &raw_bytes) != 0 || raw_bytes != frame_raw_bytes)
        throw_corrupt_block("a frame is not what its table entry says");
    std::size_t item_bytes = 0;
    int flags = 0;
    blosc_cbuffer_metainfo(frame.data(), &item_bytes, &flags);
    if (item_bytes == 0 || offset_bytes % item_bytes != 0 || to.size() % item_bytes != 0)
        throw_corrupt_block("a frame has elements of another size than its block");
    const int got = blosc_getitem(frame.data(), static_cast<int>(offset_bytes / item_bytes),
                                  static_cast<int>(to.size() / item_bytes), to.data());
    if (got < 0 || static_cast<std::size_t>(got) != to.size())
        throw_corrupt_block("a part of a frame does not decompress (Blosc says " + std::to_string(got) + ")");
}

/// What Blosc says at the front of a frame. Its blocks lie one behind the other, and each is unpacked as a whole.
struct Blocks {
    std::size_t raw_bytes = 0;
    std::size_t packed_bytes = 0;
    std::size_t block_bytes = 0;  // raw, of each but the last
    bool is_plain = false;        // nothing was gained, so the raw bytes stand behind the header

    Blocks(Bytes frame, std::uint64_t expected_raw_bytes) {
        int flags = 0;
        std::size_t item_bytes = 0;
        if (frame.size() < BLOSC_MIN_HEADER_LENGTH ||
            blosc_cbuffer_validate(frame.data(), frame.size(), &raw_bytes) != 0 ||
            raw_bytes != expected_raw_bytes)
            throw_corrupt_block("a frame is not what its table entry says");
        blosc_cbuffer_sizes(frame.data(), &raw_bytes, &packed_bytes, &block_bytes);
        blosc_cbuffer_metainfo(frame.data(), &item_bytes, &flags);
        is_plain = (flags & BLOSC_MEMCPYED) != 0;
        if (block_bytes == 0) throw_corrupt_block("a frame has blocks of no bytes");
    }
    std::size_t count() const { return (raw_bytes - 1) / block_bytes + 1; }
};

std::uint32_t start_of(Bytes frame, std::size_t block) {
    std::uint32_t start = 0;  // little-endian, as the machine is (decision 0010)
    std::memcpy(&start, frame.data() + BLOSC_MIN_HEADER_LENGTH + block * sizeof start, sizeof start);
    return start;
}

// Has what is read of a frame for a part of its raw bytes fetched: of what nobody needs, nothing.
void fetch_part(const CheckedFrames& frames, Bytes frame, std::uint64_t frame_raw_bytes,
                const RawRange& inside, const Fetch& fetch) {
    const std::uint64_t at = frames.offset_of(frame);
    if (frame.size() < BLOSC_MIN_HEADER_LENGTH)
        throw_corrupt_block("a frame is not what its table entry says");
    fetch(at, BLOSC_MIN_HEADER_LENGTH);
    const Blocks blocks(frame, frame_raw_bytes);
    const auto all = [&] { fetch(at, frame.size()); };
    if (blocks.is_plain) {
        if (frame.size() < BLOSC_MIN_HEADER_LENGTH + blocks.raw_bytes) return all();
        return fetch(at + BLOSC_MIN_HEADER_LENGTH + inside.offset_bytes, inside.bytes);
    }
    const std::uint64_t starts_end = BLOSC_MIN_HEADER_LENGTH + blocks.count() * sizeof(std::uint32_t);
    if (starts_end > frame.size()) return all();
    fetch(at + BLOSC_MIN_HEADER_LENGTH, starts_end - BLOSC_MIN_HEADER_LENGTH);
    const std::size_t first = inside.offset_bytes / blocks.block_bytes;
    const std::size_t last = (inside.end() - 1) / blocks.block_bytes;
    const std::uint64_t begin = start_of(frame, first);
    const std::uint64_t end = last + 1 < blocks.count() ? start_of(frame, last + 1) : frame.size();
    if (begin < starts_end || begin >= end || end > frame.size()) return all();
    fetch(at + begin, end - begin);
}

void check_codec(const Codec& codec) {
    if (codec.kind == Codec::Kind::none || codec.level < Codec::min_level || codec.level > Codec::max_level)
        throw Error(Code::invalid_argument, "compress: codec " + to_string(codec) +
                                                "; take a kind other than none, and a level from 0 to 9");
    if (!is_available(codec.kind))
        throw Error(Code::unsupported, "compress: the Blosc library here was built without " +
                                           to_string(codec) + "; it has " + blosc_list_compressors());
}

}  // namespace

std::uint64_t compress(const Codec& codec, std::uint64_t element_size_bytes, Bytes from,
                       std::span<std::byte> to, std::uint64_t frame_bytes) {
    check_codec(codec);
    const std::uint64_t bound = compressed_bound_bytes(from.size(), element_size_bytes, frame_bytes);
    if (to.size() < bound)
        throw Error(Code::invalid_argument, "compress: " + std::to_string(from.size()) + " bytes may need " +
                                                std::to_string(bound) + ", and were given " +
                                                std::to_string(to.size()));
    const FramePlan plan = plan_frames(from.size(), element_size_bytes, frame_bytes);
    const std::size_t item_bytes = element_size_bytes <= BLOSC_MAX_TYPESIZE ? element_size_bytes : 1;
    std::uint64_t end = plan.payload_offset();
    for (std::uint64_t i = 0; i < plan.frame_count; ++i) {
        const Bytes raw = from.subspan(plan.raw_offset(i), plan.raw_bytes(i));
        const int packed =
            blosc_compress_ctx(codec.level, codec.shuffle ? BLOSC_SHUFFLE : BLOSC_NOSHUFFLE, item_bytes,
                               raw.size(), raw.data(), to.data() + end, raw.size() + BLOSC_MAX_OVERHEAD,
                               blosc_name(codec.kind), block_bytes_to_ask_for(codec.kind), 1);
        if (packed <= 0)
            throw Error(Code::unsupported, "compress: Blosc gave up on " + std::to_string(raw.size()) +
                                               " bytes with " + to_string(codec) + " and error " +
                                               std::to_string(packed));
        const FrameEntry entry{end, static_cast<std::uint64_t>(packed)};
        std::memcpy(to.data() + sizeof(CompressedHeader) + i * sizeof entry, &entry, sizeof entry);
        end += entry.size_bytes;
    }
    CompressedHeader header{};
    header.magic = compressed_magic;
    header.version = compressed_version;
    header.kind = static_cast<std::uint8_t>(codec.kind);
    header.level = static_cast<std::uint8_t>(codec.level);
    header.shuffle = codec.shuffle ? 1 : 0;
    header.element_size_bytes = element_size_bytes;
    header.raw_size_bytes = from.size();
    header.frame_raw_bytes = plan.frame_raw_bytes;
    header.frame_count = plan.frame_count;
    header.total_size_bytes = end;
    seal_header(header, to);
    return end;
}

void decompress(Bytes from, std::span<std::byte> to) {
    const CheckedFrames frames(from);
    if (to.size() != frames.header().raw_size_bytes)
        throw Error(Code::invalid_argument, "decompress: the block holds " +
                                                std::to_string(frames.header().raw_size_bytes) +
                                                " bytes, and was given " + std::to_string(to.size()));
    const FramePlan& plan = frames.plan();
    for (std::uint64_t i = 0; i < plan.frame_count; ++i)
        unpack_frame(frames.frame(i), to.subspan(plan.raw_offset(i), plan.raw_bytes(i)));
}

namespace {

// Calls visit(frame, its raw bytes, the part of these, where that begins among all raw bytes) for each frame that a range lies in.
template <class Visit>
void for_each_frame(const CheckedFrames& frames, const RawRange& range, Visit&& visit) {
    const FramePlan& plan = frames.plan();
    const std::uint64_t element_bytes = frames.header().element_size_bytes;
    if (range.offset_bytes > plan.raw_size_bytes || range.bytes > plan.raw_size_bytes - range.offset_bytes)
        throw Error(Code::out_of_range, "decompress: bytes from " + std::to_string(range.offset_bytes) +
                                            " on, " + std::to_string(range.bytes) +
                                            " of them, of a block of " + std::to_string(plan.raw_size_bytes));
    if (range.offset_bytes % element_bytes != 0 || range.bytes % element_bytes != 0)
        throw Error(Code::invalid_argument,
                    "decompress: a range must begin and end between elements, which have " +
                        std::to_string(element_bytes) + " bytes");
    for (std::uint64_t at = range.offset_bytes; at < range.end();) {
        const std::uint64_t i = at / plan.frame_raw_bytes;
        const std::uint64_t inside = at - plan.raw_offset(i);
        const std::uint64_t part = std::min(range.end() - at, plan.raw_bytes(i) - inside);
        visit(frames.frame(i), plan.raw_bytes(i), RawRange{inside, part}, at);
        at += part;
    }
}

}  // namespace

void decompress_range(Bytes from, std::uint64_t offset_bytes, std::span<std::byte> to, const Fetch& fetch) {
    const CheckedFrames frames(from, fetch);
    for_each_frame(frames, {offset_bytes, to.size()},
                   [&](Bytes frame, std::uint64_t raw_bytes, const RawRange& inside, std::uint64_t at) {
                       const std::span<std::byte> part = to.subspan(at - offset_bytes, inside.bytes);
                       if (fetch) fetch_part(frames, frame, raw_bytes, inside, fetch);
                       part.size() == raw_bytes ? unpack_frame(frame, part)
                                                : unpack_part(frame, raw_bytes, inside.offset_bytes, part);
                   });
}

RawRange unpacked_with(Bytes from, const RawRange& range, const Fetch& fetch) {
    const CheckedFrames frames(from, fetch);
    std::uint64_t begin = range.offset_bytes;
    std::uint64_t end = range.end();
    for_each_frame(
        frames, range, [&](Bytes frame, std::uint64_t raw_bytes, const RawRange& inside, std::uint64_t at) {
            if (fetch && frame.size() >= BLOSC_MIN_HEADER_LENGTH)
                fetch(frames.offset_of(frame), BLOSC_MIN_HEADER_LENGTH);
            const Blocks blocks(frame, raw_bytes);
            if (blocks.is_plain) return;
            const std::uint64_t frame_begin = at - inside.offset_bytes;
            const std::uint64_t first = inside.offset_bytes / blocks.block_bytes;
            const std::uint64_t last = (inside.end() - 1) / blocks.block_bytes;
            begin = std::min(begin, frame_begin + first * blocks.block_bytes);
            end = std::max(end, frame_begin + std::min((last + 1) * blocks.block_bytes, raw_bytes));
        });
    // An element too large for the shuffle may lie in several of Blosc's blocks.
    const std::uint64_t element_bytes = frames.header().element_size_bytes;
    begin -= begin % element_bytes;
    if (const std::uint64_t over = end % element_bytes; over != 0) end += element_bytes - over;
    return {begin, end - begin};
}

}  // namespace codec

#else

bool is_available(Codec::Kind kind) noexcept { return kind == Codec::Kind::none; }

namespace codec {

namespace {

[[noreturn]] void throw_built_without() {
    throw Error(
        Code::unsupported,
        "compression: this libpmemcpy was built without Blosc (PMEMCPY_HAVE_BLOSC is off); install Blosc's "
        "headers (on Debian: libblosc-dev) and configure and build it again");
}

}  // namespace

std::uint64_t compress(const Codec&, std::uint64_t, std::span<const std::byte>, std::span<std::byte>,
                       std::uint64_t) {
    throw_built_without();
}

void decompress(std::span<const std::byte>, std::span<std::byte>) { throw_built_without(); }

void decompress_range(std::span<const std::byte>, std::uint64_t, std::span<std::byte>, const Fetch&) {
    throw_built_without();
}

RawRange unpacked_with(std::span<const std::byte>, const RawRange&, const Fetch&) { throw_built_without(); }

}  // namespace codec

#endif

namespace codec {

std::uint64_t compressed_bound_bytes(std::uint64_t raw_size_bytes, std::uint64_t element_size_bytes,
                                     std::uint64_t frame_bytes) {
    constexpr std::uint64_t overhead_bytes =
        16;  // what Blosc adds, at most, to a frame that does not compress
    const FramePlan plan = plan_frames(raw_size_bytes, element_size_bytes, frame_bytes);
    std::uint64_t bound = 0;
    if (!base::checked_mul(plan.frame_count, sizeof(FrameEntry) + overhead_bytes, bound) ||
        !base::checked_add(bound, sizeof(CompressedHeader), bound) ||
        !base::checked_add(bound, raw_size_bytes, bound))
        throw Error(Code::invalid_argument,
                    "compress: " + std::to_string(raw_size_bytes) + " bytes are too many");
    return bound;
}

CompressedInfo inspect_compressed(std::span<const std::byte> from, const Fetch& fetch) {
    const CheckedFrames frames(from, fetch);
    const CompressedHeader& header = frames.header();
    CompressedInfo info;
    info.codec = {static_cast<Codec::Kind>(header.kind), header.level, header.shuffle != 0};
    info.element_size_bytes = header.element_size_bytes;
    info.raw_size_bytes = header.raw_size_bytes;
    info.compressed_size_bytes = header.total_size_bytes;
    info.frame_count = header.frame_count;
    info.frame_raw_bytes = header.frame_raw_bytes;
    return info;
}

}  // namespace codec

}  // namespace pmemcpy
