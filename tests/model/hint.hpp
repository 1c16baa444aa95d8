#pragma once

// The bits that say where in a slab looking is worth while, and the slab's way back to be anybody's bytes. The owner of the slab has
// left; A still frees a unit in it, B adopts it, uses it, and gives it back; C cleans up after either.

#include "checker.hpp"

namespace pmemcpy::model {

enum class Hints : std::uint8_t {
    adopters_clear,  // the unit's word first, then its bit; and adopters and sweepers clear bits of free units: as review found it
    nobody_else,  // the same order, but adopters and sweepers leave bits alone
    word_last  // the bit goes first, while the word is still the freed record's, and comes behind the word of who claims
};

struct Hint {
    static constexpr int workers = 3;
    static constexpr int units = 2;
    static constexpr int janitor = 3;
    enum Chunk : std::uint8_t { slab, nothing, data };
    enum class Verb : std::uint8_t {
        free_first,
        use,
        clean_up,
        free_unit,
        adopt_slab,
        claim_in,
        give_back,
        sweep
    };
    struct State {
        Row<Process, workers + 1> process;
        Row<std::uint8_t, units> word, bit;  // word: 0, or whose record has it (1 is A's)
        std::uint8_t chunk, owner, damaged, deaths, freed, unused;
    };
    Hints hints = Hints::adopters_clear;
    int most_deaths = 1;

    State initial() const {
        State s{};
        s.word[0] = s.bit[0] = 1;
        call(s.process[0], Verb::free_first);
        call(s.process[1], Verb::use);
        call(s.process[2], Verb::clean_up);
        call(s.process[janitor], Verb::clean_up, 1);
        return s;
    }
    bool may_die(int p) const { return p != janitor; }
    bool runs_through(int p) const { return p == janitor; }
    void die(State&, int) const {}
    const char* fault(const State& s) const {
        return s.damaged != 0 ? "a late bit changes what is somebody's data by now" : nullptr;
    }
    const char* fault_at_rest(const State& s) const {
        for (std::size_t u = 0; u < units && s.chunk == slab; ++u) {
            if (s.word[u] != 0) return "a unit is lost for ever";
            const bool next_adopter_clears = s.owner == 0 && hints != Hints::nobody_else;
            if (s.bit[u] != 0 && !next_adopter_clears)
                return "a unit is free and nobody will ever look at it";
        }
        return nullptr;
    }

    Move run(State& s, int p, Frame& f, Said& said) const {
        static constexpr std::array verbs = {&Hint::free_first, &Hint::use,        &Hint::clean_up,
                                             &Hint::free_unit,  &Hint::adopt_slab, &Hint::claim_in,
                                             &Hint::give_back,  &Hint::sweep};
        return (this->*verbs[f.function])(s, p, f, said);
    }

    static void clear(State& s, std::size_t u) {
        if (s.chunk == data) s.damaged = 1;
        s.bit[u] = 0;
    }

    Move free_first(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        CALL(Verb::free_unit, 0, 1);
        STEP("off the list");
        s.freed = 1;
        MODEL_END;
    }

    // models Heap::free_unit
    Move free_unit(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, u, expected, is_free, unused, unused_too] = f;
        MODEL_BEGIN;
        if (hints == Hints::word_last) {
            STEP("word == expected?");
            if (s.word[u] != expected) RETURN(0);
            STEP("clear_hint");
            clear(s, u);
        }
        STEP("CAS(word, expected, 0)");
        if (s.word[u] != expected) RETURN(0);
        s.word[u] = 0;
        if (hints != Hints::word_last) {
            STEP("clear_hint");
            clear(s, u);
        }
        MODEL_END;
    }

    Move use(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        CALL(Verb::adopt_slab);
        if (s.process[p].result == 0) RETURN(0);
        CALL(Verb::claim_in);
        if (s.process[p].result != 0) CALL(Verb::free_unit, s.process[p].result - 1, p + 1);
        CALL(Verb::give_back);
        if (s.process[p].result != 0) RETURN(0);
        STEP("the slab is nobody's");
        s.owner = 0;
        MODEL_END;
    }

    // models Heap::adopt_slab
    Move adopt_slab(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        for (f.a = 0; f.a < units && f.b == 0; ++f.a) {
            STEP("is the unit free?");
            f.b = s.word[f.a] == 0 ? 1 : 0;
        }
        if (f.b == 0) RETURN(0);
        STEP("CAS(owner, nobody, ours)");
        if (s.owner != 0 || s.chunk != slab) RETURN(0);
        s.owner = static_cast<std::uint8_t>(p + 1);
        for (f.a = 0; f.a < units && hints != Hints::nobody_else; ++f.a) {
            STEP("is the unit free?");
            if (s.word[f.a] != 0) continue;
            STEP("clear_hint");
            clear(s, f.a);
        }
        RETURN(1);
        MODEL_END;
    }

    // models Heap::claim_in and claim_at
    Move claim_in(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        for (f.a = 0; f.a < units; ++f.a) {
            STEP("is the bit clear?");
            if (s.bit[f.a] != 0) continue;
            if (hints != Hints::word_last) {
                STEP("set_hint");
                s.bit[f.a] = 1;
            }
            STEP("CAS(word, 0, ours)");
            if (s.word[f.a] != 0) continue;
            s.word[f.a] = static_cast<std::uint8_t>(p + 1);
            if (hints == Hints::word_last) {
                STEP("set_hint");
                s.bit[f.a] = 1;
            }
            RETURN(f.a + 1);
        }
        MODEL_END;
    }

    // models Heap::give_back_slabs and is_empty_slab, by its owner, and the next use of the chunk
    Move give_back(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        f.b = 1;
        if (hints == Hints::nobody_else) {
            STEP("are all bits clear?");
            if (s.bit[0] != 0 || s.bit[1] != 0) RETURN(0);
        }
        for (f.a = 0; f.a < units && f.b != 0; ++f.a) {
            STEP("is the unit free?");
            if (s.word[f.a] != 0) f.b = 0;
        }
        if (f.b == 0) RETURN(0);
        STEP("the chunk is free");
        s.chunk = nothing;
        s.owner = 0;
        STEP("the chunk holds data");
        s.chunk = data;
        RETURN(1);
        MODEL_END;
    }

    Move clean_up(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        if (f.a != 0) {
            STEP("all others are gone");
            for (int other = 0; other < workers; ++other)
                if (!s.process[other].is_gone()) return Move::wait;
        }
        STEP("is A dead?");
        if (s.process[0].dead != 0 && s.freed == 0) {
            CALL(Verb::free_unit, 0, 1);
            STEP("off the list");
            s.freed = 1;
        }
        STEP("is B dead?");
        if (s.process[1].dead != 0) CALL(Verb::sweep);
        MODEL_END;
    }

    // models Heap::sweep_slabs of what B had owned
    Move sweep(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        STEP("is it the owner of the slab?");
        if (s.owner != 2 || s.chunk != slab) RETURN(0);
        for (f.a = 0; f.a < units; ++f.a) {
            STEP("taken = word");
            f.b = s.word[f.a];
            if (f.b == 0 && hints != Hints::nobody_else) {
                STEP("clear_hint");
                clear(s, f.a);
            }
            if (f.b == 2) CALL(Verb::free_unit, f.a, 2);
        }
        STEP("the slab is nobody's");
        s.owner = 0;
        MODEL_END;
    }
};

}  // namespace pmemcpy::model
