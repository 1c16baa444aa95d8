// Cleaning up after a dead process, by whoever holds the lock of its slot.
// Modelled in tests/model/scavenge.hpp.

#include "heap/heap.hpp"

#include <algorithm>

namespace pmemcpy::heap {

using persist::Medium;

// The dead process was unpublishing a record: its slot says where.
void Heap::finish_step(std::uint64_t slot_index, Reachability& reachable) {
    const InName in_its_name(*this, slot_index);
    const Medium& m = pool_.medium();
    pool::Slot& slot = retire_slot();
    reclaim_locked();
    switch (static_cast<pool::Intent>(Medium::load(&slot.step_intent))) {
        case pool::Intent::unlink: {
            if (slot.step_a % sizeof slot.step_a != 0 || !pool_.contains(slot.step_a, sizeof slot.step_a))
                break;
            auto* word = &pool_.as<std::uint64_t>(slot.step_a);
            const Link found{Medium::load(word)};
            const bool is_there = found.is_record() && found.is_dead() && is_current(pool_, found.alive()) &&
                                  pool_.as<RecordHeader>(found.offset()).home == slot.step_a;
            if (is_there) {
                claim(found);
                // The dead process may have meant a slot of what was there before, with that one's tag.
                if (const auto empty = empty_word_of(slot.step_a)) finish_unlink(word, found.alive(), *empty);
            }
            break;
        }
        case pool::Intent::replace: {
            const Link fresh{slot.step_a};
            if (is_current(pool_, fresh) && reachable.is_reachable(fresh)) {
                auto& header = pool_.as<RecordHeader>(fresh.offset());
                std::uint64_t word = Medium::load(&header.word);
                const Link old{word};
                // Others may have replaced and freed it since: then this is the word of a draft, which names what is published.
                if (old.is_record() && old.is_dead() && is_still_current(pool_, fresh)) {
                    claim(old);
                    // Not flushed, as in Heap::replace: after a death the last one out recovers the pool before it calls it clean.
                    static_cast<void>(m.compare_exchange(&header.word, word, 0));
                }
            }
            // What was published before does not say what it has replaced.
            if (const Link old{slot.step_b}; is_current(pool_, old) && !reachable.is_reachable(old))
                claim(old);
            if (const Link older{slot.step_c}; is_current(pool_, older) && !reachable.is_reachable(older))
                retire_with_older(older);
            break;
        }
        default:
            break;
    }
    end_step();
}

bool Heap::scavenge(std::uint64_t slot_index, Reachability& reachable) {
    const InName in_its_name(*this, slot_index);
    sweep_slabs(retire_owner(), reachable);
    const bool all = reclaim_locked();
    sweep_runs(retire_owner());
    return all;
}

void Heap::sweep_slabs(std::uint64_t owner, Reachability& reachable) {
    const std::uint64_t usable = pool_.usable_chunks();
    for (const Purpose purpose : {Purpose::meta, Purpose::data}) {  // extents go with their records
        for (std::uint64_t i = 0; i < usable; ++i) {
            const ChunkWord word = chunk_word(i);
            Slab slab;
            if (!is_slab_for(purpose, word.kind()) || word.owner() != owner || !read_slab(i, slab)) continue;
            for (std::uint32_t unit = 0; unit < slab.units; ++unit) {
                const std::uint64_t taken = Medium::load(unit_word(slab, unit));
                const std::uint64_t offset = slab.offset_of(unit);
                if (taken == 0) {
                    clear_hint(slab, unit);
                } else if (purpose == Purpose::data) {
                    if (!owns_extent(taken, offset)) free_unit(offset, UnitState{taken});
                } else if (UnitState{taken}.kind() == UnitState::owned) {
                    sweep_record(offset, UnitState{taken}, reachable);
                }
            }
            exchange_chunk(i, word, word.with_owner(0));
        }
        reclaim_locked();
    }
}

void Heap::sweep_record(std::uint64_t offset, UnitState state, Reachability& reachable) {
    const auto& header = pool_.as<RecordHeader>(offset);
    const std::uint64_t room = pool_.room_in_chunk(offset);
    // Claimed and never finished, so never published and without a reader of its extent.
    if (!is_whole(pool_, offset, room) && !is_hidden(pool_, offset, room)) {
        if (header.length >= sizeof(RecordHeader) && header.length <= room)
            free_extent(extent_of_(header), offset);
        // Who died while it sealed a record anew left one that looks damaged: nobody is to take it for one (law 1).
        constexpr std::uint32_t nothing = 0;
        pool_.medium().write(&pool_.as<RecordHeader>(offset).magic, &nothing, sizeof nothing);
        free_unit(offset, state);
        return;
    }
    const Link link = Link::to(offset, header.version);
    if (!reachable.is_reachable(link)) claim(link, &reachable);
}

// Runs whose claimer died before the record that they are for was published, and what it was claiming. Of its words only we change
// those, but for the ones of runs that others are freeing just now.
void Heap::sweep_runs(std::uint64_t owner) {
    const std::uint64_t usable = pool_.usable_chunks();
    std::uint64_t head = 0, end = 0;  // of the last run that was met
    for (std::uint64_t i = 0; i < usable; ++i) {
        const ChunkWord word = chunk_word(i);
        // Others may have freed a part of the run, from its end, and the dead process have claimed chunks there.
        if (i < end && word.kind() == ChunkKind::run_body && word.is_body_at(i - head)) continue;
        const bool is_run = word.kind() == ChunkKind::run_head && !word.is_under_way();
        if (is_run) {
            head = i;
            end = i + word.length();
        }
        if (word.owner() != owner) continue;
        if (is_run) {
            sweep_run(i, word);
        } else if (word.kind() == ChunkKind::hole) {
            empty_hole(i, word);
        } else if (word.kind() == ChunkKind::run_head || word.kind() == ChunkKind::run_body) {
            sweep_claimed(i, word);
        }
    }
}

// The exchange comes before anything else that is done to it: another may be freeing it, and others may have claimed its chunks since.
void Heap::sweep_run(std::uint64_t head, ChunkWord word) {
    const std::uint64_t record_offset = Link{Medium::load(&chunk(head).record.word)}.offset();
    const bool is_kept = record_offset != 0 && owns_extent(record_offset, pool_.chunk_offset(head));
    if (!exchange_chunk(head, word, word.with_owner(is_kept ? 0 : pool_.owner())) || is_kept) return;
    if (wipes()) wipe_run(head, record_offset);
    free_run(head, record_offset);
}

// Its owner died before it said what it becomes; or while it wiped what it had been.
void Heap::sweep_claimed(std::uint64_t i, ChunkWord word) {
    if (!wipes()) {
        exchange_chunk(i, word, {});
        return;
    }
    if (!exchange_chunk(i, word, ChunkWord::claimed(pool_.owner(), 0))) return;
    wipe(pool_.chunk_offset(i), pool_.super().chunk_bytes);
    set_chunk(i, {}, {});
}

// Its owner died while memory was made for it, or given back.
void Heap::empty_hole(std::uint64_t i, ChunkWord word) {
    pool_.file().punch(pool_.chunk_offset(i), pool_.super().chunk_bytes);
    exchange_chunk(i, word, ChunkWord::make(ChunkKind::hole, 0, 0));
}

// Whether the record at `record_offset` is taken and names the extent at `extent_offset` as its own.
bool Heap::owns_extent(std::uint64_t record_offset, std::uint64_t extent_offset) const {
    Slab slab;
    std::uint32_t unit = 0;
    if (!find_unit(record_offset, slab, unit) || !slab.is_meta()) return false;
    if (Medium::load(unit_word(slab, unit)) == 0) return false;
    const auto& header = pool_.as<RecordHeader>(record_offset);
    if (header.length < sizeof(RecordHeader) || header.length > slab.unit_bytes) return false;
    const Extent extent = extent_of_(header);
    return extent.target == 0 && extent.length != 0 && extent.offset == extent_offset;
}

}  // namespace pmemcpy::heap
