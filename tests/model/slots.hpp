#pragma once

// The slots of <pool>.rt: how a process takes one, and how it finds that the owner of one is dead. An owner holds the owner's lock of its
// slot; a process that cleans up in a slot, or takes it, holds its estate.

#include "checker.hpp"

namespace pmemcpy::model {

struct Slots {
    static constexpr int workers = 3;
    static constexpr int slots = 2;
    enum class Verb : std::uint8_t {
        work,
        read,
        enter_alone,
        recover,
        take_slot,
        clean_up_after_dead,
        detach,
        scavenge_dead
    };
    struct Slot {
        std::uint8_t attached, owner, estate, unfinished;  // unfinished: work that its owner left half done
    };
    struct State {
        Row<Process, workers> process;
        Row<Slot, slots> slot;
        Row<std::uint8_t, workers> is_in;
        std::uint8_t shared, alone,
            detaching;  // locks: who has the attach lock, shared and exclusive; the detach lock
        std::uint8_t clean, valid, session, forgotten, recovering, scavenges, deaths, unattended, wrong,
            unflushed;  // words of the dead, on line media
    };
    bool looks_again_at_slot =
        false;  // whether its owner has come and died since, before the slot is begun anew

    static bool is_dead(const State& s, int i) { return s.slot[i].attached != 0 && s.slot[i].owner == 0; }

    // models Pool::take_slot, try_slot, begin_slot and scavenge_some; says which slot, plus 1
    Move take_slot(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, i, left_behind, other, unused, unused_too] = f;
        MODEL_BEGIN;
        for (left_behind = 0; left_behind < 2; ++left_behind) {
            for (i = 0; i < slots; ++i) {
                STEP("attached == left_behind?");
                if (s.slot[i].attached != left_behind) continue;
                STEP("try_lock(estate)");
                if (s.slot[i].estate != 0) continue;
                s.slot[i].estate = static_cast<std::uint8_t>(p + 1);
                CALL(Verb::clean_up_after_dead, i);
                STEP("try_lock(owner)");
                if (s.slot[i].owner == 0) {
                    s.slot[i].owner = static_cast<std::uint8_t>(p + 1);
                    if (looks_again_at_slot) {
                        STEP("attached != 0 still?");
                        if (s.slot[i].attached != 0) {
                            STEP("unlock(owner)");
                            s.slot[i].owner = 0;
                            CALL(Verb::clean_up_after_dead, i);
                            STEP("lock(owner)");
                            s.slot[i].owner = static_cast<std::uint8_t>(p + 1);
                        }
                    }
                    STEP("attached = 0, and the rest of begin_slot");
                    s.slot[i].attached = 0;
                    s.forgotten |= s.slot[i].unfinished;
                    s.slot[i].unfinished = 0;
                    STEP("attached = 1");
                    s.slot[i].attached = 1;
                    STEP("unlock(estate)");
                    s.slot[i].estate = 0;
                    other = static_cast<std::uint8_t>(1 - i);
                    STEP("scavenge_some: is the other dead?");
                    if (!is_dead(s, other)) RETURN(i + 1);
                    STEP("try_lock(estate)");
                    if (s.slot[other].estate != 0) RETURN(i + 1);
                    s.slot[other].estate = static_cast<std::uint8_t>(p + 1);
                    CALL(Verb::clean_up_after_dead, other);
                    STEP("unlock(estate)");
                    s.slot[other].estate = 0;
                    RETURN(i + 1);
                }
                STEP("unlock(estate)");
                s.slot[i].estate = 0;
            }
        }
        MODEL_END;
    }

    // models Pool::clean_up_after_dead; the caller holds the estate
    Move clean_up_after_dead(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        STEP("is_dead?");
        if (!is_dead(s, f.a)) RETURN(0);
        STEP("scavenges + 1");
        s.scavenges = 1;
        STEP("scavenge");
        s.slot[f.a].unfinished = 0;
        STEP("attached of the dead = 0");
        s.slot[f.a].attached = 0;
        MODEL_END;
    }

    // models Pool::scavenge_dead
    Move scavenge_dead(State& s, int p, Frame& f, Said& said) const {
        auto& i = f.a;
        MODEL_BEGIN;
        for (i = 0; i < slots; ++i) {
            STEP("is_dead?");
            if (!is_dead(s, i)) continue;
            STEP("lock(estate)");
            if (s.slot[i].estate != 0) return Move::wait;
            s.slot[i].estate = static_cast<std::uint8_t>(p + 1);
            CALL(Verb::clean_up_after_dead, i);
            STEP("unlock(estate)");
            s.slot[i].estate = 0;
        }
        MODEL_END;
    }
};

}  // namespace pmemcpy::model
