#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <pmemcpy/box.hpp>
#include <pmemcpy/tiers.hpp>
#include <string>
#include <string_view>
#include <vector>

// The pool as a cache of its lower targets: how hot variables are, what the application knows of its reads,
// what comes up before it is read, and how well all that works. docs/tiers.md says how a block comes up and
// which one leaves first.

namespace pmemcpy {

/// How often an array was read, counted by the processes that have the pool open for writing.
struct VariableHeat {
    std::string id;
    /// Reads per block, on average; a read counts half after each Hierarchy::half_life_s.
    double reads = 0;
    std::uint32_t score = 0;  ///< the score that Policy::hot_data uses: min(7, floor(log2(1 + reads)))
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_below = 0;  ///< bytes of it in targets below the pool
};

/// Blocks read from one target, and bytes that went in and out.
struct TargetTraffic {
    std::string target;
    std::uint64_t reads = 0;  ///< blocks read
    std::uint64_t read_bytes = 0;
    std::uint64_t stored_bytes = 0;     ///< of new blocks
    std::uint64_t moved_in_bytes = 0;   ///< from other targets
    std::uint64_t moved_out_bytes = 0;  ///< to other targets
    std::uint64_t blocks_out = 0;
};

/// Counts of all processes that had the pool open for writing, since it got its hierarchy. They are kept
/// beside the pool in `<pool>.heat`. That file may be removed at any moment; counting then starts again.
struct PoolCounters {
    std::uint64_t since_ns = 0;       ///< start of counting, since 1970-01-01 UTC
    std::uint64_t loads = 0;          ///< loads and views that needed a block
    std::uint64_t loads_spread = 0;   ///< of these, those that needed blocks of several targets
    std::uint64_t hits = 0;           ///< blocks read in the pool
    std::uint64_t misses = 0;         ///< blocks read from another target
    std::uint64_t returned = 0;       ///< of these, blocks that had been in the pool and were moved down
    std::uint64_t brought_up = 0;     ///< blocks moved into the pool because they were read
    std::uint64_t read_ahead = 0;     ///< blocks moved into the pool before they were read
    std::uint64_t ahead_used = 0;     ///< of these, those that were then read there
    std::uint64_t ahead_wasted = 0;   ///< of these, those that were moved down again unread
    std::uint64_t waits = 0;          ///< stores that waited for room
    double waited_s = 0;              ///< seconds of all these waits together
    std::uint64_t flushed_bytes = 0;  ///< bytes copied to the flush target
    std::vector<TargetTraffic> targets{};
};

/// A block that was read.
struct ReadBlock {
    std::string id;
    Box box;
    bool was_in_pool = false;
};

/// Blocks to bring up: those of an array that meet a box, or all of them.
struct Ahead {
    std::string id;
    std::optional<Box> box{};
};

/// The heat of each array that has blocks, the hottest first. Empty in a pool without a hierarchy, where
/// nothing is counted.
std::vector<VariableHeat> heat_of(const PMEM& pool);

/// The counters of the pool; nothing in a pool without a hierarchy.
std::optional<PoolCounters> pool_counters(const PMEM& pool);

/// Announces that blocks will be read: they come up in the background while there is room, and leave the pool
/// last. Without a box: the whole array, or all arrays of a group ("/": the pool). The hint counts until the
/// blocks are read, or until `wont_need`. Returns the number of blocks.
/// Crash: the hint is kept or lost.
/// Errors: not_found; invalid_argument for a pool without a hierarchy, or a box of a group; permission_denied
///     in a pool open for reading.
std::uint64_t will_need(PMEM& pool, std::string_view id, const std::optional<Box>& box = {});
/// Announces that blocks will not be read: they leave first when room is made. Reading them nevertheless
/// works. The hint counts until they are read, or until `will_need`.
/// Errors: as will_need().
std::uint64_t wont_need(PMEM& pool, std::string_view id, const std::optional<Box>& box = {});

/// Sets a function that predicts reads, instead of the patterns that the library finds. After each block read
/// through this PMEM, one library thread at a time calls `next`; the blocks it returns come up in the
/// background. Null removes the function.
/// Sharing: `next` must not use `pool`: closing the pool waits for it.
/// Errors: invalid_argument for a pool without a hierarchy, or one with Promotion::never; permission_denied
///     in a pool open for reading. An exception of `next` is counted in ReadCounters::prefetcher_failed; the
///     next read calls it again.
void set_prefetcher(PMEM& pool, std::function<std::vector<Ahead>(const ReadBlock&)> next);

/// One change of a hierarchy.
struct Proposal {
    std::string key;       ///< as it is written in YAML: "promotion"
    std::string now;       ///< its present value
    std::string proposed;  ///< the proposed value
    std::string reason;    ///< the reason, with the numbers behind it
};

/// The proposals of advise().
struct Advice {
    std::vector<Proposal> proposals;
    std::vector<std::string> unknown;  ///< what the counters cannot tell, and why
    Hierarchy hierarchy;               ///< the pool's hierarchy with all proposals applied
};

/// Proposes changes of the hierarchy from the counters of a run. Each proposal names the numbers behind it,
/// and none is made from few of them. How fast a run would have been cannot be computed: try it.
/// Errors: invalid_argument for a pool without a hierarchy; unsupported by a build without yaml-cpp.
Advice advise(const PMEM& pool);

}  // namespace pmemcpy
