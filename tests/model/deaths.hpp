#pragma once

// Of steps: who is in one, and how others learn that a process has died in one. There are two steps, 1 and 2.

#include "checker.hpp"

namespace pmemcpy::model {

struct StepWords {
    static constexpr int workers = 3;
    static constexpr std::size_t items = 2;
    enum class Verb : std::uint8_t {
        worker,
        begin,
        enter_unless_broken,
        commit,
        abandon,
        drop,
        scavenge_dead,
        notice_deaths,
        note_death
    };
    struct Slot {
        std::uint8_t attached, step, estate, in_step, died_in, broke_one;
        Row<std::uint8_t, items> stored, acknowledged;  // in which step, and 0 where there is nothing
    };
    struct State {
        Row<Process, workers> process;
        Row<Slot, workers> slot;
        std::uint8_t committed, broken, begun, step_lock, deaths, wrong;
    };

    /// Of a slot's step: its owner is only about to enter that.
    static constexpr std::uint8_t is_entering = 8;

    static bool open_step_of(const State& s, int i) {
        const Slot& slot = s.slot[i];
        return slot.attached != 0 && (slot.step & is_entering) == 0 && slot.step > s.committed;
    }
    static bool is_dead(const State& s, int i) { return s.slot[i].attached != 0 && s.process[i].dead != 0; }
    static bool is_broken(const State& s) { return s.broken > s.committed; }

    // models Pool::scavenge_dead and clean_up_after_dead
    Move scavenge_dead(State& s, int p, Frame& f, Said& said) const {
        auto& i = f.a;
        MODEL_BEGIN;
        for (i = 0; i < workers; ++i) {
            if (i == p) continue;
            STEP("is_dead(slot)?");
            if (!is_dead(s, i)) continue;
            STEP("lock the estate");
            if (s.slot[i].estate != 0) return Move::wait;
            s.slot[i].estate = static_cast<std::uint8_t>(p + 1);
            if (is_dead(s, i)) {
                CALL(Verb::note_death, i);
                STEP("step of the dead = 0");
                s.slot[i].step = 0;
                STEP("attached of the dead = 0");
                s.slot[i].attached = 0;
            }
            STEP("unlock the estate");
            s.slot[i].estate = 0;
        }
        MODEL_END;
    }

    // models Pool::notice_deaths_in_step
    Move notice_deaths(State& s, int p, Frame& f, Said& said) const {
        auto& i = f.a;
        MODEL_BEGIN;
        for (i = 0; i < workers; ++i) {
            if (i == p) continue;
            STEP("has one died in a step?");
            if (!open_step_of(s, i) || !is_dead(s, i)) continue;
            STEP("lock the estate");
            if (s.slot[i].estate != 0) return Move::wait;
            s.slot[i].estate = static_cast<std::uint8_t>(p + 1);
            if (is_dead(s, i)) CALL(Verb::note_death, i);
            STEP("unlock the estate");
            s.slot[i].estate = 0;
        }
        MODEL_END;
    }

    // models Pool::note_death_in_step
    Move note_death(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        STEP("open_step_of(slot)");
        if (!open_step_of(s, f.a)) RETURN(0);
        f.b = s.slot[f.a].step;
        STEP("broken_step = min(broken_step, step)");
        if (!is_broken(s) || s.broken > f.b) s.broken = f.b;
        if (f.b == 1) s.slot[f.a].broke_one = 1;
        MODEL_END;
    }
};

}  // namespace pmemcpy::model
