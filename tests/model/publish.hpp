#pragma once

// Publishing a value over another one: a sealed record, whose `word` says what it replaces, and one CAS on the entry's word; with the
// older version that a step keeps behind an uncommitted one.

#include "scavenge.hpp"

namespace pmemcpy::model {

enum class Task : std::uint8_t { none, store, store_in_step, drop, scavenge };

struct Publish : Scavenge {
    static constexpr int most_tasks = 3;
    static constexpr int step_one = 1;  // never committed here
    Row<Row<Task, most_tasks>, workers> tasks{};
    Row<std::uint8_t, units + 1> slab_of{};  // owner of each unit's slab
    bool starts_in_step = false;             // an uncommitted version over a committed one

    State initial() const {
        State s{};
        for (std::size_t u = 1; u <= units; ++u) s.unit[u].slab = slab_of[u];
        s.next_version = 1;
        publish_at_first(s, 1, 0);
        if (starts_in_step) publish_at_first(s, 2, step_one);
        for (std::size_t p = 0; p < workers; ++p) {
            s.slot[p].name = static_cast<std::uint8_t>(p);
            s.slot[p].attached = 1;
            if (tasks[p][0] != Task::none) call(s.process[p], Verb::worker);
        }
        s.slot[janitor].name = janitor;
        call(s.process[janitor], Verb::last_one_out);
        return s;
    }

    const char* fault(const State& s) const {
        if (s.next_version > 15) return "the model's tags are too narrow";
        if (!is_owned(s, s.word)) return "a published value is lost";
        const Unit& newest = s.unit[Link::unit(s.word)];
        if (newest.step != 0 && newest.previous != 0 && !is_owned(s, newest.previous))
            return "the version that readers need is lost";
        for (std::size_t p = 0; p < workers; ++p)
            if (s.slot[p].draft != 0 && UnitState::kind(s.unit[s.slot[p].draft].state) != UnitState::owned)
                return "a unit is freed that somebody writes into";
        return nullptr;
    }

    const char* fault_at_rest(const State& s) const {
        for (std::size_t u = 1; u <= units; ++u) {
            const Unit& unit = s.unit[u];
            const int link = Link::make(static_cast<int>(u), unit.version);
            const Unit& newest = s.unit[Link::unit(s.word)];
            if (unit.state != 0 && link != s.word && link != newest.previous)
                return "a unit is lost for ever";
        }
        return nullptr;
    }

    Move run(State& s, int p, Frame& f, Said& said) const {
        using Function = Move (Publish::*)(State&, int, Frame&, Said&) const;
        static constexpr std::array<Function, 13> functions = {
            &Publish::worker,          &Publish::last_one_out,
            &Publish::claim,           &Publish::push_unless_listed,
            &Publish::reclaim_locked,  &Publish::finish_freeing,
            &Publish::is_reachable,    &Publish::finish_step,
            &Publish::sweep,           &Publish::scavenge,
            &Publish::publish_value,   &Publish::replace,
            &Publish::drop_uncommitted};
        return (this->*functions.at(f.function))(s, p, f, said);
    }

    static bool is_owned(const State& s, int link) {
        return is_current(s, link) && UnitState::kind(s.unit[Link::unit(link)].state) == UnitState::owned;
    }
    static void publish_at_first(State& s, int u, int step) {
        Unit& unit = s.unit[u];
        unit.magic = 1;
        unit.version = s.next_version++;
        unit.state = UnitState::make(UnitState::owned, unit.slab);
        unit.step = static_cast<std::uint8_t>(step);
        unit.previous = s.word;
        s.word = Link::make(u, unit.version);
    }

    Move worker(State& s, int p, Frame& f, [[maybe_unused]] Said& said) const {
        MODEL_BEGIN;
        for (f.a = 0; f.a < most_tasks; ++f.a) {
            if (task(p, f) == Task::store || task(p, f) == Task::store_in_step) {
                CALL(Verb::publish_value, task(p, f) == Task::store ? 0 : step_one);
                CALL(Verb::reclaim_locked);
            } else if (task(p, f) == Task::drop) {
                CALL(Verb::drop_uncommitted);
                CALL(Verb::reclaim_locked);
            } else if (task(p, f) == Task::scavenge) {
                for (f.b = 0; f.b < workers; ++f.b)
                    if (f.b != p) CALL(Verb::scavenge, f.b);
            }
        }
        MODEL_END;
    }
    Task task(int p, const Frame& f) const { return tasks[p][f.a]; }

