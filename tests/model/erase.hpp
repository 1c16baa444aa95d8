#pragma once

// Erasing an array beside a store that comes late, a second process that cleans up after the same erase, and the next array that
// gets the same units.

#include "late_store.hpp"

namespace pmemcpy::model {

enum class Seals : std::uint8_t {
    what_it_has_read,  // exchanges the word that it has read of a unit, as review found it
    if_current,        // looks whether the record is still there after the first look at each word
    if_still_current   // and after an exchange has failed and said what stands there
};

struct Erase : LateStore {
    Seals seals = Seals::what_it_has_read;
    bool seals_dead_slots = false;
    bool unlinks_first = false;  // A takes the block out of the slot before it stores another one
    int most_deaths = 1;

    State initial() const {
        State s{};
        for (int u = 1; u <= 3; ++u) {
            const int tail = u == 1 ? Link::make(2, 2) : Link::make(mark_empty, u);
            s.unit[u] = {1, static_cast<std::uint8_t>(u), state_of(4), static_cast<std::uint8_t>(tail), 0, 0};
        }
        s.unit[2].slot =
            static_cast<std::uint8_t>(unlinks_first ? Link::make(3, 3) : Link::make(mark_empty, 2));
        if (!unlinks_first) s.unit[3] = {};
        s.entry[0] = Link::make(1, 1);
        s.next_version = 4;
        call(s.process[0], Verb::store_late);
        call(s.process[1], Verb::erase_and_create);
        call(s.process[2], Verb::clean_up);
        call(s.process[janitor], Verb::last_one_out);
        return s;
    }
    bool may_die(int p) const { return p != janitor; }
    bool runs_through(int p) const { return p == janitor; }
    void die(State&, int) const {}

    const char* fault(const State& s) const {
        if (s.next_version > 15) return "the model's tags are too narrow";
        if (s.entry[1] == 0) return nullptr;
        const Unit& array = s.unit[1];
        if (!is_owned(s, s.entry[1])) return "a new array is destroyed by a late erase";
        if (array.tail == Link::make(mark_empty, array.version)) return nullptr;
        if (!is_owned(s, array.tail)) return "the directory of a new array is destroyed by a late erase";
        if (s.acknowledged != 0 && !is_owned(s, s.unit[2].slot))
            return "a block is lost that was acknowledged";
        return s.unit[2].slot == Link::make(mark_sealed, s.unit[2].version) ? "a new array's slot is sealed"
                                                                            : nullptr;
    }
    const char* fault_at_rest(const State& s) const {
        const int array = Link::is_dead(s.entry[0]) ? s.entry[1] : s.entry[0];
        const bool has_array = array != 0 && is_owned(s, array);
        const bool has_segment = has_array && s.unit[1].tail == Link::make(2, s.unit[2].version);
        for (int u = 1; u <= units; ++u) {
            const bool is_reached = u == 1 ? has_array
                                    : u == 2
                                        ? has_segment
                                        : has_segment && s.unit[2].slot == Link::make(u, s.unit[u].version);
            if (UnitState::kind(s.unit[u].state) == UnitState::owned && !is_reached)
                return "a unit is lost for ever";
        }
        return nullptr;
    }

    Move run(State& s, int p, Frame& f, Said& said) const {
        using Function = Move (Erase::*)(State&, int, Frame&, Said&) const;
        static constexpr std::array<Function, 10> functions = {
            &Erase::store_late, &Erase::erase_and_create, &Erase::clean_up, &Erase::retire_array,
            &Erase::seal_word,  &Erase::retire,           &Erase::unlink,   &Erase::store_block,
            &Erase::create,     &Erase::last_one_out};
        return (this->*functions.at(f.function))(s, p, f, said);
    }

    Move store_late(State& s, int p, Frame& f, [[maybe_unused]] Said& said) const {
        MODEL_BEGIN;
        if (unlinks_first) CALL(Verb::unlink);
        CALL(Verb::store_block, Link::make(1, 1), Link::make(2, 2));
        MODEL_END;
    }

    Move erase_and_create(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        STEP("CAS(entry's word, array, dead)");
        s.entry[0] = Link::dead(s.entry[0]);
        CALL(Verb::retire_array, Link::make(1, 1));
        CALL(Verb::create);
        if (s.process[p].result != 0) CALL(Verb::store_block, s.entry[1], s.unit[1].tail);
        MODEL_END;
    }

