#pragma once

#include "store/store.hpp"
#include "tier/pattern.hpp"
#include "tier/series.hpp"

#include <pmemcpy/caching.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pmemcpy::mover {

using Prefetcher = std::function<std::vector<Ahead>(const ReadBlock&)>;

/// What a process reads, and what of it is brought up into the pool, now and before it is read.
class Reads {
public:
    /// By whoever reads.
    void note(store::Store::Read read);
    /// By whoever says what is needed.
    void want(std::vector<store::Store::Read> blocks);
    /// Asked after each read what comes next, instead of what patterns suggest. Null: nobody is asked.
    void set_prefetcher(std::shared_ptr<const Prefetcher> next);
    /// By one thread: brings up what was noted or is wanted, and what is likely to come next. Errors are those of moves, but for no_space.
    void bring_up(store::Store& store);
    ReadCounters counters() const;

private:
    static constexpr std::size_t most_waiting = 64;  // older ones are forgotten: what was read lately counts
    static constexpr std::size_t most_arrays = 1024;
    static constexpr std::size_t most_ahead = 4;  // blocks
    static constexpr std::size_t most_steps_ahead = 2;
    static constexpr std::size_t most_unused = 4096;

    bool take_wanted(store::Store::Read& block);
    void ask(store::Store& store, const Prefetcher& next, const store::Store::Read& read);
    void follow(store::Store& store, const store::Store::Read& read);
    /// What this process brought up ahead of time, and somebody has moved down unread.
    void count_wasted(const store::Store& store);
    void move(store::Store& store, const store::Store::Read& read, store::Store::Why why);

    mutable std::mutex mutex_;
    std::deque<store::Store::Read> waiting_;
    std::deque<store::Store::Read> wanted_;
    std::shared_ptr<const Prefetcher> prefetcher_;
    ReadCounters counters_;
    std::unordered_set<std::uint64_t>
        unused_;  // versions of blocks that were brought up before they were read
    // Of the thread that moves.
    std::unordered_map<std::string, tier::Pattern> patterns_;
    tier::Series series_;
};

}  // namespace pmemcpy::mover
