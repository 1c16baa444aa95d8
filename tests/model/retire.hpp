#pragma once

// From published to free: the state word, the retire list, `claiming` and `freeing`.

#include "words.hpp"

namespace pmemcpy::model {

struct Retire : Heap {
    // models Heap::claim
    Move claim(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, link, asks_reachable, before, replaced, unused] = f;
        MODEL_BEGIN;
        for (link = Link::alive(link);;) {
            STEP("before = header.state");
            before = unit(s, link).state;
            STEP("is_current(link)?");
            if (!is_current(s, link)) RETURN(0);
            STEP("replaced = header.word");
            replaced = unit(s, link).word;
            if (mends.claim_looks_twice) {
                STEP("is_current(link) again?");
                if (!is_current(s, link)) RETURN(0);
            }
            if (UnitState::kind(before) == UnitState::owned) {
                STEP("claiming = link");
                slot(s, p).claiming = link;
                STEP("CAS(header.state, before, retired)");
                if (unit(s, link).state == before) {
                    unit(s, link).state = UnitState::make(UnitState::retired, name(s, p));
                    STEP("header.next = retire_head");
                    unit(s, link).next = slot(s, p).retire_head;
                    STEP("retire_head = link");
                    slot(s, p).retire_head = link;
                }
                STEP("claiming = 0");
                slot(s, p).claiming = 0;
            } else if (UnitState::kind(before) == UnitState::retired &&
                       UnitState::owner(before) == name(s, p)) {
                CALL(Verb::push_unless_listed, link);
            }
            if (!Link::is_dead(replaced) || Link::unit(replaced) == 0) RETURN(0);
            link = Link::alive(replaced);
            if (asks_reachable != 0) {
                CALL(Verb::is_reachable, link);
                if (result(s, p)) RETURN(0);
            }
        }
        MODEL_END;
    }

    // models Heap::push_unless_listed; the list is of who holds the slot's estate alone
    Move push_unless_listed(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        for (f.b = slot(s, p).retire_head; f.b != 0; f.b = unit(s, f.b).next)
            if (f.b == f.a) RETURN(0);
        STEP("header.next = retire_head");
        unit(s, f.a).next = slot(s, p).retire_head;
        STEP("retire_head = link");
        slot(s, p).retire_head = f.a;
        MODEL_END;
    }

    // models Heap::reclaim_locked, where nothing is pinned
    Move reclaim_locked(State& s, int p, Frame& f, Said& said) const {
        Slot& mine = slot(s, p);
        MODEL_BEGIN;
        if (mine.claiming != 0) {
            STEP("state of what is being claimed, and is_current(claiming)?");
            if (unit(s, mine.claiming).state == UnitState::make(UnitState::retired, name(s, p)) &&
                is_current(s, mine.claiming))
                CALL(Verb::push_unless_listed, mine.claiming);
            STEP("claiming = 0");
            mine.claiming = 0;
        }
        if (mine.freeing != 0) {
            if (mine.retire_head == mine.freeing) {  // models Heap::unlist: without pins it is the first
                STEP("retire_head = next");
                mine.retire_head = unit(s, mine.freeing).next;
            }
            CALL(Verb::finish_freeing, mine.freeing);
        }
        while (mine.retire_head != 0) {
            STEP("is it retired?");
            f.a = mine.retire_head;
            if (UnitState::kind(unit(s, f.a).state) != UnitState::retired) break;
            f.b = unit(s, f.a).next;
            STEP("magic = 0");
            unit(s, f.a).magic = 0;
            STEP("freeing = link");
            mine.freeing = f.a;
            STEP("retire_head = next");
            mine.retire_head = f.b;
            CALL(Verb::finish_freeing, f.a);
        }
        MODEL_END;
    }

    // models Heap::finish_freeing
    Move finish_freeing(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        STEP("CAS(header.state, retired, 0)");
        if (unit(s, f.a).state == UnitState::make(UnitState::retired, name(s, p))) unit(s, f.a).state = 0;
        STEP("freeing = 0");
        slot(s, p).freeing = 0;
        MODEL_END;
    }
};

}  // namespace pmemcpy::model
