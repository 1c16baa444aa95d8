// Loading from compressed blocks: only what is wanted is unpacked, and what Blosc unpacks with it is kept for the next load.

#include "store/unpacked.hpp"

#include "array/runs.hpp"
#include "os/guard.hpp"
#include "persist/copy.hpp"
#include "store/reading.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

namespace pmemcpy::store {

namespace {

using codec::RawRange;

// Blosc unpacks some hundred KiB at once. Wanted bytes that lie closer than this are unpacked together.
constexpr std::uint64_t gap_bytes = std::uint64_t{64} << 10;
constexpr std::size_t most_ranges = 256;
constexpr std::size_t most_pieces = 64;  // which are searched one by one

// What is wanted of a block, in ascending order; nothing where it is so much, or in so many places, that all is to be unpacked at once.
std::optional<std::vector<RawRange>> ranges_of(const array::CopyPlan& plan, std::uint64_t raw_bytes) {
    std::vector<RawRange> ranges;
    plan.for_each_run([&](std::uint64_t offset, std::uint64_t, std::uint64_t bytes) {
        if (!ranges.empty() && offset < ranges.back().end() + gap_bytes) {
            ranges.back().bytes = std::max(ranges.back().end(), offset + bytes) - ranges.back().offset_bytes;
        } else if (ranges.size() <= most_ranges) {
            ranges.push_back({offset, bytes});
        }
    });
    std::uint64_t wanted = 0;
    for (const RawRange& range : ranges) wanted += range.bytes;
    if (ranges.size() > most_ranges || wanted > raw_bytes / 2) return std::nullopt;
    return ranges;
}

}  // namespace

std::shared_ptr<const Unpacked::Piece> Unpacked::find(std::uint64_t version, const RawRange& range) {
    const std::lock_guard one_thread(mutex_);
    for (auto piece = pieces_.begin(); piece != pieces_.end(); ++piece) {
        const Piece& there = **piece;
        if (there.version != version || range.offset_bytes < there.range.offset_bytes ||
            range.end() > there.range.end())
            continue;
        pieces_.splice(pieces_.begin(), pieces_, piece);
        return pieces_.front();
    }
    return nullptr;
}

void Unpacked::keep(std::shared_ptr<const Piece> piece) {
    const std::lock_guard one_thread(mutex_);
    bytes_ += piece->bytes.size();
    pieces_.push_front(std::move(piece));
    for (; bytes_ > most_bytes || pieces_.size() > most_pieces; pieces_.pop_back())
        bytes_ -= pieces_.back()->bytes.size();
}

// The decoder owns things while it works, so it cannot be left where memory is gone: it gets a copy of what it reads. The caller has
// pinned the block, because the decoder follows what the bytes say.
void Store::unpack(std::string_view id, const BlockRecord& block, const std::byte* from,
                   const array::CopyPlan& plan, std::byte* to) const {
    const catalog::Block& b = block.block;
    const std::uint64_t version = b.header.version;
    std::unique_ptr<std::byte[]> copied;
    std::span<const std::byte> packed;
    const codec::Fetch fetch = [&](std::uint64_t offset, std::uint64_t bytes) {
        std::byte* const there = copied.get() + offset;
        if (!os::guarded(from + offset, bytes, [&] { std::memcpy(there, from + offset, bytes); }))
            throw_no_memory(id, block.box);
    };
    const auto open_packed = [&] {
        if (copied) return;
        copied =
            std::make_unique_for_overwrite<std::byte[]>(b.stored_bytes);  // as much as is fetched is touched
        packed = {copied.get(), b.stored_bytes};
        // Asked before there is room for them: the record says how many there should be, and not that there are.
        if (codec::inspect_compressed(packed, fetch).raw_size_bytes == b.raw_bytes) return;
        throw Error(Code::corrupt, "block " + to_string(block.box) + " of '" + std::string(id) +
                                       "' unpacks to another number of bytes than it has");
    };
    const auto ranges = ranges_of(plan, b.raw_bytes);
    if (!ranges) open_packed();
    std::unique_ptr<std::byte[]> raw;
    const auto raw_of = [&](const RawRange& range) {
        if (!raw) raw = std::make_unique_for_overwrite<std::byte[]>(b.raw_bytes);
        return std::span(raw.get() + range.offset_bytes, range.bytes);
    };
    const auto read_range = [&](const RawRange& range) {
        auto piece = unpacked_.find(version, range);
        if (!piece) {
            open_packed();
            const RawRange all = codec::unpacked_with(packed, range, fetch);
            if (all.bytes > Unpacked::largest_piece_bytes)
                return codec::decompress_range(packed, range.offset_bytes, raw_of(range), fetch);
            auto fresh = std::make_shared<Unpacked::Piece>(
                Unpacked::Piece{version, all, std::vector<std::byte>(all.bytes)});
            codec::decompress_range(packed, all.offset_bytes, fresh->bytes, fetch);
            unpacked_.keep(fresh);
            piece = std::move(fresh);
        }
        const std::byte* const begin = piece->bytes.data() + (range.offset_bytes - piece->range.offset_bytes);
        std::memcpy(raw_of(range).data(), begin, range.bytes);
    };
    if (ranges) {
        std::for_each(ranges->begin(), ranges->end(), read_range);
    } else {
        fetch(0, b.stored_bytes);
        codec::decompress(packed, raw_of({0, b.raw_bytes}));
    }
    plan.for_each_rows([&](const array::RowSet& r) {
        persist::copy_rows_from_medium(to + r.buffer_offset, r.buffer_stride, raw.get() + r.block_offset,
                                       r.block_stride, r.row_bytes, r.rows);
    });
}

}  // namespace pmemcpy::store
