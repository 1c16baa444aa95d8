#pragma once

// The records that make up a catalog, byte for byte; drawn in docs/format.md.
//
//   bucket -> Entry (id) --word--> Value                      a scalar, string or object
//                        \------> Array --word--> Segment --> ... each slot -> Block
//                        \------> Entry                       an alias: the entry was renamed to this id
//   Entry.attributes -> Entry (attribute name) --word--> Value

#include "heap/format.hpp"

#include <cstddef>
#include <cstdint>

namespace pmemcpy::catalog {

using heap::Extent;
using heap::Link;
using heap::RecordHeader;

// Words that are empty hold mark_empty with the tag of their own record, so that a late CAS into a record that
// was reused fails (law 4).

/// An id and the identity behind it. Followed by the key's bytes and, of an id that is no alias, the EntryFields.
/// header.word: empty, a Link to a Value or Array (dead once erased), or, of an alias, the renamed Entry.
struct Entry {
    RecordHeader header;
    Link attributes;       // derived: newest attribute's Entry; of an alias: the name before this one
    Link moved;            // truth: empty, or the alias Entry that now names this identity
    std::uint64_t hash;    // of the key, xxh3
    std::uint64_t parent;  // 0: an id; else an attribute of this incarnation
    std::uint32_t key_bytes;
    std::uint32_t alias;  // 1: this record only names another Entry
};
static_assert(sizeof(Entry) == 104 && offsetof(Entry, hash) == 80);
inline constexpr std::uint8_t entry_mutable_words = 2;

enum EntryField : std::uint16_t {
    entry_created = 1,  // 8 bytes: nanoseconds since 1970
    entry_creator = 2   // a Creator, the bytes of the host's name, and of the program's
};
struct Creator {
    std::uint32_t user;
    std::uint32_t ranks;  // 0: not an MPI program
    std::uint8_t host_bytes;
    std::uint8_t program_bytes;
    std::uint16_t unused;
};
static_assert(sizeof(Creator) == 12);

enum class ValueKind : std::uint8_t { value = 0, group = 1 };

/// A scalar, string, sequence or serialized object. Followed by the type's encoding, then the inline bytes.
struct Value {
    RecordHeader header;
    Extent extent;             // where the bytes are when they are not inline
    std::uint64_t step;        // 0: none
    Link previous;             // the version that readers see until this one's step is committed
    std::uint64_t bytes;       // of the encoded value
    std::uint64_t written_ns;  // since 1970
    std::uint32_t crc;         // CRC-32C of the encoded value
    std::uint32_t writer_pid;
    std::uint16_t type_bytes;
    std::uint8_t kind;  // ValueKind
    std::uint8_t serializer;
    std::uint32_t flags;  // ValueFlag
};
static_assert(sizeof(Value) == 136);

// What is scratch was stored for no longer than its job runs (store/lifetimes.cpp).
enum ValueFlag : std::uint32_t { value_has_crc = 1, value_scratch = 2 };

inline constexpr std::uint64_t largest_inline_bytes = 512;

enum ArrayFlag : std::uint8_t {
    array_contiguous = 1,
    array_unlimited = 2,
    array_has_fill = 4,
    array_scratch = 8
};

/// An array's definition. Followed by dimensions, type encoding, fill value.
/// header.word: empty, or a Link to the first directory segment.
struct Array {
    RecordHeader header;
    std::uint64_t retirements;  // derived: counts the blocks that were unpublished in favour of others' slots
    std::uint64_t kept_since;   // truth: at older steps than this, blocks may be missing
    std::uint64_t step;
    std::uint64_t written_ns;
    std::uint8_t dimensions;
    std::uint8_t order;  // 0: C, 1: Fortran
    std::uint8_t flags;
    std::uint8_t serializer;
    std::uint8_t codec;
    std::int8_t codec_level;
    std::uint8_t codec_shuffle;
    std::uint8_t unused;
    std::uint32_t type_bytes;
    std::uint32_t fill_bytes;
};
static_assert(sizeof(Array) == 112);
inline constexpr std::uint8_t array_mutable_words = 2;

/// A stretch of an array's block directory. Followed by `slots` words, all of them mutable.
/// header.word: empty, or a Link to the next segment.
struct Segment {
    RecordHeader header;
    std::uint32_t slots;
    std::uint32_t unused;
};
static_assert(sizeof(Segment) == 72);

enum BlockFlag : std::uint8_t {
    block_in_place = 1,
    block_strided = 2,
    block_has_min_max = 4,
    block_has_crc = 8,
    block_scratch = 16
};

/// A box of an array as one store produced it. Followed by offset, count and (strided) stride, then the
/// codec's own bytes. header.word: of an in-place block, the frozen mark and checksum.
struct Block {
    RecordHeader header;
    Extent extent;
    std::uint64_t step;
    std::uint64_t raw_bytes;  // of the elements; extent.length is at least the stored bytes
    std::uint64_t stored_bytes;
    std::uint64_t written_ns;
    std::uint64_t minimum;  // raw bytes of the element type, when block_has_min_max
    std::uint64_t maximum;
    std::uint32_t crc;  // CRC-32C of the stored bytes
    std::uint32_t writer_pid;
    std::int32_t writer_rank;  // -1: not an MPI program
    std::uint8_t dimensions;
    std::uint8_t flags;
    std::uint8_t codec;
    std::uint8_t unused;
};
static_assert(sizeof(Block) == 152);

enum BlockField : std::uint16_t {
    block_order =
        1  // 8 bytes: the version that this block has among others, of one that was moved: that of the store
};

inline constexpr std::uint64_t frozen_mark = 1ULL << 32;

}  // namespace pmemcpy::catalog
