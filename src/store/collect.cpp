// Rows that are appended one by one are a block each, and whoever reads them all reads as many blocks. So neighbours are joined: copied into
// one block, which is published beside them, and then they are retired, as blocks are that a newer one covers.
//
// The joined block is as old as the newest of its parts, so what is stored over it later covers it. What somebody stored over a part before,
// or is about to publish with a version that was drawn before, would be older than that too, and lost; and of a part that somebody takes out
// meanwhile the elements would come back. So it is published only while no other attachment is there or can come, and under the directory's
// mutex, under which this one draws its versions; and if nothing but the parts is there.

#include "array/selection.hpp"
#include "catalog/directory.hpp"
#include "store/pin.hpp"
#include "store/store.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <list>
#include <utility>
#include <vector>

namespace pmemcpy::store {

using catalog::Block;
using heap::RecordKind;

namespace {

constexpr std::size_t looked_at_every = 16;  // blocks
constexpr std::size_t fewest_parts = 8;
constexpr std::size_t most_parts = 256;  // each is pinned while it is read
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20;

Box bounds_of(const BlockRecord& block) { return array::bounding_box(block.box); }

// Along the first dimension, with all others alike: then the elements of one lie behind those of the other in a block of both.
bool is_followed_by(const BlockRecord& a, const BlockRecord& b) {
    const Box first = bounds_of(a);
    const Box second = bounds_of(b);
    if (first.end(0) != second.offset[0]) return false;
    for (int d = 1; d < first.size(); ++d) {
        if (first.offset[d] != second.offset[d] || first.count[d] != second.count[d]) return false;
    }
    return true;
}

// What overlaps is left alone: which of the two counts depends on their versions, of which a joined block has only one.
bool is_overlapped(Directory& directory, const BlockRecord& block) {
    std::size_t there = 0;
    directory.index().query(bounds_of(block), [&](std::uint64_t) { ++there; });
    return there != 1;
}

Box box_of(const std::vector<BlockRecord>& parts) {
    Box box = bounds_of(parts.front());
    box.count[0] = bounds_of(parts.back()).end(0) - box.offset[0];
    return box;
}

}  // namespace

bool Store::may_collect(const ArrayDefinition& d) const {
    constexpr auto unfit = catalog::array_contiguous | catalog::array_scratch;
    return !d.dims.empty() && (d.flags & unfit) == 0 && step_.load() == 0 && hierarchy_number() == 0 &&
           pool_.count_attached() == 1;
}

bool Store::is_part(const ArrayDefinition& d, const BlockRecord& block) const {
    constexpr auto unfit = catalog::block_in_place | catalog::block_strided | catalog::block_scratch;
    const Block& b = block.block;
    return (b.flags & unfit) == 0 && b.codec == static_cast<std::uint8_t>(d.codec.kind) &&
           b.extent.target == heap_.home() && b.raw_bytes <= most_bytes / 2 && is_committed(b.step);
}

// The blocks that end where the one of `box` does, as many as are to be joined: from the newest back, as long as the next one is not much
// larger than all behind it. So an element is copied a few times, however many are appended.
std::vector<BlockRecord> Store::appended_last(Directory& directory, const Box& box) const {
    std::vector<BlockRecord> parts;
    std::uint64_t bytes = 0;
    Box row = box;
    row.count[0] = 1;
    row.offset[0] = box.end(0) - 1;
    for (;; --row.offset[0]) {
        std::vector<std::uint64_t> there;
        directory.index().query(row, [&](std::uint64_t handle) { there.push_back(handle); });
        if (there.size() != 1) break;
        const BlockRecord& block = directory.block(there.front());
        const bool joins = is_part(directory.definition(), block) && !is_overlapped(directory, block) &&
                           (parts.empty() || (block.block.step == parts.back().block.step &&
                                              is_followed_by(block, parts.back())));
        if (!joins || parts.size() == most_parts || bytes + block.block.raw_bytes > most_bytes) break;
        if (bytes != 0 && block.block.raw_bytes > 2 * bytes) break;
        bytes += block.block.raw_bytes;
        parts.push_back(block);
        row.offset[0] = bounds_of(block).offset[0];
        if (row.offset[0] == 0) break;
    }
    std::reverse(parts.begin(), parts.end());
    return parts;
}

void Store::collect_appended(std::string_view id, Directory& directory, const Box& box) {
    std::vector<BlockRecord> parts;
    {
        const std::lock_guard one_thread(directory.mutex());
        if (directory.blocks().size() % looked_at_every != 0 || !may_collect(directory.definition())) return;
        parts = appended_last(directory, box);
    }
    if (parts.size() < fewest_parts) return;
    try {
        join(id, directory, parts);
    } catch (const Error&) {
        // What was appended is there; it only lies in more blocks.
    }
}

void Store::collect_all(std::string_view id, Directory& directory) {
    const ArrayDefinition& d = directory.definition();
    if (!may_collect(d)) return;
    std::vector<BlockRecord> blocks;
    {
        const std::lock_guard one_thread(directory.mutex());
        if (!directory.refresh()) return;
        for (const auto& [handle, block] : directory.blocks()) {
            if (is_part(d, block) && !is_overlapped(directory, block)) blocks.push_back(block);
        }
    }
    // By all but the first dimension, and then along it.
    std::sort(blocks.begin(), blocks.end(), [](const BlockRecord& a, const BlockRecord& b) {
        for (int dimension = 1; dimension < a.box.size(); ++dimension) {
            if (a.box.offset[dimension] != b.box.offset[dimension])
                return a.box.offset[dimension] < b.box.offset[dimension];
        }
        return a.box.offset[0] < b.box.offset[0];
    });
    std::vector<BlockRecord> parts;
    std::uint64_t bytes = 0;
    const auto join_these = [&] {
        if (parts.size() >= fewest_parts) with_space([&] { join(id, directory, parts); });
        parts.clear();
        bytes = 0;
    };
    for (const BlockRecord& block : blocks) {
        const bool goes_on =
            !parts.empty() && parts.size() < most_parts && is_followed_by(parts.back(), block) &&
            block.block.step == parts.back().block.step && bytes + block.block.raw_bytes <= most_bytes;
        if (!goes_on) join_these();
        parts.push_back(block);
        bytes += block.block.raw_bytes;
    }
    join_these();
}

void Store::join(std::string_view id, Directory& directory, const std::vector<BlockRecord>& parts) {
    const ArrayDefinition& d = directory.definition();
    const Selection box = box_of(parts);
    std::list<Pin> pins;
    Block block{};
    std::uint64_t version = 0;
    std::vector<std::byte> raw(box.elements() * d.type.size());
    for (const BlockRecord& part : parts) {
        if (!pins.emplace_back(heap_, part.seen())) return;  // somebody has stored it anew
        check_block(id, part);                               // no damage gets a fresh checksum
        copy_part(id, d, part, box, *array::covered(box, part.box), raw.data());
        if (version >= part.version) continue;
        version = part.version;
        block = part.block;
    }
    block.raw_bytes = raw.size();
    block.flags = 0;
    const catalog::BlockBytes sizes = catalog::write_block(block, box, version);
    catalog::Draft draft(heap_, sizes.length());
    draft.write_header(RecordKind::block, 0, sizes.length(), d.incarnation, 0, sizes.fields);
    fill_block(d, raw.data(), d.codec, draft, block, heap_.home());
    const catalog::BlockBytes record = catalog::write_block(block, box, version);
    draft.write(sizeof(heap::RecordHeader), record.bytes.data(), record.bytes.size());
    pins.clear();
    publish_joined(directory, parts, box, draft);
    heap_.reclaim();
}

void Store::publish_joined(Directory& directory, const std::vector<BlockRecord>& parts, const Selection& box,
                           catalog::Draft& draft) {
    const std::lock_guard one_thread(directory.mutex());
    const pool::Pool::Alone alone(pool_, std::try_to_lock);
    if (!alone || !may_collect(directory.definition()) || !directory.refresh()) return;
    std::vector<std::uint64_t> handles;
    bool is_as_seen = true;
    directory.index().query(array::bounding_box(box), [&](std::uint64_t handle) {
        const Link there = directory.block(handle).link;
        is_as_seen = is_as_seen && std::any_of(parts.begin(), parts.end(),
                                               [&](const BlockRecord& part) { return part.link == there; });
        handles.push_back(handle);
    });
    if (!is_as_seen || handles.size() != parts.size()) return;
    const Directory::EmptySlot empty = directory.find_empty();
    directory.vouch();
    const Link fresh = seal_for(draft, empty.word, Link{});
    if (!publish_in(empty, fresh)) return;
    draft.keep();
    if (!directory.is_published()) return heap_.retire(fresh);  // erased meanwhile, see publish_block
    if (!directory.refresh()) return;
    for (const std::uint64_t handle : handles) directory.retire(handle, parts.front().block.step);
}

}  // namespace pmemcpy::store