    // models Catalog::finish_verb for one that died as it wanted to erase the same: clean_up_erased once more
    Move clean_up(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        STEP("is the entry's word dead?");
        if (!Link::is_dead(s.entry[0])) RETURN(0);
        STEP("retire_definition: is_current(array)?");
        if (is_current(s, Link::make(1, 1))) CALL(Verb::retire_array, Link::make(1, 1));
        MODEL_END;
    }

    // models Catalog::retire_array
    Move retire_array(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, array, unused_b, segment, block, unused] = f;
        MODEL_BEGIN;
        CALL(Verb::seal_word, array, 0);
        segment = s.process[p].result;
        if (is_record(segment)) {
            STEP("follow<Segment>");
            if (is_current(s, segment)) {
                for (;;) {
                    CALL(Verb::seal_word, segment, 1);
                    block = s.process[p].result;
                    if (!is_record(block)) break;
                    CALL(Verb::retire, Link::alive(block));
                    if (!seals_dead_slots) break;
                    STEP("CAS(slot, dead, sealed)");
                    if (s.unit[2].slot != Link::dead(block)) continue;
                    s.unit[2].slot = Link::make(mark_sealed, Link::tag(segment));
                    break;
                }
                CALL(Verb::seal_word, segment, 0);
                CALL(Verb::retire, segment);
            }
        }
        CALL(Verb::retire, array);
        MODEL_END;
    }

    // models the inner loops of Catalog::retire_array; says what stood there, or a seal
    Move seal_word(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, owner, slot, word, after, unused] = f;
        MODEL_BEGIN;
        STEP("word = load");
        word = word_of(s, Link::unit(owner), slot);
        if (seals != Seals::what_it_has_read) {
            STEP("is_current(owner)?");
            if (!is_current(s, owner)) RETURN(mark_sealed);
        }
        for (;;) {
            if (is_record(word)) {
                if (slot == 0) RETURN(word);
                if (Link::is_dead(word)) RETURN(word);
                after = Link::dead(word);
            } else {
                if (Link::unit(word) == mark_sealed) RETURN(word);
                after = Link::make(mark_sealed, Link::tag(word));
            }
            STEP("CAS(word, what was read, dead or sealed)");
            if (word_of(s, Link::unit(owner), slot) == word) {
                word_of(s, Link::unit(owner), slot) = after;
                RETURN(word);
            }
            word = word_of(s, Link::unit(owner), slot);
            if (seals == Seals::if_still_current) {
                STEP("is_current(owner) after a failure?");
                if (!is_current(s, owner)) RETURN(mark_sealed);
            }
        }
        MODEL_END;
    }

    // models Catalog::scavenge of all that have died, alone: their verbs, then their units that nothing leads to
    Move last_one_out(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        STEP("all others are gone");
        for (int other = 0; other < workers; ++other)
            if (!s.process[other].is_gone()) return Move::wait;
        if (s.process[0].dead != 0 && s.unit[2].slot == Link::dead(Link::make(3, 3)))
            CALL(Verb::retire, Link::make(3, 3));
        if (s.process[0].dead != 0 && s.unit[2].slot == Link::dead(Link::make(3, 3)))
            s.unit[2].slot = static_cast<std::uint8_t>(
                Link::make(mark_empty, 2));  // models Heap::finish_step, of an unlink
        CALL(Verb::clean_up);
        for (f.a = 1; f.a <= units; ++f.a) {
            STEP("sweep_record: is_reachable?");  // models Catalog::is_reachable: each looks at its home only
            f.b = static_cast<std::uint8_t>(UnitState::owner(s.unit[f.a].state));
            f.c = f.a == 1 ? s.entry[1] : f.a == 2 ? s.unit[1].tail : s.unit[2].slot;
            const bool is_of_the_dead = s.unit[f.a].state != 0 && f.b < workers && s.process[f.b].dead != 0;
            if (is_of_the_dead && (s.unit[f.a].magic == 0 || f.c != Link::make(f.a, s.unit[f.a].version)))
                s.unit[f.a].state = s.unit[f.a].magic = 0;
        }
        MODEL_END;
    }
};

}  // namespace pmemcpy::model
