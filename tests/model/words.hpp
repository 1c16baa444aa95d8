#pragma once

// The words that the models of publishing, retiring and scavenging share: units of one slab for each process, one published word,
// and the slots in <pool>.rt. A slot's own words are read without a STEP: only its owner, or who holds its estate, writes them.

#include "checker.hpp"

namespace pmemcpy::model {

/// A heap::Link in a byte: unit 3 bits (0: none), tag 4 bits, which do not wrap in any run (Publish::fault), dead flag.
struct Link {
    static constexpr std::uint8_t make(int unit, int version) {
        return static_cast<std::uint8_t>(unit | (version << 3));
    }
    static constexpr std::uint8_t alive(int link) { return static_cast<std::uint8_t>(link & 127); }
    static constexpr std::uint8_t dead(int link) { return static_cast<std::uint8_t>(link | 128); }
    static constexpr bool is_dead(int link) { return (link & 128) != 0; }
    static constexpr int unit(int link) { return link & 7; }
    static constexpr int tag(int link) { return (link >> 3) & 15; }
};

/// A heap::UnitState: kind 2 bits, owner's slot 3 bits, number of the claim 3 bits.
struct UnitState {
    enum Kind { free, owned, retired };
    static constexpr std::uint8_t make(Kind kind, int owner, int claim = 0) {
        return static_cast<std::uint8_t>(kind | (owner << 2) | ((claim & 7) << 5));
    }
    static constexpr Kind kind(int state) { return static_cast<Kind>(state & 3); }
    static constexpr int owner(int state) { return (state >> 2) & 7; }
};

/// Which of the mends are there. Without any: the code as it was when review found the faults.
struct HeapMends {
    bool claim_looks_twice = false;
    bool finish_step_looks_twice = false;
    bool intent_ends_last = false;            // of an exchange: after `previous` is retired too
    bool finish_step_takes_previous = false;  // as the record says that was replaced
    bool intent_names_previous = false;  // in a word of its own, so that it is known when that record is gone
};

struct Heap {
    enum class Verb : std::uint8_t {
        worker,
        last_one_out,
        claim,
        push_unless_listed,
        reclaim_locked,
        finish_freeing,
        is_reachable,
        finish_step,
        sweep,
        scavenge,
        publish_value,
        replace,
        drop_uncommitted
    };
    static constexpr int workers = 3;
    static constexpr int units = 6;
    static constexpr int janitor = workers;
    struct Unit {
        std::uint8_t magic, version, state, word, next, previous, step, slab;
    };
    struct Slot {
        std::uint8_t retire_head, claiming, freeing, intent, step_a, step_b, step_c, attached, estate, claims,
            draft, name;
    };
    struct State {
        Row<Process, workers + 1> process;
        Row<Unit, units + 1> unit;
        Row<Slot, workers + 1> slot;
        std::uint8_t word, next_version, deaths, unused;
    };
    enum Intent : std::uint8_t { nothing, replacing };

    HeapMends mends;
    int most_deaths = 1;

    static Unit& unit(State& s, int link) { return s.unit[Link::unit(link)]; }
    static bool is_current(const State& s, int link) {
        const Unit& there = s.unit[Link::unit(link)];
        return Link::unit(link) != 0 && there.magic != 0 && there.version == Link::tag(link);
    }
    static Slot& slot(State& s, int p) { return s.slot[s.slot[p].name]; }
    static int name(const State& s, int p) { return s.slot[p].name; }
    static bool result(const State& s, int p) { return s.process[p].result != 0; }

    bool may_die(int p) const { return p != janitor; }
    bool runs_through(int p) const { return p == janitor; }
    void die(State& s, int p) const {
        for (Slot& slot : s.slot)
            if (slot.estate == p + 1) slot.estate = 0;
        s.slot[p].name = static_cast<std::uint8_t>(p);
        s.slot[p].draft = 0;
    }
};

}  // namespace pmemcpy::model
