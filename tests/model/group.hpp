#pragma once

// A group is erased beside processes that make something in it. Nobody who makes something takes a lock: the eraser announces itself before it
// looks into the group, and the maker looks for erasers once its entry is there. What has no value yet does not keep a group: the eraser
// flags it and takes it away first.

#include "checker.hpp"

namespace pmemcpy::model {

struct GroupMends {
    bool eraser_announces = false;
    bool maker_minds_the_dead = false;   // an odd count is of an eraser that has died: it proves nothing
    bool flagged_gets_no_value = false;  // a flagged word is none of an entry that is to get its value
    bool eraser_minds_the_unmade =
        false;  // what has no value may get one: it is taken away before the group is
};

struct Group {
    enum class Verb : std::uint8_t { make_both, erase_parent, make, create, take_away };
    enum Name : std::uint8_t { parent, child };
    static constexpr int workers = 3;
    static constexpr int most_entries = 5;  // of a name, each with a tag of its own
    static constexpr int most_rounds = 2;

    /// Of an entry: its word, and whether it is in its chain.
    enum Word : std::uint8_t { none, empty, defined, dead };  // `dead` is a flag beside the others: 4
    static constexpr std::uint8_t dead_flag = 4;
    struct Entry {
        std::uint8_t word, is_in_chain;
    };
    struct State {
        Row<Process, workers> process;
        Row<Row<Entry, most_entries + 1>, 2> entry;  // the newest one is at the head of its chain
        Row<std::uint8_t, 2> newest;
        std::uint8_t erasures, group_lock, deaths, acknowledged;
    };

    GroupMends mends;
    int most_deaths = 0;
    int makers = 1, erasers = 1;

    State initial() const {
        State s{};
        s.newest[parent] = 1;
        s.entry[parent][1] = {defined, 1};
        for (int p = 0; p < workers; ++p) {
            if (p < makers) call(s.process[p], Verb::make_both);
            if (p >= workers - erasers) call(s.process[p], Verb::erase_parent);
        }
        return s;
    }
    bool may_die(int) const { return true; }
    void die(State& s, int p) const {
        if (s.group_lock == p + 1) s.group_lock = 0;
    }

    static bool is_there(const State& s, int name) {
        const int e = in_chain(s, name);
        return e != 0 && s.entry[name][e].word == defined;
    }
    /// The entry that a walk along the chain finds: the newest that is not dead.
    static int in_chain(const State& s, int name) {
        for (int e = s.newest[name]; e > 0; --e) {
            const Entry& there = s.entry[name][e];
            if (there.is_in_chain != 0 && (there.word & dead_flag) == 0) return e;
        }
        return 0;
    }

    const char* fault(const State& s) const {
        if (s.newest[parent] > most_entries || s.newest[child] > most_entries)
            return "the model is too narrow";
        if (is_there(s, child) && !is_there(s, parent)) return "a group is erased with something in it";
        if (s.acknowledged != 0 && !is_there(s, child)) return "what was acknowledged is in no chain";
        return nullptr;
    }
    const char* fault_at_rest(const State&) const { return nullptr; }

    Move run(State& s, int p, Frame& f, Said& said) const {
        using Function = Move (Group::*)(State&, int, Frame&, Said&) const;
        static constexpr std::array<Function, 5> functions = {
            &Group::make_both, &Group::erase_parent, &Group::make, &Group::create, &Group::take_away};
        return (this->*functions.at(f.function))(s, p, f, said);
    }

    Move make_both(State& s, int p, Frame& f, [[maybe_unused]] Said& said) const {
        MODEL_BEGIN;
        CALL(Verb::make, child);
        s.acknowledged = 1;
        MODEL_END;
    }

    // models Catalog::make_group, and Store::publish_value likewise
    Move make(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, name, entry, word, unused_d, unused_e] = f;
        MODEL_BEGIN;
        for (;;) {
            CALL(Verb::create, name);
            entry = s.process[p].result;
            STEP("definition(entry), current_word(entry)");
            word = s.entry[name][entry].word;
            if (word == defined) RETURN(0);
            if ((word & ~dead_flag) != empty) continue;
            if ((word & dead_flag) != 0 && mends.flagged_gets_no_value) continue;
            STEP("CAS(entry's word, what was read, definition)");
            if (s.entry[name][entry].word != word) continue;
            s.entry[name][entry].word = defined;
            RETURN(0);
        }
        MODEL_END;
    }

