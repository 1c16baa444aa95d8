#pragma once

// <pool>.heat: what is read, and what becomes of it. Counted up by whoever has the pool open for writing, never synced; a file that
// does not begin as it should is made anew.

#include <array>
#include <cstddef>
#include <cstdint>

namespace pmemcpy::heat {

/// What is counted for the pool as a whole.
enum class Count : std::uint8_t {
    loads,           // that needed a block
    loads_spread,    // of these, that needed blocks of several targets
    reads_above,     // blocks that were read in the pool
    reads_below,     // and below it
    reads_returned,  // of those below: they had lain in the pool, and were moved down
    brought_up,      // because they were read
    read_ahead,      // before they were read
    ahead_used,      // of these: were read then
    ahead_wasted,    // of these: moved down without having been read
    waits,           // stores that had to wait until there was room
    wait_ns,
    flushed_bytes,
    hints,  // times that the application has said what it needs
    count,
};

/// What is counted for each target.
enum class Flow : std::uint8_t {
    reads,  // of blocks
    read_bytes,
    stored_bytes,
    moved_in_bytes,
    moved_out_bytes,
    blocks_out,
    count,
};

inline constexpr std::size_t target_count = 16;  // numbers that extents can name
inline constexpr std::size_t bucket_count = 8192;
inline constexpr std::size_t bucket_things = 4;
inline constexpr std::uint64_t heat_magic = 0x3174616568706d70ULL;

struct Thing {
    std::uint64_t
        key;  // a block's version, or a variable's incarnation with the highest bit set; 0: nobody's
    std::uint64_t
        reads;  // upper 24 bits: of a float, how many, faded until then; lower 40: milliseconds since 1970
    std::uint64_t marks;  // Mark
    std::uint64_t unused;
};
static_assert(sizeof(Thing) == 32);

/// Bits of a block's `marks`.
enum Mark : std::uint64_t {
    mark_soon = 1,     // the application is going to read it
    mark_no_more = 2,  // it is not
    mark_ahead = 4,    // it was brought up, and not read yet
    mark_wasted = 8,   // it was, and moved down again unread
    mark_left = 16,    // it was moved down out of the pool
};

struct HeatFile {
    std::uint64_t magic;  // last of all when the file is made
    std::array<std::uint8_t, 16> uuid;
    std::uint64_t since_ns;  // wall clock, when counting began
    std::array<std::uint64_t, target_count>
        least_score;  // by target: of the blocks there, when somebody last looked
    std::array<std::uint64_t, 12> unused;
    alignas(64) std::array<std::uint64_t, 64> counts;
    std::array<std::array<std::uint64_t, 8>, target_count> flows;  // a line of the cache each
    alignas(4096) std::array<Thing, bucket_count * bucket_things> things;
};
static_assert(offsetof(HeatFile, counts) == 256);
static_assert(offsetof(HeatFile, flows) == 768);
static_assert(offsetof(HeatFile, things) == 4096);
static_assert(static_cast<std::size_t>(Count::count) <= 64 && static_cast<std::size_t>(Flow::count) <= 8);

}  // namespace pmemcpy::heat
