#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <pmemcpy/box.hpp>
#include <pmemcpy/tiers.hpp>
#include <string>
#include <string_view>
#include <vector>

// The pool as a cache of what lies below it: how hot things are, what the application knows of it, what comes up before it is read, and
// how well it all goes. docs/tiers.md says how a block comes up and which leaves first.

namespace pmemcpy {

/// How often an array was read, by the processes that have the pool open for writing.
struct VariableHeat {
    std::string id;
    double reads =
        0;  ///< of each of its blocks, on average; a read counts for half after each Hierarchy::half_life_s
    std::uint32_t score = 0;  ///< as Policy::hot_data takes it: min(7, floor(log2(1 + reads)))
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_below = 0;  ///< of these, those that do not lie in the pool
};

/// What was read of one target, and what went in and out.
struct TargetTraffic {
    std::string target;
    std::uint64_t reads = 0;  ///< of blocks
    std::uint64_t read_bytes = 0;
    std::uint64_t stored_bytes = 0;     ///< of new blocks
    std::uint64_t moved_in_bytes = 0;   ///< from other targets
    std::uint64_t moved_out_bytes = 0;  ///< to other targets
    std::uint64_t blocks_out = 0;
};

/// What all processes together have counted that had the pool open for writing, since it got its hierarchy. It is kept beside the pool, in
/// `<pool>.heat`, which may be removed at any moment: then counting begins anew.
struct PoolCounters {
    std::uint64_t since_ns = 0;       ///< when that was, since 1970-01-01 UTC
    std::uint64_t loads = 0;          ///< loads and views that needed a block
    std::uint64_t loads_spread = 0;   ///< of these, those that needed blocks of several targets
    std::uint64_t hits = 0;           ///< blocks that were read in the pool
    std::uint64_t misses = 0;         ///< blocks that had to be read from another target
    std::uint64_t returned = 0;       ///< of these, those that had lain in the pool, and were moved down
    std::uint64_t brought_up = 0;     ///< moved into the pool because they were read
    std::uint64_t read_ahead = 0;     ///< moved into the pool before they were read
    std::uint64_t ahead_used = 0;     ///< of these, those that were then read there
    std::uint64_t ahead_wasted = 0;   ///< of these, those that were moved down again unread
    std::uint64_t waits = 0;          ///< stores that had to wait until there was room
    double waited_s = 0;              ///< how long, all together
    std::uint64_t flushed_bytes = 0;  ///< copied to the flush target
    std::vector<TargetTraffic> targets{};
};

/// A block that was read.
struct ReadBlock {
    std::string id;
    Box box;
    bool was_in_pool = false;
};

/// What is to come up: the blocks of an array that meet a box, or all of it.
struct Ahead {
    std::string id;
    std::optional<Box> box{};
};

/// Of each array with blocks in the pool, or below it; the hottest first. Empty where nothing is counted: in a pool without a hierarchy.
std::vector<VariableHeat> heat_of(const PMEM& pool);

/// Nothing where nothing is counted.
std::optional<PoolCounters> pool_counters(const PMEM& pool);

/// Says that blocks are going to be read: they come up in the background, as far as there is room, and are the last to leave the pool. It counts
/// until they are read, or `wont_need` is said. Without a box it is all of the array, or all arrays of a group ("/": the pool). Returns how
/// many blocks that are.
/// Crash: a hint is lost or not.
/// Errors: not_found; invalid_argument for a pool without a hierarchy, or a box of a group; permission_denied for who only reads the pool.
std::uint64_t will_need(PMEM& pool, std::string_view id, const std::optional<Box>& box = {});
/// Says that blocks are not going to be read: they are the first to leave when room is made, and nothing is lost if they are read all the
/// same. It counts until they are read, or `will_need` is said.
/// Errors: as will_need().
std::uint64_t wont_need(PMEM& pool, std::string_view id, const std::optional<Box>& box = {});

/// From here on `next` is asked after each read of a block through this PMEM what is going to be read next, and that comes up in the background,
/// instead of what the pattern of the reads suggests. It is called by a thread of the library, by one at a time, and must not use the pool
/// itself: whoever closes that waits for it. Null: nobody is asked. What it throws is counted in ReadCounters::prefetcher_failed, and it is asked again with the next read.
/// Errors: invalid_argument for a pool without a hierarchy, or one with Promotion::never; permission_denied for who only reads the pool.
void set_prefetcher(PMEM& pool, std::function<std::vector<Ahead>(const ReadBlock&)> next);

/// One change of a hierarchy.
struct Proposal {
    std::string key;       ///< as it is written in YAML: "promotion"
    std::string now;       ///< its value
    std::string proposed;  ///< and the one that may be better
    std::string reason;    ///< with the numbers behind it
};

struct Advice {
    std::vector<Proposal> proposals;
    std::vector<std::string> unknown;  ///< what cannot be told from what was counted, and why
    Hierarchy hierarchy;               ///< the pool's with all proposals followed
};

/// What the counters of a run say about the hierarchy it ran with. Each proposal follows from numbers that it names; none is made from
/// few of them. It is not known how fast a run would have been: try it.
/// Errors: invalid_argument for a pool without a hierarchy; unsupported by a build without yaml-cpp.
Advice advise(const PMEM& pool);

}  // namespace pmemcpy
