#pragma once

// An array, its directory of one segment of one slot, and its blocks; and how a block is stored, without knowing of an erase. Unit 1
// holds arrays, 2 segments, 3 and 4 blocks.

#include "words.hpp"

namespace pmemcpy::model {

struct LateStore {
    static constexpr int workers = 3;
    static constexpr int janitor = 3;
    static constexpr int units = 4;
    static constexpr int mark_empty = 0;
    static constexpr int mark_sealed = 7;
    enum class Verb : std::uint8_t {
        store_late,
        erase_and_create,
        clean_up,
        retire_array,
        seal_word,
        retire,
        unlink,
        store_block,
        create,
        last_one_out
    };
    struct Unit {
        std::uint8_t magic, version, state, tail, slot, unused;
    };
    struct State {
        Row<Process, workers + 1> process;
        Row<Unit, units + 1> unit;
        Row<std::uint8_t, 2> entry;  // of the array that is erased, and of the one that comes after it
        std::uint8_t next_version, deaths, acknowledged, unused;
    };

    static constexpr std::uint8_t state_of(int p) { return UnitState::make(UnitState::owned, p); }
    static bool is_current(const State& s, int link) {
        const int u = Link::unit(link);
        return u > 0 && u <= units && s.unit[u].magic != 0 && s.unit[u].version == Link::tag(link);
    }
    static bool is_owned(const State& s, int link) {
        return is_current(s, link) && !Link::is_dead(link) &&
               UnitState::kind(s.unit[Link::unit(link)].state) == UnitState::owned;
    }
    static bool is_record(int link) {
        return Link::unit(link) != mark_empty && Link::unit(link) != mark_sealed;
    }
    static std::uint8_t& word_of(State& s, int u, int slot) {
        return slot != 0 ? s.unit[u].slot : s.unit[u].tail;
    }

    // models Heap::unlink, in Directory::retire
    Move unlink(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        STEP("CAS(slot, block, dead)");
        if (s.unit[2].slot != Link::make(3, 3)) RETURN(0);
        s.unit[2].slot = Link::dead(s.unit[2].slot);
        CALL(Verb::retire, Link::make(3, 3));
        STEP("CAS(slot, dead, empty)");
        if (s.unit[2].slot == Link::dead(Link::make(3, 3))) s.unit[2].slot = Link::make(mark_empty, 2);
        MODEL_END;
    }

    // models Store::publish_block with Directory::refresh and find_empty; of an array and its segment
    Move store_block(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, array, segment, u, fresh, unused] = f;
        MODEL_BEGIN;
        STEP("CAS(state of a free unit, 0, owned)");
        u = s.unit[3].state == 0 ? 3 : 4;
        if (s.unit[u].state != 0) RETURN(0);
        s.unit[u] = {0, 0, state_of(p), 0, 0, 0};
        for (;;) {
            STEP("find_segments: load(tail)");
            fresh = s.unit[2].tail;
            STEP("find_segments: is_current(segment)?");
            if (!is_current(s, segment) || Link::unit(fresh) == mark_sealed) break;
            STEP("refresh: is_current(array)?");
            if (!is_current(s, array)) break;
            STEP("find_empty: is it this segment's mark?");
            if (s.unit[2].slot != Link::make(mark_empty, Link::tag(segment))) break;
            STEP("seal");
            s.unit[u].version = s.next_version++;
            s.unit[u].magic = 1;
            fresh = Link::make(u, s.unit[u].version);
            STEP("CAS(slot, empty, fresh)");
            if (s.unit[2].slot != Link::make(mark_empty, Link::tag(segment))) continue;
            s.unit[2].slot = fresh;
            STEP("is_published?");
            if (s.entry[0] != array && s.entry[1] != array) {
                CALL(Verb::retire, fresh);
                RETURN(0);
            }
            if (s.entry[1] == array) s.acknowledged = 1;
            RETURN(1);
        }
        STEP("abandon_record");  // models Heap::abandon_record
        s.unit[u] = {};
        MODEL_END;
    }

    // models Heap::retire and reclaim, of a record that has replaced none (retire.hpp has more of it)
    Move retire(State& s, int p, Frame& f, Said& said) const {
        auto& [at, function, link, unused_b, before, u, unused] = f;
        MODEL_BEGIN;
        u = static_cast<std::uint8_t>(Link::unit(link));
        STEP("before = header.state");
        before = s.unit[u].state;
        STEP("is_current(link)?");
        if (!is_current(s, link) || UnitState::kind(before) != UnitState::owned) RETURN(0);
        STEP("CAS(header.state, before, retired)");
        if (s.unit[u].state != before) RETURN(0);
        s.unit[u].state = UnitState::make(UnitState::retired, p);
        STEP("magic = 0");
        s.unit[u].magic = 0;
        STEP("CAS(header.state, retired, 0)");
        s.unit[u].state = 0;
        MODEL_END;
    }

    // models Store::create_array and Directory::append_segment
    Move create(State& s, int p, Frame& f, Said& said) const {
        MODEL_BEGIN;
        for (f.a = 1; f.a <= 2; ++f.a) {
            STEP("CAS(state of the unit, 0, owned)");
            if (s.unit[f.a].state != 0) RETURN(0);
            s.unit[f.a].state = state_of(p);
            f.b = s.next_version++;
            STEP("the words of the draft");
            s.unit[f.a].tail = s.unit[f.a].slot = Link::make(mark_empty, f.b);
            STEP("seal");
            s.unit[f.a].version = f.b;
            s.unit[f.a].magic = 1;
            STEP("publish");
            if (f.a == 1) s.entry[1] = Link::make(1, f.b);
            if (f.a == 2 && s.unit[1].tail != Link::make(mark_empty, s.unit[1].version)) RETURN(0);
            if (f.a == 2) s.unit[1].tail = Link::make(2, f.b);
        }
        RETURN(1);
        MODEL_END;
    }
};

}  // namespace pmemcpy::model
