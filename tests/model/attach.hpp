#pragma once

// Who is there: the attach lock of the pool, the clean mark, and recovery. Processes come, work for a while, and go; a mere reader looks in.

#include "slots.hpp"

namespace pmemcpy::model {

/// What a reader does before it says that the pool was not closed cleanly.
enum class Reader : std::uint8_t {
    asks_once,           // for the writers' lock, then for the mark: as review found it
    asks_again,          // for the lock after the mark, too
    asks_of_one_session  // and then for the mark, and for a number that each session changes
};

struct Attach : Slots {
    static constexpr std::uint8_t of_this_boot = 1, of_another_boot = 2;  // what the mark of .rt says
    static constexpr std::uint8_t half_rebuilt = 2;  // of what is forgotten: a recovery has begun
    Reader reads = Reader::asks_once;
    bool has_reader = false;  // C
    bool starts_clean = true;
    bool scavenges_at_close = true;
    bool recovers_at_close = true;  // on line media, where somebody has died
    bool looks_at_boot = true;      // .rt may lie on a disk with the mark of a session of before a power loss
    bool looks_at_count = true;     // which is odd during a recovery, and stays so where that is cut short
    int most_deaths = 1;

    State initial() const {
        State s{};
        s.clean = starts_clean ? 1 : 0;
        s.forgotten = starts_clean ? 0 : 1;
        s.valid = of_another_boot;
        for (int p = 0; p < workers; ++p) call(s.process[p], has_reader && p == 2 ? Verb::read : Verb::work);
        return s;
    }
    bool may_die(int) const { return true; }
    bool runs_through(int) const { return false; }
    void die(State& s, int p) const {
        for (Slot& slot : s.slot) {
            if (slot.owner == p + 1) slot.owner = 0;
            if (slot.estate == p + 1) slot.estate = 0;
        }
        s.shared &= static_cast<std::uint8_t>(~(1U << p));
        if (s.alone == p + 1) s.alone = 0;
        if (s.detaching == p + 1) s.detaching = 0;
        if (s.recovering == p + 1) s.recovering = 0;
        s.unflushed |= s.is_in[p];
        s.is_in[p] = 0;
        look(s);
    }
    const char* fault(const State& s) const {
        bool is_unfinished = s.forgotten != 0;
        for (const Slot& slot : s.slot) is_unfinished |= slot.unfinished != 0;
        if (s.clean != 0 && is_unfinished) return "a pool with unfinished work is called clean";
        if (s.clean != 0 && s.unflushed != 0) return "a pool is called clean that the dead have not flushed";
        for (int p = 0; p < workers; ++p) {
            if (s.is_in[p] == 0) continue;
            if (s.clean != 0) return "a pool in which somebody works is called clean";
            if (s.forgotten != 0) return "somebody works in a pool that was not recovered";
            if (s.recovering != 0) return "a recovery is not alone";
        }
        return s.wrong != 0 ? "a reader is refused though the pool was clean or in use all the time"
                            : nullptr;
    }
    const char* fault_at_rest(const State& s) const {
        return s.deaths == 0 && starts_clean && s.clean == 0
                   ? "all have left in order, and the pool is not clean"
                   : nullptr;
    }

    Move run(State& s, int p, Frame& f, Said& said) const {
        using Function = Move (Attach::*)(State&, int, Frame&, Said&) const;
        static constexpr std::array<Function, 8> functions = {
            &Attach::work,    &Attach::read,         &Attach::enter_alone,
            &Attach::recover, &Attach::take_slot,    &Attach::clean_up_after_dead,
            &Attach::detach,  &Attach::scavenge_dead};
        const Move move = (this->*functions.at(f.function))(s, p, f, said);
        look(s);
        return move;
    }

