// Which names there are is asked more often than it changes. So a process may keep what it has seen, as long as this word says that it
// still is so: {changes that were begun, 48 bits; those of them that are on their way, 16 bits}.
//
// It is no part of what lasts, so it is neither flushed nor traced. Where a process dies within a change the count of those on their way
// stays too high, and all look for themselves until somebody is alone in the pool.

#include "pool/pool.hpp"

#include <atomic>

namespace pmemcpy::pool {

using persist::Medium;

namespace {

constexpr std::uint64_t on_their_way = 0xffff;
constexpr std::uint64_t one_begun = on_their_way + 1;

}  // namespace

Pool::NamesChange::NamesChange(Pool& pool) : pool_(pool) {
    std::atomic_ref(pool_.state().names.value).fetch_add(one_begun + 1);
}

Pool::NamesChange::~NamesChange() { std::atomic_ref(pool_.state().names.value).fetch_sub(1); }

std::optional<std::uint64_t> Pool::names_count() const {
    // What was read before is not read after it.
    std::atomic_thread_fence(std::memory_order_acquire);
    const std::uint64_t word = Medium::load(&state().names.value);
    return (word & on_their_way) == 0 ? std::optional(word) : std::nullopt;
}

// Alone in the pool. What mere readers have kept of before is not believed either.
void Pool::end_changes_of_names() {
    std::uint64_t& word = state().names.value;
    std::atomic_ref(word).store((word | on_their_way) + 1);
}

}  // namespace pmemcpy::pool
