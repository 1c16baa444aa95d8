#include "mover/reads.hpp"

#include <pmemcpy/error.hpp>

#include <utility>

namespace pmemcpy::mover {

using Read = store::Store::Read;

void Reads::note(Read read) {
    const std::lock_guard lock(mutex_);
    const bool is_below = read.block.block.extent.target != 0;
    ++(is_below ? counters_.below : counters_.above);
    if (!is_below && unused_.erase(read.block.version) > 0) ++counters_.ahead_used;
    if (waiting_.size() == most_waiting) waiting_.pop_front();
    waiting_.push_back(std::move(read));
}

void Reads::bring_up(store::Store& store) {
    for (;;) {
        Read read;
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.empty()) return;
            read = std::move(waiting_.front());
            waiting_.pop_front();
        }
        if (store.promotion() == Promotion::never) continue;
        if (store.is_below(read.block)) move(store, read, false);
        if (store.promotion() == Promotion::read_ahead) follow(store, read);
    }
}

void Reads::follow(store::Store& store, const Read& read) {
    if (!read.block.box.is_dense()) return;
    if (patterns_.size() == most_arrays && !patterns_.contains(read.id)) patterns_.clear();
    const Box box{read.block.box.offset, read.block.box.count};
    const auto boxes = patterns_[read.id].next(box, most_ahead);
    for (const Read& ahead : store.blocks_below(read.id, boxes)) move(store, ahead, true);
}

void Reads::move(store::Store& store, const Read& read, bool is_ahead) {
    if (!store.bring_up(read)) return;
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