    static void look(State& s) {
        if (s.shared == 0 && s.alone == 0 && s.clean == 0) s.unattended = 1;
    }
    // models Pool::attach and try_join, and what a writer does between attach and detach
    Move work(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        for (;;) {
            STEP("try_lock(attach, exclusive)");
            if (s.alone == 0 && s.shared == 0) {
                s.alone = static_cast<std::uint8_t>(p + 1);
                CALL(Verb::enter_alone);
                CALL(Verb::take_slot);
                f.a = s.process[p].result;
                STEP(".rt is valid");
                s.valid = of_this_boot;
                STEP("lock(attach, shared) of who was alone");
                s.alone = 0;
                s.shared |= static_cast<std::uint8_t>(1U << p);
                break;
            }
            STEP("lock(attach, shared)");
            if (s.alone != 0) return Move::wait;
            s.shared |= static_cast<std::uint8_t>(1U << p);
            STEP("clean == 0?");
            if (s.clean == 0) {
                STEP("is .rt valid?");
                f.a = s.valid == of_this_boot || (s.valid == of_another_boot && !looks_at_boot) ? 1 : 0;
                if (f.a != 0 && looks_at_count) {
                    STEP("is the count of recoveries even?");
                    f.a = (s.forgotten & half_rebuilt) == 0 ? 1 : 0;
                }
                if (f.a != 0) {
                    CALL(Verb::take_slot);
                    f.a = s.process[p].result;
                    if (f.a != 0) break;
                }
            }
            STEP("unlock(attach)");
            s.shared &= static_cast<std::uint8_t>(~(1U << p));
            if (s.slot[0].owner != 0 && s.slot[1].owner != 0) RETURN(0);  // all places are taken
        }
        s.is_in[p] = 1;
        STEP("a verb begins");
        s.slot[f.a - 1].unfinished = 1;
        STEP("a verb ends");
        s.slot[f.a - 1].unfinished = 0;
        CALL(Verb::detach, f.a - 1);
        MODEL_END;
    }

    // models Pool::enter_alone and recover
    Move enter_alone(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        STEP("is_clean?");
        f.a = s.clean;
        STEP(".rt is reset");
        s.valid = s.scavenges = 0;
        for (Slot& slot : s.slot) {
            s.forgotten |= slot.unfinished;
            slot.attached = slot.unfinished = 0;
        }
        STEP("another session");
        ++s.session;
        STEP("clean = 0");
        s.clean = 0;
        if (f.a == 0) CALL(Verb::recover);
        MODEL_END;
    }

    // models Pool::recover
    Move recover(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        STEP("recovery begins");
        s.recovering = static_cast<std::uint8_t>(p + 1);
        s.forgotten = half_rebuilt;
        STEP("recovery ends");
        s.recovering = s.forgotten = s.unflushed = 0;
        MODEL_END;
    }

    // models Pool::detach and close_alone
    Move detach(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, i, unused, unused_too, unused_d, unused_e] = f;
        MODEL_BEGIN;
        s.is_in[p] = 0;
        STEP("attached = 0");
        s.slot[i].attached = 0;
        STEP("lock(detach)");
        if (s.detaching != 0) return Move::wait;
        s.detaching = static_cast<std::uint8_t>(p + 1);
        STEP("unlock(owner)");
        s.slot[i].owner = 0;
        STEP("try_lock(attach, exclusive)");
        if (s.alone == 0 && s.shared == 1U << p) {
            s.shared = 0;
            s.alone = static_cast<std::uint8_t>(p + 1);
            if (scavenges_at_close) CALL(Verb::scavenge_dead);
            STEP("has anybody died?");
            if (recovers_at_close && s.scavenges != 0) CALL(Verb::recover);
            STEP("clean = 1");
            s.clean = 1;
        }
        STEP("unlock(attach)");
        s.shared &= static_cast<std::uint8_t>(~(1U << p));
        if (s.alone == p + 1) s.alone = 0;
        STEP("unlock(detach)");
        s.detaching = 0;
        MODEL_END;
    }

    // models Pool::attach_reader
    Move read(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        for (;;) {
            STEP("does a writer hold the attach lock?");
            if (f.d == 0) s.unattended = 0;
            f.d = 1;
            look(s);
            f.a = s.shared != 0 || s.alone != 0 ? 1 : 0;
            if (f.a != 0) RETURN(1);
            if (reads == Reader::asks_of_one_session) {
                STEP("which session?");
                f.b = s.session;
            }
            STEP("is_clean?");
            if (s.clean != 0) RETURN(1);
            if (reads != Reader::asks_once) {
                STEP("does a writer hold it now?");
                if (s.shared != 0 || s.alone != 0) RETURN(1);
            }
            if (reads == Reader::asks_of_one_session) {
                STEP("is_clean now?");
                if (s.clean != 0) RETURN(1);
                STEP("another session?");
                if (s.session != f.b) continue;
            }
            s.wrong = s.unattended == 0 ? 1 : 0;
            RETURN(0);
        }
        MODEL_END;
    }
};

}  // namespace pmemcpy::model
