#pragma once

// Steps: when what was stored in one is dropped, and when it is committed.

#include "deaths.hpp"

namespace pmemcpy::model {

/// What begin does about a step that somebody has died in.
enum class Begin : std::uint8_t {
    looks_first,            // and then enters, as review found it
    starts_over_in_it,      // looks again after entering, and starts over without leaving
    starts_over,            // leaves before it starts over
    starts_over_once,       // and goes on when somebody living keeps the step broken
    enters_under_the_lock,  // looks again after entering, and leaves; then drops and enters under one StepLock
};

struct Step : StepWords {
    enum class Task : std::uint8_t {
        none,
        notice_deaths,
        begin_one,
        begin_two,
        store_first,
        store_second,
        commit_one,
        abandon,
        leave
    };

    static constexpr std::uint8_t abandoned = 3;  // acknowledged, of what was given up

    Begin begins = Begin::looks_first;
    bool takes_lock = false;     // to commit, and to abandon
    bool minds_refusals = true;  // of a commit, by a process that has begun the step
    int most_deaths = 1;
    Row<Row<Task, 5>, workers> tasks{};

    State initial() const {
        State s{};
        for (std::size_t p = 0; p < workers; ++p) {
            s.slot[p].attached = 1;
            if (tasks[p][0] != Task::none) call(s.process[p], Verb::worker);
        }
        return s;
    }
    bool may_die(int) const { return true; }
    bool runs_through(int) const { return false; }
    void die(State& s, int p) const {
        for (Slot& slot : s.slot)
            if (slot.estate == p + 1) slot.estate = 0;
        if (s.step_lock == p + 1) s.step_lock = 0;
        s.slot[p].died_in = open_step_of(s, p) ? s.slot[p].step : 0;
        s.slot[p].in_step = 0;
    }
    const char* fault(const State& s) const {
        switch (s.wrong) {
            case 1:
                return "a committed step lacks what somebody living has stored in it";
            case 2:
                return "a step was committed with a half of what a process has stored in it";
            case 3:
                return "a step was committed that a process had died in";
            case 4:
                return "a process that has begun a step is told that nobody has";
            case 5:
                return "a step was committed with what had been abandoned";
            default:
                return nullptr;
        }
    }
    const char* fault_at_rest(const State&) const { return nullptr; }

    Move run(State& s, int p, Frame& f, Said& said) const {
        using Function = Move (Step::*)(State&, int, Frame&, Said&) const;
        static constexpr std::array<Function, 8> functions = {
            &Step::worker, &Step::begin,         &Step::commit,        &Step::abandon,
            &Step::drop,   &Step::scavenge_dead, &Step::notice_deaths, &Step::note_death};
        return (this->*functions.at(f.function))(s, p, f, said);
    }

    Move worker(State& s, int p, Frame& f, Said& said) const {
        Slot& mine = s.slot[p];
        MODEL_BEGIN;
        for (f.a = 0; f.a < tasks[p].size(); ++f.a) {
            if (tasks[p][f.a] == Task::notice_deaths) CALL(Verb::notice_deaths);
            if (tasks[p][f.a] == Task::begin_one) CALL(Verb::begin, 1);
            if (tasks[p][f.a] == Task::begin_two) CALL(Verb::begin, 2);
            if (tasks[p][f.a] == Task::commit_one) CALL(Verb::commit);
            if (tasks[p][f.a] == Task::abandon) CALL(Verb::abandon);
            if ((tasks[p][f.a] == Task::store_first || tasks[p][f.a] == Task::store_second) &&
                mine.in_step != 0) {
                STEP("a store in the step is published");
                f.b = tasks[p][f.a] == Task::store_first ? 0 : 1;
                mine.stored[f.b] = mine.acknowledged[f.b] = mine.in_step;
            }
            if (tasks[p][f.a] == Task::leave) {
                STEP("slot.step = 0, on leaving");
                mine.step = mine.in_step = 0;
                STEP("attached = 0");
                mine.attached = 0;
            }
        }
        MODEL_END;
    }

    // models Store::begin
    Move begin(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, step, was_broken, tries, unused, unused_too] = f;
        Slot& mine = s.slot[p];
        MODEL_BEGIN;
        STEP("is_committed(step)?");
        if (step <= s.committed) RETURN(0);
        for (;;) {
            STEP("broken_step() != 0?");
            was_broken = is_broken(s) ? 1 : 0;
            if (was_broken != 0) CALL(Verb::drop, begins == Begin::enters_under_the_lock ? step : 0);
            if (was_broken != 0 && begins == Begin::enters_under_the_lock) break;
            STEP("slot.step = step");
            mine.step = step;
            if (begins == Begin::looks_first) break;
            STEP("broken_step() != 0 after entering?");
            if (!is_broken(s)) break;
            if (begins == Begin::starts_over_once && ++tries == 2) break;
            if (begins == Begin::starts_over_in_it) continue;
            STEP("slot.step = 0, to start over");
            mine.step = 0;
        }
        STEP("begun_step = max(begun_step, step)");
        s.begun = std::max(s.begun, step);
        mine.in_step = step;
        MODEL_END;
    }

