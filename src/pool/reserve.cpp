// What one attachment says of space: how much it may count on, and that it is just taking some. The words are in its slot of the .rt: when
// it dies, the kernel drops the slot's lock, and they count no more.

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

// By locked instructions, in this order, and before whatever follows: the process that counts looks first at the number of all, then at the slots.
Pool::Uncounted::Uncounted(Pool& pool) : pool_(pool) {
    if (!pool_.runtime_ || pool_.slot_ >= slot_count) return;
    pool_.medium_.fetch_add(&pool_.slot().uncounted, 1);
    pool_.medium_.fetch_add(&pool_.runtime_->header().uncounted, 1);
}

Pool::Uncounted::~Uncounted() {
    if (pool_.runtime_ && pool_.slot_ < slot_count)
        pool_.medium_.fetch_add(&pool_.slot().uncounted, ~std::uint64_t{0});
}

std::optional<std::uint64_t> Pool::all_is_counted(std::uint64_t own) const {
    if (!runtime_) return 0;
    const std::uint64_t number = Medium::load(&runtime_->header().uncounted);
    const std::uint64_t used = Medium::load(&runtime_->header().slots_used);
    for (std::uint64_t i = 0; i < used; ++i) {
        const Slot& slot = runtime_->slot(i);
        if (Medium::load(&slot.uncounted) <= (i == slot_ ? own : 0) || Medium::load(&slot.attached) == 0)
            continue;
        if (i == slot_ || !runtime_->is_dead(i)) return std::nullopt;
    }
    return number;
}

Pool::Placing::Placing(Pool& pool) : pool_(pool) {
    if (!pool_.runtime_ || pool_.slot_ >= slot_count) return;
    word_ = &pool_.slot().placing.at(Medium::load(&pool_.state().hierarchy.value) / 2 % 2);
    pool_.medium_.fetch_add(word_, 1);
}

Pool::Placing::~Placing() {
    if (word_ != nullptr) pool_.medium_.fetch_add(word_, ~std::uint64_t{0});
}

// Those that begin meanwhile count in the other word, so each of the two comes to nothing; and whoever begins sees the hierarchy as it is.
void Pool::await_placings() {
    std::uint64_t* const hierarchy = &state().hierarchy.value;
    for (int word = 0; word < 2; ++word) {
        const std::uint64_t before = medium_.fetch_add(hierarchy, 2) / 2 % 2;
        const std::uint64_t used = Medium::load(&runtime_->header().slots_used);
        for (std::uint64_t i = 0; i < used; ++i) {
            std::optional<Patience> patience;
            const auto is_placing = [&] {
                return Medium::load(&runtime_->slot(i).placing.at(before)) != 0 &&
                       Medium::load(&runtime_->slot(i).attached) != 0 &&
                       (i == slot_ || !runtime_->is_dead(i));
            };
            while (is_placing()) {
                if (!patience)
                    patience.emplace(path(), "storing into a target", runtime_->file(),
                                     Runtime::owner_byte(i), nullptr);
                patience->nap();
            }
        }
    }
}

}  // namespace pmemcpy::pool
