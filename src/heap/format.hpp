#pragma once

// Chunks, slabs and records, byte for byte; drawn in docs/format.md.
//
// Truth:   the immutable part of each record, and its `word`.
// Derived: chunk table, slab bitmaps, `next`, `state` and `home` of records. All of it is rebuilt from
//          the records when it cannot be trusted.

#include <cstddef>
#include <cstdint>

namespace pmemcpy::heap {

/// A reference that notices reuse: offset/64 in the low 40 bits, 23 bits of the record's version above, and a
/// flag. Offsets below `first_real` are no records but marks, which carry a tag too.
/// The flag says dead: the record is no longer published here, and whoever finds it so may retire it.
struct Link {
    std::uint64_t word = 0;

    static constexpr std::uint64_t offset_mask = (1ULL << 40) - 1;
    static constexpr std::uint64_t tag_mask = (1ULL << 23) - 1;
    static constexpr std::uint64_t dead_flag = 1ULL << 63;
    static constexpr std::uint64_t first_real = 16;

    static constexpr Link to(std::uint64_t offset, std::uint64_t version) {
        return {(offset / 64) | ((version & tag_mask) << 40)};
    }
    static constexpr Link mark(std::uint64_t which, std::uint64_t tag) {
        return {which | ((tag & tag_mask) << 40)};
    }
    constexpr bool is_record() const { return (word & offset_mask) >= first_real; }
    constexpr bool is_live() const { return is_record() && !is_dead(); }
    constexpr bool is_dead() const { return (word & dead_flag) != 0; }
    constexpr Link dead() const { return {word | dead_flag}; }
    constexpr Link alive() const { return {word & ~dead_flag}; }
    /// Never of a dead word: an entry that was flagged before it had a value gets none any more.
    constexpr bool is_mark(std::uint64_t which) const { return (word & (offset_mask | dead_flag)) == which; }
    constexpr std::uint64_t offset() const { return (word & offset_mask) * 64; }
    constexpr std::uint64_t tag() const { return (word >> 40) & tag_mask; }
    constexpr bool operator==(const Link&) const = default;
};
static_assert(sizeof(Link) == 8);

inline constexpr std::uint64_t mark_empty = 0;   // nothing here yet
inline constexpr std::uint64_t mark_sealed = 1;  // nothing may be put here any more

enum class RecordKind : std::uint8_t { none = 0, entry = 1, value = 2, array = 3, segment = 4, block = 5 };

inline constexpr std::uint32_t record_magic = 0x43455270;  // "pREC"
inline constexpr std::uint64_t record_alignment = 64;

/// The first line of every record. [8, 32) and everything from `covered_from` on is immutable and
/// covered by the checksum; the four words in between are not.
struct RecordHeader {
    std::uint32_t magic;     // zero: free
    std::uint32_t checksum;  // all bits flipped: hidden (Heap::hide)
    std::uint8_t kind;
    std::uint8_t mutable_words;  // this many 8-byte words after the header are mutable too
    std::uint16_t fields;        // offset of the extensible fields inside the record, 0: none
    std::uint32_t length;        // bytes of the record, header and fields included
    std::uint64_t version;       // unique in the pool, higher is newer
    std::uint64_t incarnation;   // of the variable this record belongs to
    std::uint64_t home;          // derived: offset of the word that publishes this record
    Link next;                   // derived: next in a chain or in a retire list
    std::uint64_t state;         // derived: UnitState of heap/record.hpp
    std::uint64_t word;          // truth: an entry's value, an array's or segment's next segment, an
                                 // in-place block's frozen checksum; derived: of other blocks and values,
                                 // the record that this one replaced and nobody has retired yet
};
static_assert(sizeof(RecordHeader) == 64);
static_assert(offsetof(RecordHeader, home) == 32);

/// One extensible field: records end in any number of these, unknown ids are skipped.
struct FieldHeader {
    std::uint16_t id;
    std::uint16_t length;  // of the value that follows
};

/// Space for bytes: in the pool (target 0) or elsewhere. Length 0: no extent.
struct Extent {
    std::uint32_t target;
    std::uint32_t flags;
    std::uint64_t offset;
    std::uint64_t length;
};
static_assert(sizeof(Extent) == 24);

enum class ChunkKind : std::uint8_t {
    free = 0,
    meta_slab = 1,
    data_slab = 2,
    run_head = 3,
    run_body = 4,
    hole = 5,      // free, and without space; with an owner: who is about to get it some
    bare_slab = 6  // a data slab that has its links in the table of links, and no head
};

constexpr bool is_data_slab(ChunkKind kind) {
    return kind == ChunkKind::data_slab || kind == ChunkKind::bare_slab;
}
constexpr bool is_slab(ChunkKind kind) { return kind == ChunkKind::meta_slab || is_data_slab(kind); }

/// What one chunk is and who claimed it: kind 4 bits, owner slot + 1 13 bits, owner incarnation 16 bits,
/// length 31 bits: of a run's head in chunks, 0 while it is being claimed; of its body, so many chunks behind the head (or 0: made by an
/// older release, or by recovery); of a bare slab's units in 64 bytes. Owner 0: nobody.
struct ChunkWord {
    std::uint64_t word = 0;

    static constexpr ChunkWord make(ChunkKind kind, std::uint64_t owner, std::uint64_t length) {
        return {static_cast<std::uint64_t>(kind) | (owner << 4) | (length << 33)};
    }
    constexpr ChunkKind kind() const { return static_cast<ChunkKind>(word & 15); }
    constexpr std::uint64_t owner() const { return (word >> 4) & ((1ULL << 29) - 1); }
    constexpr std::uint64_t length() const { return word >> 33; }
    constexpr bool operator==(const ChunkWord&) const = default;
    /// It can be taken.
    constexpr bool is_idle() const {
        return (kind() == ChunkKind::free || kind() == ChunkKind::hole) && owner() == 0;
    }
    /// Claimed as chunk `k` of a run, or of what becomes something else yet.
    static constexpr ChunkWord claimed(std::uint64_t owner, std::uint64_t k) {
        return make(k == 0 ? ChunkKind::run_head : ChunkKind::run_body, owner, k);
    }
    /// Its claimer has not said yet what it is.
    constexpr bool is_under_way() const {
        return kind() == ChunkKind::run_head ? length() == 0 : kind() == ChunkKind::hole && owner() != 0;
    }
    constexpr bool is_body_at(std::uint64_t k) const { return length() == k || length() == 0; }
    constexpr ChunkWord with_owner(std::uint64_t owner) const { return make(kind(), owner, length()); }
};

struct ChunkEntry {
    std::uint64_t word;  // a ChunkWord
    Link record;         // of a run: the record whose extent it is
};
static_assert(sizeof(ChunkEntry) == 16);

inline constexpr std::uint32_t slab_magic = 0x42414c53;  // "SLAB"

/// The head of a slab chunk that is not bare; then a bit for each unit, then (data slabs) a word for each unit, then units.
struct SlabHeader {
    std::uint32_t magic;
    std::uint32_t checksum;  // CRC-32C of the header from `kind` to its end
    std::uint32_t kind;      // a ChunkKind
    std::uint32_t unit_bytes;
    std::uint32_t units;
    std::uint32_t first_unit;  // offset of unit 0 inside the chunk
    std::uint32_t links;       // offset of the links, 0 in meta slabs
    std::uint32_t bitmap;      // offset of the bitmap
    std::uint64_t unused[4];
};
static_assert(sizeof(SlabHeader) == 64);

}  // namespace pmemcpy::heap
