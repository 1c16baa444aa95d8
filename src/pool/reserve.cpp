// Space that one attachment may count on. The words are in its slot of the .rt: when it dies, the kernel drops the slot's lock, and
// they count no more.

#include "pool/pool.hpp"

#include <algorithm>

namespace pmemcpy::pool {

using persist::Medium;

void Pool::set_reserved(std::uint64_t target, std::uint64_t bytes) {
    medium_.store(&slot().reserved.at(target), bytes);
    if (bytes != 0) medium_.fetch_add(&runtime_->header().reservations, 1);
}

std::uint64_t Pool::reserved(std::uint64_t target) const {
    if (!runtime_ || slot_ >= slot_count) return 0;
    return read_only_ ? 0 : Medium::load(&runtime_->slot(slot_).reserved.at(target));
}

std::uint64_t Pool::reserved_by_others(std::uint64_t target) const {
    // In tests, a pool that nobody has attached to has no run-time file.
    if (!runtime_ || Medium::load(&runtime_->header().reservations) == 0) return 0;
    std::uint64_t bytes = 0;
    const std::uint64_t used = Medium::load(&runtime_->header().slots_used);
    for (std::uint64_t i = 0; i < used; ++i) {
        const Slot& slot = runtime_->slot(i);
        const std::uint64_t its = Medium::load(&slot.reserved.at(target));
        if (i == slot_ || its == 0 || Medium::load(&slot.attached) == 0 || runtime_->is_dead(i)) continue;
        bytes += its;
    }
    return bytes;
}

void Pool::use_reserved(std::uint64_t target, std::uint64_t bytes) {
    if (!runtime_ || slot_ >= slot_count) return;
    std::uint64_t* const word = &slot().reserved.at(target);
    std::uint64_t before = Medium::load(word);
    while (before != 0 && !medium_.compare_exchange(word, before, before - std::min(before, bytes))) {
    }
}

}  // namespace pmemcpy::pool
