// Who is in a step, and which step a process has died in (law 11).
//
// A slot says which step its owner has begun. One that dies in a step that is not committed may have stored only a part
// of what belongs to it; the step is broken then, and stays so until somebody begins it anew when none that were in it
// are left.
// Modelled in tests/model/deaths.hpp.

#include "pool/estate.hpp"
#include "pool/pool.hpp"

#include <algorithm>
#include <atomic>

namespace pmemcpy::pool {

using persist::Medium;

namespace {

/// Of the word in a slot: its owner is only about to enter that step, and has stored nothing in it.
constexpr std::uint64_t is_entering = Pool::last_step + 1;

}  // namespace

void Pool::enter_step(std::uint64_t step) { medium_.store(&slot().step, step); }

// A process that drops what an abandoned step has left first asks who is in it; one that enters it first looks whether it is broken. Each
// says what it does before it looks, with a fence between, so that one of the two sees the other: this one sees the mark and does
// not enter, or the other sees this one and drops nothing, or turns it away while it has only said that it will enter.
bool Pool::enter_step_unless_broken(std::uint64_t step) {
    for (;;) {
        std::uint64_t entering = step | is_entering;
        medium_.store(&slot().step, entering);
        std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the one of turn_away_entering
        if (!persist::still(broken_step() == 0)) {
            medium_.store(&slot().step, 0);
            return false;
        }
        if (medium_.compare_exchange(&slot().step, entering, step)) return true;
    }
}

void Pool::turn_away_entering() {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the one of enter_step_unless_broken
    const std::uint64_t used = Medium::load(&runtime_->header().slots_used);
    for (std::uint64_t i = 0; i < used; ++i) {
        std::uint64_t* const word = &runtime_->slot(i).step;
        std::uint64_t step = Medium::load(word);
        if ((step & is_entering) != 0) static_cast<void>(medium_.compare_exchange(word, step, 0));
    }
}

std::uint64_t Pool::open_step_of(std::uint64_t i) const {
    const Slot& other = runtime_->slot(i);
    if (Medium::load(&other.attached) == 0) return 0;
    const std::uint64_t step = Medium::load(&other.step);
    return (step & is_entering) == 0 && step > committed_step() ? step : 0;
}

// Each caller has a fence between this and the first record that it retires: from then on another thread may free that record.
void Pool::vouch_for_committed_step() const {
    medium_.flush(&state().committed_step.value, sizeof(std::uint64_t));
}

void Pool::know_committed(std::uint64_t step) {
    std::uint64_t before = known_committed_.load(std::memory_order_relaxed);
    while (before < step &&
           !known_committed_.compare_exchange_weak(before, step, std::memory_order_relaxed)) {
    }
}

bool Pool::publish_step(std::uint64_t step) {
    std::uint64_t* committed = &state().committed_step.value;
    std::uint64_t before = Medium::load(committed);
    while (before < step && !medium_.compare_exchange(committed, before, step)) {
    }
    if (before < step) medium_.persist(committed, sizeof *committed);
    return before < step;
}

std::uint64_t Pool::broken_step() const {
    const std::uint64_t lowest = Medium::load(&state().broken_step.value);
    return lowest > committed_step() ? lowest : 0;
}

// Asks the kernel about each process that is in a step; so this is for who comes or commits, not for who begins.
void Pool::notice_deaths_in_step() {
    const std::uint64_t used = Medium::load(&runtime_->header().slots_used);
    for (std::uint64_t i = 0; i < used; ++i) {
        if (i == slot_ || open_step_of(i) == 0 || !runtime_->is_dead(i)) continue;
        // Another may have come first. It has noted the death when it lets go, and somebody living may be there by then.
        const std::lock_guard one_thread(scavenge_mutex_);
        const Estate estate(*this, i, Estate::Others::await);
        if (runtime_->is_dead(i)) note_death_in_step(i);
    }
}

bool Pool::others_in_step() const {
    const std::uint64_t used = Medium::load(&runtime_->header().slots_used);
    for (std::uint64_t i = 0; i < used; ++i) {
        if (i != slot_ && open_step_of(i) != 0 && !runtime_->is_dead(i)) return true;
    }
    return false;
}

void Pool::note_death_in_step(std::uint64_t i) {
    const std::uint64_t step = open_step_of(i);
    if (step == 0) return;
    std::uint64_t* broken = &state().broken_step.value;
    std::uint64_t before = Medium::load(broken);
    for (;;) {
        const bool still_open = before > committed_step();
        if ((still_open && before <= step) || medium_.compare_exchange(broken, before, step)) break;
    }
}

void Pool::abandon_step() {
    note_death_in_step(slot_);
    enter_step(0);
}

void Pool::forget_broken_step(std::uint64_t step) {
    // Nobody has begun what was dropped; so it cannot be committed by mistake.
    medium_.store(&state().begun_step.value, std::max(committed_step(), step - 1));
    // A death in an earlier step, of which another process has told meanwhile, is not forgotten.
    static_cast<void>(medium_.compare_exchange(&state().broken_step.value, step, 0));
}

}  // namespace pmemcpy::pool
