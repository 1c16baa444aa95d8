#include "store/changes.hpp"

#include <algorithm>
#include <utility>

namespace pmemcpy::store {

namespace {

constexpr std::uint64_t most_changes = 4096;  // behind more than these everything is looked at

// A variable that is stored into all the time is looked at once.
void take_each_once(std::vector<std::uint64_t>& places) {
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
}

}  // namespace

// What is published after the position is heard of; what was before, this look finds, or that after the commit of its step.
void Changed::take_all(std::vector<std::string>& ids) {
    store_->feed().start();
    position_ = store_->feed().position();
    pending_.clear();
    is_all_pending_ = store_->step_is_open();
    has_begun_ = true;
    store_->for_each_place([&](std::uint64_t, const std::string& id) { ids.push_back(id); });
}

void Changed::take(std::vector<std::string>& ids) {
    if (!has_begun_) return take_all(ids);
    pool::Changes changes = store_->feed().since(position_, most_changes);
    if (changes.lost || changes.left > 0 || (changes.committed && is_all_pending_)) return take_all(ids);
    position_ = changes.next;
    take_each_once(changes.offsets);
    // Asked before the looks: what is not committed by then has its commit said behind these changes.
    const bool step_is_open = store_->step_is_open();
    const std::vector<std::uint64_t> before =
        step_is_open ? pending_ : std::exchange(pending_, std::vector<std::uint64_t>{});
    if (step_is_open) {
        pending_.insert(pending_.end(), changes.offsets.begin(), changes.offsets.end());
        take_each_once(pending_);
    }
    if (changes.committed) {
        changes.offsets.insert(changes.offsets.end(), before.begin(), before.end());
        take_each_once(changes.offsets);
    }
    for (const std::uint64_t place : changes.offsets) {
        if (auto id = store_->id_at(place)) ids.push_back(std::move(*id));
    }
}

}  // namespace pmemcpy::store