    // models Catalog::create
    Move create(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, name, entry, erasures, head, unused_e] = f;
        MODEL_BEGIN;
        for (;;) {
            STEP("find_in_chain");
            entry = static_cast<std::uint8_t>(in_chain(s, name));
            if (entry != 0 && s.entry[name][entry].word == defined) RETURN(entry);
            if (name == child) {
                STEP("group_erasures before");
                erasures = s.erasures;
                STEP("ensure_groups: find_group");
                if (!is_there(s, parent)) CALL(Verb::make, parent);
            }
            while (entry == 0) {
                STEP("insert: head = load, and no such key behind it");
                head = s.newest[name];
                entry = static_cast<std::uint8_t>(in_chain(s, name));
                if (entry != 0) break;
                STEP("insert: CAS(head)");
                if (s.newest[name] != head) continue;
                entry = ++s.newest[name];
                if (entry <= most_entries) s.entry[name][entry] = {empty, 1};
            }
            if (entry > most_entries || name == parent) RETURN(entry);
            STEP("group_erasures behind");
            if (s.erasures == erasures && (erasures % 2 == 0 || !mends.maker_minds_the_dead)) RETURN(entry);
            STEP("GroupLock");
            if (s.group_lock != 0) return Move::wait;
            s.group_lock = static_cast<std::uint8_t>(p + 1);
            STEP("groups_exist, and the lock is let go of");
            s.group_lock = 0;
            if (is_there(s, parent)) RETURN(entry);
        }
        MODEL_END;
    }

    // models Catalog::erase_group
    Move erase_parent(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, group, unmade, erased, rounds, unused_e] = f;
        MODEL_BEGIN;
        STEP("find_named");
        group = static_cast<std::uint8_t>(in_chain(s, parent));
        if (group == 0 || s.entry[parent][group].word != defined) RETURN(0);
        for (;;) {
            STEP("GroupLock");
            if (s.group_lock != 0) return Move::wait;
            s.group_lock = static_cast<std::uint8_t>(p + 1);
            if (mends.eraser_announces) {
                STEP("GroupErasure: announced");
                if (s.erasures % 2 == 0) ++s.erasures;
            }
            STEP("undefined_children: walk");
            unmade = static_cast<std::uint8_t>(in_chain(s, child));
            erased = 0;
            if (unmade != 0) {
                STEP("undefined_children: the child's word");
                if (s.entry[child][unmade].word == defined) group = 0;  // busy
                if (s.entry[child][unmade].word != empty || !mends.eraser_minds_the_unmade) unmade = 0;
            }
            if (group != 0 && unmade == 0) {
                STEP("CAS(group's word, defined, dead)");
                erased = s.entry[parent][group].word == defined ? 1 : 0;
                if (erased != 0) s.entry[parent][group].word |= dead_flag;
            }
            if (mends.eraser_announces) {
                STEP("GroupErasure: over");
                ++s.erasures;
            }
            STEP("the lock is let go of");
            s.group_lock = 0;
            if (unmade == 0) break;
            if (rounds++ == most_rounds) RETURN(0);  // busy
            CALL(Verb::take_away, child, unmade);
        }
        if (erased != 0) {
            STEP("take_out(group)");
            s.entry[parent][group].is_in_chain = 0;
        }
        MODEL_END;
    }

    // models Catalog::take_away with flag_undefined
    Move take_away(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, name, entry, unused_c, unused_d, unused_e] = f;
        MODEL_BEGIN;
        STEP("flag_undefined: CAS(entry's word, empty, dead)");
        if (s.entry[name][entry].word != empty) RETURN(0);
        s.entry[name][entry].word = empty | dead_flag;
        STEP("clean_up_erased: take_out");
        s.entry[name][entry].is_in_chain = 0;
        MODEL_END;
    }
};

}  // namespace pmemcpy::model
