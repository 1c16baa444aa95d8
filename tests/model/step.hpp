#pragma once

// Steps: when what was stored in one is dropped, and when it is committed.

#include "deaths.hpp"

namespace pmemcpy::model {

struct Step : StepWords {
    enum class Task : std::uint8_t {
        none,
        come,  // to an open pool
        begin_one,
        begin_two,
        store_first,
        store_second,
        commit_one,
        abandon,
        leave
    };

    static constexpr std::uint8_t abandoned = 3;  // acknowledged, of what was given up

    // What the protocol says is needed: each can be left out.
    bool says_that_it_enters = true;  // before it looks whether a step is broken
    bool is_turned_away = true;       // by one that drops, as long as it only enters
    bool takes_lock = true;           // to commit, and to abandon
    bool drops_the_broken = true;     // and later steps; else all that are not committed
    bool exchanges_the_note = true;   // of the step that it has dropped, and looks again
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
            case 6:
                return "a step before a broken one was dropped with it";
            default:
                return nullptr;
        }
    }
    const char* fault_at_rest(const State&) const { return nullptr; }

    Move run(State& s, int p, Frame& f, Said& said) const {
        using Function = Move (Step::*)(State&, int, Frame&, Said&) const;
        static constexpr std::array<Function, 9> functions = {
            &Step::worker, &Step::begin,         &Step::enter_unless_broken, &Step::commit,    &Step::abandon,
            &Step::drop,   &Step::scavenge_dead, &Step::notice_deaths,       &Step::note_death};
        return (this->*functions.at(f.function))(s, p, f, said);
    }

    Move worker(State& s, int p, Frame& f, Said& said) const {
        Slot& mine = s.slot[p];
        MODEL_BEGIN;
        for (f.a = 0; f.a < tasks[p].size(); ++f.a) {
            if (tasks[p][f.a] == Task::come) CALL(Verb::scavenge_dead);
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

    // models Store::begin and go_on_in
    Move begin(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, step, is_in_one, locked, unused, unused_too] = f;
        Slot& mine = s.slot[p];
        MODEL_BEGIN;
        STEP("is_committed(step)?");
        if (step <= s.committed) RETURN(0);
        is_in_one = mine.in_step > s.committed ? 1 : 0;
        if (is_in_one != 0) {
            STEP("slot.step = step, of one that is in one");
            mine.step = step;
            STEP("broken_step() == 0?");
            if (is_broken(s)) CALL(Verb::drop, step);
        } else {
            CALL(Verb::enter_unless_broken, step);
            if (s.process[p].result == 0) CALL(Verb::drop, step);
        }
        locked = s.step_lock == p + 1 ? 1 : 0;
        STEP("is_committed(step) now?");
        if (step <= s.committed) {
            mine.step = mine.in_step;
        } else {
            STEP("begun_step = max(begun_step, step)");
            s.begun = std::max(s.begun, step);
            mine.in_step = step;
        }
        if (locked != 0) {
            STEP("unlock StepLock");
            s.step_lock = 0;
        }
        MODEL_END;
    }

    // models Pool::enter_step_unless_broken
    Move enter_unless_broken(State& s, int p, Frame& f, Said& said) const {
        Slot& mine = s.slot[p];
        MODEL_BEGIN;
        for (;;) {
            if (says_that_it_enters) {
                STEP("slot.step = step, entering");
                mine.step = static_cast<std::uint8_t>(f.a | is_entering);
            }
            STEP("broken_step() == 0?");
            f.b = is_broken(s) ? 1 : 0;
            if (f.b != 0) {
                STEP("slot.step = 0");
                mine.step = 0;
                RETURN(0);
            }
            STEP("slot.step: entering becomes step");
            if (says_that_it_enters && mine.step != (f.a | is_entering)) continue;
            mine.step = f.a;
            RETURN(1);
        }
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
            if (was_in != 0 && s.committed == 0) s.wrong = 4;
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
        if (broken != 1) {
            STEP("slot.step = 0");
            mine.step = 0;
        }
        MODEL_END;
    }

    static void judge(State& s, unsigned dead_before) {
        bool is_whole = true;  // nobody has died in it, and nobody has given it up
        for (const Slot& slot : s.slot) is_whole = is_whole && slot.died_in != 1 && slot.broke_one == 0;
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
            if (is_whole && lacks) s.wrong = 6;
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
        STEP("unlock StepLock");
        s.step_lock = 0;
        MODEL_END;
    }

    // models Store::drop_abandoned_step, Pool::turn_away_entering and Pool::forget_broken_step; the caller unlocks the StepLock
    Move drop(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, enters, i, k, broken, seen] = f;
        MODEL_BEGIN;
        if (s.step_lock != p + 1) {
            STEP("StepLock");
            if (s.step_lock != 0) return Move::wait;
            s.step_lock = static_cast<std::uint8_t>(p + 1);
        }
        CALL(Verb::scavenge_dead);
        for (i = 0; i < workers && is_turned_away; ++i) {
            STEP("is another entering?");
            seen = s.slot[i].step;
            if ((seen & is_entering) == 0) continue;
            STEP("slot.step: entering becomes 0");
            if (s.slot[i].step == seen) s.slot[i].step = 0;
        }
        for (;;) {
            STEP("broken_step() == 0?");
            broken = is_broken(s) ? s.broken : 0;
            for (i = 0; i < workers && broken != 0; ++i) {
                if (i == p) continue;
                STEP("is another in the step?");
                if (open_step_of(s, i) && s.process[i].dead == 0) broken = 0;
            }
            if (broken == 0) break;
            for (i = 0; i < workers; ++i) {
                for (k = 0; k < items; ++k) {
                    if (s.slot[i].stored[k] == 0) continue;
                    STEP("drop_from");
                    if (s.slot[i].stored[k] >= (drops_the_broken ? broken : s.committed + 1))
                        s.slot[i].stored[k] = 0;
                }
            }
            STEP("begun_step = max(committed_step, broken_step - 1)");
            s.begun = std::max<std::uint8_t>(s.committed, static_cast<std::uint8_t>(broken - 1));
            STEP("broken_step: what was dropped becomes 0");
            if (s.broken == broken || !exchanges_the_note) s.broken = 0;
            if (!exchanges_the_note) break;
        }
        STEP("slot.step = step, under the lock");
        s.slot[p].step = enters;
        MODEL_END;
    }
};

}  // namespace pmemcpy::model
