#pragma once

#include "store/store.hpp"
#include "tier/pattern.hpp"

#include <pmemcpy/tiers.hpp>

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace pmemcpy::mover {

/// What a process reads, and what of it is brought up into the pool, now and before it is read.
class Reads {
public:
    /// By whoever reads.
    void note(store::Store::Read read);
    /// By one thread: brings up what was noted, and what is likely to come next. Errors are those of moves, but for no_space.
    void bring_up(store::Store& store);
    ReadCounters counters() const;

private:
    static constexpr std::size_t most_waiting = 64;  // older ones are forgotten: what was read lately counts
    static constexpr std::size_t most_arrays = 1024;
    static constexpr std::size_t most_ahead = 4;  // blocks
    static constexpr std::size_t most_unused = 4096;

    void follow(store::Store& store, const store::Store::Read& read);
    void move(store::Store& store, const store::Store::Read& read, bool is_ahead);

    mutable std::mutex mutex_;
    std::deque<store::Store::Read> waiting_;
    ReadCounters counters_;
    std::unordered_set<std::uint64_t>
        unused_;  // versions of blocks that were brought up before they were read
    // Of the thread that moves.
    std::unordered_map<std::string, tier::Pattern> patterns_;
};

}  // namespace pmemcpy::mover
