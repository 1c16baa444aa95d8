#pragma once

#include "array/box_index.hpp"
#include "catalog/catalog.hpp"
#include "catalog/format.hpp"

#include <pmemcpy/box.hpp>
#include <pmemcpy/codec.hpp>
#include <pmemcpy/encoder.hpp>
#include <pmemcpy/type.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pmemcpy::catalog {

/// What an array's record says, decoded once.
struct ArrayDefinition {
    Link link;
    std::uint64_t version = 0;  // of its record
    std::uint64_t incarnation = 0;
    std::uint64_t step = 0;
    Type type;
    Dimensions dims;  // the first may be `unlimited`
    Order order = Order::c;
    std::uint8_t flags = 0;
    SerializerType serializer = SerializerType::bp4;
    Codec codec;
    std::vector<std::byte> fill;
    heap::Seen seen() const { return {link, version}; }
};

/// Nothing when the record is no longer the one that `link` names. Throws corrupt when it makes no sense.
std::optional<ArrayDefinition> read_array(const pool::Pool& pool, Link link);
/// The same of a copy of a record, wherever that is. Errors: corrupt.
ArrayDefinition decode_array(std::span<const std::byte> record);
/// The record's bytes behind its header, for a Draft.
std::vector<std::byte> write_array(const ArrayDefinition& definition, std::uint64_t written_ns);

/// A block's record, decoded.
struct BlockRecord {
    Link link;
    std::uint64_t version = 0;  // of the store that produced it: a block that was moved keeps it
    Selection box;
    Block block{};
    heap::Seen seen() const { return {link, block.header.version}; }
};
/// Nothing when the record is no longer the one that `link` names. Throws corrupt when no store into that array can have
/// made it; so whoever gets one need not ask whether its box lies in the array and its bytes are as many as its elements.
std::optional<BlockRecord> read_block(const heap::Heap& heap, Link link, const ArrayDefinition& array);
/// The same of a copy of a record, wherever that is; without version, and wherever its extent is. Errors: corrupt.
BlockRecord decode_block(std::span<const std::byte> record, const ArrayDefinition& array);
/// The version of a block's record, as BlockRecord has it. Errors: corrupt.
std::uint64_t version_of(const heap::RecordCopy& block);
/// The record's bytes behind its header. `moved`: with what a block of this version needs to keep it in another record.
struct BlockBytes {
    std::vector<std::byte> bytes;
    std::uint64_t fields = 0;  // for the header
    std::uint64_t length() const { return sizeof(heap::RecordHeader) + bytes.size(); }
};
BlockBytes write_block(const Block& block, const Selection& box, std::uint64_t moved = 0);

/// The block directory of one array, followed by this process: what its slots held at the last refresh, and an
/// index over the boxes. Derived; every use compares it with the slots themselves.
class Directory {
public:
    Directory(pool::Pool& pool, heap::Heap& heap, ArrayDefinition definition);

    const ArrayDefinition& definition() const { return definition_; }
    std::mutex& mutex() { return mutex_; }

    /// Reads the slots that have changed since the last time: if a block is not there any more, then those are that took
    /// its place. False when the array has been erased.
    bool refresh();
    /// Takes a block out of its slot because others, the newest of them of step `newer_step`, say all that it said.
    void retire(std::uint64_t handle, std::uint64_t newer_step);
    /// At an older step than this, blocks that were there are gone. To be asked after refresh().
    std::uint64_t kept_since() const;
    /// A block by its handle: the number of its slot.
    const BlockRecord& block(std::uint64_t handle) const { return blocks_.at(handle); }
    const std::unordered_map<std::uint64_t, BlockRecord>& blocks() const { return blocks_; }
    const array::BoxIndex& index() const { return index_; }
    /// What blocks of one step are together, or of all steps that somebody sees.
    struct Totals {
        std::uint64_t blocks = 0;
        std::uint64_t stored_bytes = 0;
        std::uint64_t newest_step = 0;
    };
    /// Of the blocks of steps up to `committed`, and of step `own`.
    Totals totals(std::uint64_t committed, std::uint64_t own) const;
    /// When the block was written that was written last, of whatever step.
    std::uint64_t written_ns() const;
    /// How many slots name a block whose record is not whole: what such a block held cannot be told.
    std::size_t damaged() const { return damaged_.size(); }
    /// The blocks with exactly this box, in no order.
    std::vector<std::uint64_t> same_box(const Selection& box) const;

    /// Makes durable, with this thread's next fence, what leads to the array and to all of its slots that the last refresh
    /// has seen. As Catalog::vouch_for, for whoever stores in it.
    void vouch();
    /// Whether the array has not been erased: asked after a block was put into a slot, it tells whether the eraser will see it.
    bool is_published() const;
    /// Whether the slot still holds the block that the last refresh saw there.
    bool is_unchanged(std::uint64_t handle) const;
    std::uint64_t* slot_word(std::uint64_t handle) const;
    /// What that slot holds when it is empty.
    std::uint64_t empty_word(std::uint64_t handle) const;

    /// A slot that was empty when looked at, in a new segment if there is none: its word and what it held.
    /// Throws not_found when the array has been erased.
    struct EmptySlot {
        std::uint64_t* word;
        std::uint64_t empty;
    };
    EmptySlot find_empty();

private:
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    struct SegmentSeen {
        Link link;
        std::uint64_t* word;  // that leads to it
        bool is_vouched_for = false;
        std::uint64_t* slots;
        std::uint32_t count;
        std::uint64_t first_handle;
        std::vector<std::uint64_t> words;  // as the last refresh saw them
        std::uint64_t due = never;         // the next version whose link would look like one of these
    };
    const SegmentSeen& segment_of(std::uint64_t handle) const;
    const Entry* entry() const;
    std::uint64_t* last_word() const;
    void check_memory() const;
    bool find_segments();
    void look_at(SegmentSeen& segment, std::uint64_t next, std::uint64_t end);
    bool is_the_same(std::uint64_t handle) const;
    void take_slot(SegmentSeen& segment, std::uint32_t i, std::uint64_t word);
    void forget(std::uint64_t handle);
    void count(const BlockRecord& block);
    void discount(const BlockRecord& block);
    void append_segment();

    pool::Pool& pool_;
    heap::Heap& heap_;
    ArrayDefinition definition_;
    std::mutex mutex_;
    std::vector<SegmentSeen> segments_;
    std::uint64_t looked_at_ = 0;  // the version that would have been drawn next when the last refresh began
    std::unordered_map<std::uint64_t, BlockRecord> blocks_;
    std::unordered_multimap<std::uint64_t, std::uint64_t> by_box_;  // hash of box -> handle
    std::unordered_set<std::uint64_t> damaged_;
    array::BoxIndex index_;
    std::map<std::uint64_t, Totals> by_step_;
    Totals total_;  // of all steps
    mutable std::uint64_t written_ns_ = 0;
    mutable bool is_written_ns_known_ = true;
    std::size_t empty_segment_ = 0;  // where the last empty slot was found
    std::uint32_t empty_slot_ = 0;
};

}  // namespace pmemcpy::catalog
