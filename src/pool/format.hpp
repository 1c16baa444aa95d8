#pragma once

// The first pages of a pool, byte for byte; drawn in docs/format.md.
//
//   page 0   Superblock          written once at create
//   page 1   Superblock (spare)  the same bytes, used when page 0 is damaged
//   page 2   PoolState           the few words that change, each stored whole
//   ...      chunk table         two words a chunk (heap/format.hpp)
//   ...      hash table          one word a bucket (catalog/format.hpp)
//   ...      links               32 words a chunk (heap/format.hpp); none before version 2
//   ...      chunks              from first_chunk_offset, chunk_bytes each
//
// All numbers are little-endian; offsets count bytes from the start of the pool.

#include <array>
#include <cstddef>
#include <cstdint>

namespace pmemcpy::pool {

inline constexpr std::array<char, 8> pool_magic = {'p', 'M', 'E', 'M', 'C', 'P', 'Y', '\n'};
inline constexpr std::uint32_t format_version = 2;
inline constexpr std::uint32_t first_version_with_links = 2;
inline constexpr std::uint32_t endian_mark = 0x01020304;
inline constexpr std::uint64_t page_bytes = 4096;
inline constexpr std::uint64_t superblock_offset = 0;
inline constexpr std::uint64_t spare_offset = page_bytes;
inline constexpr std::uint64_t state_offset = 2 * page_bytes;
inline constexpr std::uint64_t chunk_table_offset = 3 * page_bytes;
inline constexpr std::uint64_t chunk_entry_bytes = 16;
inline constexpr std::uint64_t links_per_chunk = 32;
inline constexpr std::uint64_t links_bytes = links_per_chunk * 8;  // of one chunk
inline constexpr std::uint64_t smallest_chunk_bytes = 4096;
inline constexpr std::uint64_t default_chunk_bytes = 2ULL << 20;
inline constexpr std::uint64_t largest_pool_bytes = 16ULL << 40;

/// Where extents may live. Target 0 is the pool itself; tiers take the others.
struct DeviceEntry {
    std::uint32_t target;
    std::uint32_t kind;  // 1: this pool, 2: a directory of payload files beside the records
    std::uint64_t capacity_bytes;
    std::array<char, 112> name;
};
static_assert(sizeof(DeviceEntry) == 128);

/// Everything that never changes after create; but whoever is alone in the pool may add feature_wipes.
struct Superblock {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t endian;
    std::uint32_t bytes;     // of this structure
    std::uint32_t checksum;  // CRC-32C of this structure with `checksum` as zero
    std::array<std::uint8_t, 16> uuid;
    std::uint64_t chunk_bytes;
    std::uint64_t max_bytes;  // the file's length, and the end of the last possible chunk
    std::uint64_t chunk_count;
    std::uint64_t table_offset;  // of the chunk table
    std::uint64_t bucket_offset;
    std::uint64_t bucket_count;  // a power of two
    std::uint64_t first_chunk_offset;
    std::uint64_t created_ns;  // since 1970, UTC
    std::uint64_t features;    // bits this library must know to write; unknown bits: read nothing
    std::uint32_t default_serializer;
    std::uint32_t device_count;
    std::array<DeviceEntry, 3> devices;
    std::array<std::uint8_t, 16>
        origin;  // uuid of the pool that this one was first, before it was repaired; zeros: its own
    std::array<std::uint8_t, 16>
        side_of;  // of private objects: the origin of the pool that they belong to; zeros: none, or made
                  // before this was said
    std::array<std::uint8_t, 96> unused;
};
static_assert(offsetof(Superblock, chunk_bytes) == 40);
static_assert(offsetof(Superblock, devices) == 120);
static_assert(offsetof(Superblock, origin) == 504 && offsetof(Superblock, side_of) == 520);
static_assert(sizeof(Superblock) == 632 && sizeof(Superblock) <= page_bytes);

inline constexpr std::uint64_t feature_directory_layout = 1;  // payloads are files beside this one
inline constexpr std::uint64_t feature_wipes = 2;             // space that is freed is wiped first
inline constexpr std::uint64_t known_features = feature_directory_layout | feature_wipes;

/// What a copy of a pool with damaged state says of its committed step, until recovery has seen the records.
inline constexpr std::uint64_t unknown_step = ~0ULL;

/// The words that change, each alone on its cache line so that ranks do not slow each other down.
struct alignas(64) StateWord {
    std::uint64_t value;
    std::array<std::uint64_t, 7> unused;
};
static_assert(sizeof(StateWord) == 64);

/// Of a target below the pool, all derived.
struct alignas(64) TargetState {
    std::uint64_t bytes;           // in its files; may be too much after a crash
    std::uint64_t aside_until_ns;  // since 1970: nothing is put there before
    std::uint64_t aside_why;       // why not, as layout/trouble.hpp counts it
    std::uint64_t inventoried;     // files with lower numbers may be in its inventory; 0: it has none
    std::array<std::uint64_t, 4> unused;
};
static_assert(sizeof(TargetState) == 64);

/// A process that has something alone, as those that wait for it may know it: its number counts in its PID namespace only.
struct Holder {
    std::uint64_t pid;  // 0: nobody
    std::uint64_t pid_namespace;
    std::uint64_t since_ns;  // by the coarse monotonic clock
};

struct PoolState {
    StateWord clean;           // clean_mark(...) of the words below after an orderly close, else 0
    StateWord usable_chunks;   // chunks whose space the file system has promised
    StateWord next_version;    // the next version to be drawn
    StateWord synced_version;  // every record up to here was on the medium at the last sync
    StateWord committed_step;  // newest step that readers see; 0: none
    StateWord begun_step;      // newest step that anyone has begun
    StateWord recovery_count;  // odd while the derived state is being rebuilt
    StateWord failed;          // 1 after a sync that the device refused: only repair helps
    StateWord runtime_inode;   // of the .rt file that belongs to this session
    StateWord search_hint;     // chunk at which the next search for space begins
    StateWord broken_step;     // lowest uncommitted step that a process died in; 0: none
    StateWord payload_bytes;   // derived, directory layout: in payload files; may be too much after a crash
    StateWord news;  // another number with each publish that somebody waits for; means nothing later
    StateWord feed;  // number of the ring in <pool>.feed that changes are said to; 0: nobody follows
    StateWord
        feed_position;  // after an orderly close: where the feed goes on; else a number that was drawn by lot
    StateWord scopes;   // another number with each change of what is private beside the pool
    StateWord
        hierarchy;  // another number with each change of the targets below the pool, odd during it; 0: there were never any
    std::array<TargetState, 14> targets;  // 2 to 15
    Holder
        alone;  // the last process that has opened or closed the pool while nobody else had it open; means nothing later
    StateWord
        names;  // derived: counts the changes of which names there are, and below that those on their way: see NamesChange
};
static_assert(offsetof(PoolState, names) == 2048);
static_assert(sizeof(PoolState) == 2112 && sizeof(PoolState) <= page_bytes);

}  // namespace pmemcpy::pool
