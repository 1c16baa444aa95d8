#include "extract/changes.hpp"

#include <algorithm>
#include <utility>

#include "pmem/sides.hpp"

namespace pmemcpy::extract {

namespace {

constexpr std::uint64_t most_changes = 4096;  // behind more than these everything is looked at

}  // namespace

std::vector<std::string> Changed::take() {
    std::vector<std::string> ids;
    pmem::Sides& sides = pmem::Sides::of(pool_);
    take(shared_, sides.shared(), ids);
    sides.own();  // which notices what is new
    if (const auto own = sides.own_store()) take(own_, own, ids);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

// What is published after the position is heard of; what was before, this look finds, or that after the commit of its step.
void Changed::take_all(Side& side, const std::shared_ptr<store::Store>& store,
                       std::vector<std::string>& ids) {
    store->feed().start();
    side = {store, store->feed().position(), {}, store->step_is_open()};
    store->for_each_place([&](std::uint64_t, const std::string& id) { ids.push_back(id); });
}

void Changed::take(Side& side, const std::shared_ptr<store::Store>& store, std::vector<std::string>& ids) {
    if (side.store != store) return take_all(side, store, ids);
    pool::Changes changes = store->feed().since(side.position, most_changes);
    const bool are_all = changes.next != side.position + most_changes;
    if (changes.lost || !are_all || (changes.committed && side.is_all_pending))
        return take_all(side, store, ids);
    side.position = changes.next;
    // Asked before the looks: what is not committed by then has its commit said behind these changes.
    const bool step_is_open = store->step_is_open();
    if (changes.committed)
        changes.offsets.insert(changes.offsets.end(), side.pending.begin(), side.pending.end());
    if (!step_is_open) side.pending.clear();
    for (const std::uint64_t place : changes.offsets) {
        if (step_is_open) side.pending.push_back(place);
        if (auto id = store->id_at(place)) ids.push_back(std::move(*id));
    }
}

}  // namespace pmemcpy::extract
