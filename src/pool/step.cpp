// Who is in a step, and which step a process has died in (law 11).
//
// A slot says which step its owner has begun. One that dies in a step that is not committed may have stored only a part
// of what belongs to it; the step is broken then, and stays so until somebody begins it anew when none that were in it
// are left.

#include "pool/estate.hpp"
#include "pool/pool.hpp"

namespace pmemcpy::pool {

using persist::Medium;

void Pool::enter_step(std::uint64_t step) { medium_.store(&slot().step, step); }

std::uint64_t Pool::open_step_of(std::uint64_t i) const {
    const Slot& other = runtime_->slot(i);
    if (Medium::load(&other.attached) == 0) return 0;
    const std::uint64_t step = Medium::load(&other.step);
    return step > committed_step() ? step : 0;
}

void Pool::vouch_for_committed_step() const {
    medium_.flush(&state().committed_step.value, sizeof(std::uint64_t));
    // No image shows it: each caller has a fence of his own before he frees anything. But another thread's reclaim may not wait.
    medium_.fence();
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
        const Estate estate(*runtime_, i, Estate::Others::await);
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

void Pool::forget_broken_step() {
    // Nobody has begun what was dropped; so it cannot be committed by mistake.
    medium_.store(&state().begun_step.value, committed_step());
    medium_.store(&state().broken_step.value, 0);
}

}  // namespace pmemcpy::pool
