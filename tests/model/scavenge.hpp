#pragma once

// What others do after a death: the intent of the dead one's slot, its claimed units, its retire list.

#include "retire.hpp"

namespace pmemcpy::model {

struct Scavenge : Retire {
    // models Catalog::is_reachable and is_previous, of a value
    Move is_reachable(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        STEP("is_current(record)?");
        if (!is_current(s, f.a)) RETURN(0);
        for (;;) {
            STEP("newest = load(home)");
            f.b = s.word;
            if (Link::alive(f.b) == f.a) RETURN(1);
            for (f.c = f.b; f.c != 0;) {
                STEP("previous of a newer one");
                if (!is_current(s, f.c)) break;
                f.c = unit(s, f.c).previous;
                if (f.c == f.a) RETURN(1);
            }
            STEP("load(home) == newest?");
            if (s.word == f.b) RETURN(0);
        }
        MODEL_END;
    }

    // models Heap::finish_step
    Move finish_step(State& s, int p, Frame& f, Said& said) const {
        Slot& its = slot(s, p);
        MODEL_BEGIN;
        CALL(Verb::reclaim_locked);
        if (its.intent == replacing) {
            CALL(Verb::is_reachable, its.step_a);
            if (result(s, p)) {
                STEP("old = header.word of fresh");
                f.a = unit(s, its.step_a).word;
                if (mends.finish_step_looks_twice) {
                    STEP("is_current(fresh) again?");
                    if (!is_current(s, its.step_a)) f.a = 0;
                }
                if (Link::is_dead(f.a)) {
                    CALL(Verb::claim, f.a);
                    STEP("CAS(header.word of fresh, old, 0)");
                    if (unit(s, its.step_a).word == f.a) unit(s, its.step_a).word = 0;
                }
            }
            STEP("previous of old");
            f.b = is_current(s, its.step_b) ? unit(s, its.step_b).previous : 0;
            CALL(Verb::is_reachable, its.step_b);
            if (!result(s, p)) CALL(Verb::claim, its.step_b);
            if (!mends.finish_step_takes_previous) f.b = 0;
            if (mends.intent_names_previous) f.b = its.step_c;
            if (f.b != 0) {
                CALL(Verb::is_reachable, f.b);
                if (!result(s, p)) CALL(Verb::claim, f.b);
            }
        }
        STEP("step_intent = 0");
        its.intent = nothing;
        MODEL_END;
    }

    // models Heap::sweep_slabs and sweep_record
    Move sweep(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        for (f.a = 1; f.a <= units; ++f.a) {
            if (s.unit[f.a].slab != name(s, p)) continue;
            STEP("taken = state of a unit");
            f.b = s.unit[f.a].state;
            if (UnitState::kind(f.b) != UnitState::owned) continue;
            STEP("is_whole?");
            if (s.unit[f.a].magic == 0) {
                STEP("CAS(state, taken, 0)");
                if (s.unit[f.a].state == f.b) s.unit[f.a].state = 0;
                continue;
            }
            f.c = Link::make(f.a, s.unit[f.a].version);
            CALL(Verb::is_reachable, f.c);
            if (!result(s, p)) CALL(Verb::claim, f.c, 1);
        }
        MODEL_END;
    }

    // models Pool::scavenge_dead for one slot, with Catalog::scavenge
    Move scavenge(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        STEP("is_dead(slot)?");
        if (s.slot[f.a].attached == 0 || s.process[f.a].dead == 0) RETURN(0);
        STEP("lock the estate");
        if (s.slot[f.a].estate != 0) return Move::wait;
        s.slot[f.a].estate = static_cast<std::uint8_t>(p + 1);
        STEP("is_dead(slot) still?");
        if (s.slot[f.a].attached != 0) {
            s.slot[p].name = f.a;
            CALL(Verb::finish_step);
            CALL(Verb::sweep);
            CALL(Verb::reclaim_locked);
            STEP("attached = 0");
            s.slot[f.a].attached = 0;
            s.slot[p].name = static_cast<std::uint8_t>(p);
        }
        STEP("unlock the estate");
        s.slot[f.a].estate = 0;
        MODEL_END;
    }
};

}  // namespace pmemcpy::model