    // When all others are gone, as Pool::close_alone does
    Move last_one_out(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        STEP("all others are gone");
        for (int other = 0; other < workers; ++other)
            if (!s.process[other].is_gone()) return Move::wait;
        for (f.b = 0; f.b < workers; ++f.b) CALL(Verb::scavenge, f.b);
        MODEL_END;
    }

    // models Heap::claim_at and Store::publish_value
    Move publish_value(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, step, fresh, old, previous, old_step] = f;
        MODEL_BEGIN;
        STEP("CAS(state of a free unit, 0, owned)");
        for (fresh = 1; fresh <= units && (s.unit[fresh].slab != p || s.unit[fresh].state != 0);) ++fresh;
        if (fresh > units) RETURN(0);  // no space
        s.unit[fresh].state = UnitState::make(UnitState::owned, p, ++s.slot[p].claims);
        s.slot[p].draft = fresh;
        STEP("Draft::write_header");
        s.unit[fresh].version = s.unit[fresh].next = s.unit[fresh].word = 0;
        s.unit[fresh].step = step;
        for (;;) {
            STEP("old = load(word)");
            old = s.word;
            STEP("read_record(old)");
            if (!is_current(s, old)) continue;
            previous = unit(s, old).previous;
            old_step = unit(s, old).step;
            STEP("value.previous");
            s.unit[fresh].previous = step == 0 ? 0 : step != old_step ? old : previous;
            STEP("header.word = what it replaces");
            s.unit[fresh].word = step != 0 && step != old_step ? 0 : Link::dead(old);
            STEP("seal: version");
            s.unit[fresh].version = s.next_version++;
            STEP("seal: magic");
            s.unit[fresh].magic = 1;
            if (step != 0 && step != old_step) {
                STEP("CAS(word, old, fresh)");
                if (s.word != old) continue;
                s.word = Link::make(fresh, s.unit[fresh].version);
                s.slot[p].draft = 0;
                RETURN(1);
            }
            if (mends.intent_names_previous) {
                STEP("step_c = previous");
                s.slot[p].step_c = step == 0 ? previous : 0;
            }
            CALL(Verb::replace, old, Link::make(fresh, s.unit[fresh].version));
            if (!result(s, p)) continue;
            if (step == 0 && previous != 0) CALL(Verb::claim, previous);
            if (mends.intent_ends_last) {
                STEP("step_intent = 0, last");
                s.slot[p].intent = nothing;
            }
            RETURN(1);
        }
        MODEL_END;
    }

    // models Heap::replace
    Move replace(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        STEP("step_a, step_b");
        s.slot[p].step_a = f.b;
        s.slot[p].step_b = f.a;
        STEP("step_intent = replace");
        s.slot[p].intent = replacing;
        STEP("CAS(word, old, fresh)");
        f.c = s.word == f.a ? 1 : 0;
        if (f.c != 0) {
            s.word = f.b;
            s.slot[p].draft = 0;
            CALL(Verb::claim, f.a);
            STEP("CAS(header.word of fresh, old, 0)");
            if (unit(s, f.b).word == Link::dead(f.a)) unit(s, f.b).word = 0;
        }
        if (f.c == 0 || !mends.intent_ends_last) {
            STEP("step_intent = 0");
            s.slot[p].intent = nothing;
        }
        RETURN(f.c);
        MODEL_END;
    }

    // models Store::drop_uncommitted: the version before takes its place again
    Move drop_uncommitted(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        for (;;) {
            STEP("definition = load(word)");
            f.a = s.word;
            STEP("read_record(definition)");
            if (!is_current(s, f.a)) continue;
            if (unit(s, f.a).step == 0) RETURN(0);
            f.b = unit(s, f.a).previous;
            STEP("is_current(previous)?");
            if (!is_current(s, f.b)) continue;
            if (mends.intent_names_previous) {
                STEP("step_c = none");
                s.slot[p].step_c = 0;
            }
            CALL(Verb::replace, f.a, f.b);
            if (mends.intent_ends_last && result(s, p)) {
                STEP("step_intent = 0, last");
                s.slot[p].intent = nothing;
            }
        }
        MODEL_END;
    }
};

}  // namespace pmemcpy::model
