#include "mover/reads.hpp"

#include <pmemcpy/error.hpp>

#include <utility>

namespace pmemcpy::mover {

using Read = store::Store::Read;
using Why = store::Store::Why;

void Reads::note(Read read) {
    const std::lock_guard lock(mutex_);
    const bool is_below = read.block.block.extent.target != 0;
    ++(is_below ? counters_.below : counters_.above);
    if (!is_below && unused_.erase(read.block.version) > 0) ++counters_.ahead_used;
    if (waiting_.size() == most_waiting) waiting_.pop_front();
    waiting_.push_back(std::move(read));
}

void Reads::want(std::vector<Read> blocks) {
    const std::lock_guard lock(mutex_);
    for (Read& block : blocks) wanted_.push_back(std::move(block));
}

void Reads::set_prefetcher(std::shared_ptr<const Prefetcher> next) {
    const std::lock_guard lock(mutex_);
    prefetcher_.swap(next);  // what it was goes without the mutex
}

bool Reads::take_wanted(Read& block) {
    const std::lock_guard lock(mutex_);
    if (wanted_.empty()) return false;
    block = std::move(wanted_.front());
    wanted_.pop_front();
    return true;
}

void Reads::bring_up(store::Store& store) {
    for (;;) {
        for (Read wanted; take_wanted(wanted);) {
            if (store.is_below(wanted.block)) move(store, wanted, Why::wanted);
        }
        Read read;
        std::shared_ptr<const Prefetcher> prefetcher;
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.empty()) break;
            read = std::move(waiting_.front());
            waiting_.pop_front();
            prefetcher = prefetcher_;
        }
        if (store.promotion() == Promotion::never) continue;
        if (store.is_below(read.block)) move(store, read, Why::read);
        if (prefetcher) {
            ask(store, *prefetcher, read);
        } else if (store.promotion() == Promotion::read_ahead) {
            follow(store, read);
        }
    }
    count_wasted(store);
}

void Reads::ask(store::Store& store, const Prefetcher& next, const Read& read) {
    std::vector<Read> blocks;
    try {
        const Box box = store.box_for_users(read);
        for (const Ahead& ahead : next({read.id, box, !store.is_below(read.block)})) {
            for (Read& block : store.blocks_meeting(ahead.id, ahead.box)) blocks.push_back(std::move(block));
        }
    } catch (...) {
        // Whatever it is, it is the user's, and nobody is there to be told.
        const std::lock_guard lock(mutex_);
        ++counters_.prefetcher_failed;
        return;
    }
    for (const Read& block : blocks) {
        if (store.is_below(block.block)) move(store, block, Why::ahead);
    }
}

void Reads::follow(store::Store& store, const Read& read) {
    if (!read.block.box.is_dense()) return;
    if (patterns_.size() == most_arrays && !patterns_.contains(read.id)) patterns_.clear();
    const Box box{read.block.box.offset, read.block.box.count};
    const auto boxes = patterns_[read.id].next(box, most_ahead);
    for (const Read& ahead : store.blocks_below(read.id, boxes)) move(store, ahead, Why::ahead);
    for (const std::string& id : series_.next(read.id, most_steps_ahead)) {
        for (const Read& ahead : store.blocks_below(id, {box})) move(store, ahead, Why::ahead);
    }
}

void Reads::count_wasted(const store::Store& store) {
    const auto tally = store.tally();
    const std::lock_guard lock(mutex_);
    if (!tally || unused_.empty()) return;
    std::erase_if(unused_, [&](std::uint64_t version) {
        const bool is_wasted = (tally->marks_of(version) & heat::mark_wasted) != 0;
        if (is_wasted) ++counters_.ahead_wasted;
        return is_wasted;
    });
}

void Reads::move(store::Store& store, const Read& read, Why why) {
    if (!store.bring_up(read, why)) return;
    const bool is_ahead = why != store::Store::Why::read;
    const std::lock_guard lock(mutex_);
    ++(is_ahead ? counters_.read_ahead : counters_.brought_up);
    if (!is_ahead) return;
    if (unused_.size() == most_unused) unused_.clear();
    unused_.insert(read.block.version);
}

ReadCounters Reads::counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
}

}  // namespace pmemcpy::mover