    // models Store::commit, of step 1
    Move commit(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, was_in, broken, dead_before, locked, unused] = f;
        Slot& mine = s.slot[p];
        MODEL_BEGIN;
        STEP("is_committed(step)?");
        if (s.committed != 0) RETURN(0);
        if (takes_lock) {
            STEP("StepLock");
            if (s.step_lock != 0) return Move::wait;
            s.step_lock = static_cast<std::uint8_t>(p + 1);
            locked = 1;
        }
        for (int i = 0; i < workers; ++i)
            if (s.slot[i].died_in == 1) dead_before |= static_cast<std::uint8_t>(1U << i);
        was_in = mine.in_step;
        STEP("begun_step < step?");
        if (s.begun == 0) {
            if (was_in != 0 && s.committed == 0 && minds_refusals) s.wrong = 4;
            if (locked != 0) s.step_lock = 0;
            RETURN(0);
        }
        CALL(Verb::notice_deaths);
        STEP("broken_step() <= step?");
        broken = is_broken(s) ? s.broken : 0;
        if (broken != 1) {
            STEP("committed_step = step");
            if (s.committed == 0) judge(s, dead_before);
            s.committed = 1;
            mine.in_step = 0;
        }
        if (locked != 0) {
            STEP("unlock StepLock");
            s.step_lock = 0;
        }
        if (broken != 1 || was_in == 0) {
            STEP("slot.step = 0");
            mine.step = 0;
        }
        MODEL_END;
    }

    static void judge(State& s, unsigned dead_before) {
        for (int i = 0; i < workers; ++i) {
            const Slot& slot = s.slot[i];
            bool is_there = false;
            bool lacks = false;
            for (std::size_t k = 0; k < items; ++k) {
                if (slot.acknowledged[k] == abandoned && slot.stored[k] == 1) s.wrong = 5;
                if (slot.acknowledged[k] != 1) continue;
                is_there |= slot.stored[k] != 0;
                lacks |= slot.stored[k] == 0;
            }
            if (slot.in_step != 0 && lacks) s.wrong = 1;
            if (is_there && lacks) s.wrong = 2;
            if (is_there && (dead_before >> i & 1U) != 0) s.wrong = 3;
        }
    }

    // models Store::abandon and Pool::abandon_step
    Move abandon(State& s, int p, Frame& f, Said& said) const {
        Slot& mine = s.slot[p];
        MODEL_BEGIN;
        if (mine.in_step == 0) RETURN(0);
        if (takes_lock) {
            STEP("StepLock");
            if (s.step_lock != 0) return Move::wait;
            s.step_lock = static_cast<std::uint8_t>(p + 1);
            if (mine.in_step <= s.committed) {  // an error
                mine.step = mine.in_step = s.step_lock = 0;
                RETURN(0);
            }
        }
        mine.in_step = 0;
        CALL(Verb::note_death, p);
        STEP("slot.step = 0");
        mine.step = 0;
        mine.acknowledged = {};
        CALL(Verb::drop);
        for (std::size_t k = 0; k < items; ++k)
            if (s.committed == 0 && mine.stored[k] == 1) mine.acknowledged[k] = abandoned;
        MODEL_END;
    }

    // models Store::drop_abandoned_step and Pool::forget_broken_step
    Move drop(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, enters, i, k, in_it, unused] = f;
        MODEL_BEGIN;
        if (s.step_lock != p + 1) {
            STEP("StepLock");
            if (s.step_lock != 0) return Move::wait;
            s.step_lock = static_cast<std::uint8_t>(p + 1);
        }
        CALL(Verb::scavenge_dead);
        STEP("broken_step() == 0?");
        in_it = is_broken(s) ? 0 : 1;
        for (i = 0; i < workers && in_it == 0; ++i) {
            if (i == p) continue;
            STEP("is another in the step?");
            if (open_step_of(s, i) && s.process[i].dead == 0) in_it = 1;
        }
        if (in_it == 0) {
            for (i = 0; i < workers; ++i) {
                for (k = 0; k < items; ++k) {
                    if (s.slot[i].stored[k] == 0) continue;
                    STEP("drop_uncommitted");
                    if (s.slot[i].stored[k] > s.committed) s.slot[i].stored[k] = 0;
                }
            }
            STEP("begun_step = committed_step");
            s.begun = s.committed;
            STEP("broken_step = 0");
            s.broken = 0;
        }
        if (enters != 0) {
            STEP("slot.step = step, under the lock");
            s.slot[p].step = enters;
        }
        STEP("unlock StepLock");
        s.step_lock = 0;
        MODEL_END;
    }
};

}  // namespace pmemcpy::model
