// Recovery: the records alone decide. They are found by scanning the metadata slabs; the word that publishes a
// version is believed when what it names is whole, and else the highest whole version is elected (law 1).
// All that is derived is then written anew. Repeating it changes nothing.

#include "catalog/catalog.hpp"
#include "catalog/scan.hpp"

#include <algorithm>

namespace pmemcpy::catalog {

using heap::mark_empty;
using heap::RecordKind;
using persist::Medium;

// What is there already may be there for this process only: whoever stored it was killed before he flushed it.
void Scan::set(std::uint64_t* word, Link link) {
    if (*word != link.word) pool_.medium().store(word, link.word);
    pool_.medium().flush(word, sizeof *word);
}

bool Scan::keep(std::uint64_t offset) {
    if (kept_.contains(offset))
        return false;  // a record belongs to one place, whatever a scribbled pool says
    const RecordHeader& record = header(offset);
    if (!heap_.mark_extent(Catalog::extent_of(record), link_of(offset))) return false;
    if (const Extent extent = Catalog::extent_of(record); extent.target != 0) outside_.push_back(extent);
    kept_.insert(offset);
    return heap_.mark_record(offset, record.length);
}

// A reader without write permission may have viewed, since before everybody else died, what is garbage now. Its
// locks on the records say so (law 6).
void Scan::keep_pinned() {
    for (const auto& [offset, kind] : whole_) {
        if (kept_.contains(offset) || Catalog::extent_of(header(offset)).length == 0) continue;
        if (heap_.pins().is_pinned(link_of(offset)) && keep(offset)) pinned_.push_back(link_of(offset));
    }
}

void Scan::keep_array(std::uint64_t offset) {
    auto& array = pool_.as<Array>(offset);
    if (const std::uint64_t newest = pool_.committed_step();
        pool_.probe().needs_sync && array.kept_since < newest) {
        // Blocks of older steps may be gone from the medium, and the word that says so may not have come there.
        pool_.medium().store(&array.kept_since, newest);
    }
    const std::size_t losses = losses_.size();
    std::uint64_t* tail = &array.header.word;
    std::uint64_t owner = array.header.version;
    for (Link link{*tail}; is_whole(link, RecordKind::segment, array.header.incarnation); link = {*tail}) {
        if (!keep(link.offset())) break;
        auto& segment = pool_.as<Segment>(link.offset());
        auto* slots = reinterpret_cast<std::uint64_t*>(&segment + 1);
        set(&segment.header.home, {pool_.offset_of(tail)});
        for (std::uint32_t i = 0; i < segment.slots; ++i) {
            const std::uint64_t slot_offset = pool_.offset_of(&slots[i]);
            Link block = elect_block(slot_offset, Link{slots[i]}, array);
            if (block.is_record() && !keep(block.offset())) block = {};
            if (!block.is_record()) block = Link::mark(mark_empty, segment.header.version);
            set(&slots[i], block);
            if (!block.is_record()) continue;
            auto& record = pool_.as<Block>(block.offset());
            set(&record.header.home, {slot_offset});
            if ((record.flags & block_in_place) == 0) set(&record.header.word, {});
        }
        tail = &segment.header.word;
        owner = segment.header.version;
    }
    if (Link{*tail}.is_record()) {
        lose(array.header.incarnation, "a part of its block directory is damaged; blocks may be lost");
        if (salvage_ != nullptr) keep_blocks_without_slot(offset);
    }
    if (losses_.size() > losses)  // nor is anything promised of what older steps held
        pool_.medium().store(&array.kept_since, std::max(array.kept_since, pool_.committed_step()));
    // Also where it is sealed: behind the page cache the seal may have come through and the erase not.
    set(tail, Link::mark(mark_empty, owner));
}

void Scan::keep_blocks_without_slot(std::uint64_t array) {
    const std::uint64_t incarnation = header(array).incarnation;
    for (const auto& [home, block] : blocks_) {
        if (header(block).incarnation != incarnation || kept_.contains(block) ||
            !checksum_holds(header(block)))
            continue;
        if (keep(block)) blocks_without_slot_.emplace_back(link_of(array), link_of(block));
    }
}

// A variable whose id is lost with its entry; or an attribute's value, for a value does not say which it is.
void Scan::keep_definitions_without_name() {
    std::unordered_set<std::uint64_t> known;
    for (const std::uint64_t identity : identities_) known.insert(header(identity).incarnation);
    std::unordered_map<std::uint64_t, std::uint64_t> newest;
    for (const auto& [incarnation, offset] : definitions_) {
        if (known.contains(incarnation) || Catalog::is_group(pool_, link_of(offset))) continue;
        std::uint64_t& best = newest[incarnation];
        if (best == 0 || header(offset).version > header(best).version) best = offset;
    }
    for (const auto& [incarnation, offset] : newest) {
        if (!keep(offset)) continue;
        if (whole_.at(offset) == RecordKind::array) keep_array(offset);
        definitions_without_name_.push_back(link_of(offset));
    }
}

void Scan::put_in_chain(std::uint64_t* head, std::uint64_t node) {
    set(&header(node).next.word, Link{*head});
    set(head, link_of(node));
    set(&header(node).home, {pool_.offset_of(head)});
}

void Scan::rewrite(std::uint64_t bucket_mask) {
    const Medium& m = pool_.medium();
    heap_.begin_rebuild();
    const std::uint64_t table = pool_.super().bucket_offset;
    m.fill(pool_.at(table), 0, (bucket_mask + 1) * 8);
    m.flush(pool_.at(table), (bucket_mask + 1) * 8);
    std::unordered_map<std::uint64_t, std::uint64_t> owners;  // incarnation -> identity
    for (Named& named : named_) {
        auto& entry = pool_.as<Entry>(named.identity);
        const Link empty = Link::mark(mark_empty, entry.header.version);
        const bool renamed = named.node != named.identity;
        if (!keep(named.definition.offset()) || !keep(named.identity) || (renamed && !keep(named.node))) {
            lose(entry.header.incarnation, "its space belongs to something else");
            continue;
        }
        if (renamed) set(&header(named.node).word, link_of(named.identity));
        set(&entry.header.word, named.definition);
        set(&entry.attributes.word, empty);
        set(&entry.moved.word, renamed ? link_of(named.node) : empty);
        RecordHeader& definition = header(named.definition.offset());
        set(&definition.home, {pool_.offset_of(&entry.header.word)});
        if (static_cast<RecordKind>(definition.kind) == RecordKind::array) {
            keep_array(named.definition.offset());
        } else {
            set(&definition.word, {});
        }
        named.kept = true;
        if (entry.parent == 0) owners.emplace(entry.header.incarnation, named.identity);
    }
    for (const Named& named : named_) {
        if (!named.kept) continue;  // in a copy made while in use, two records may claim the same space
        const auto& name = pool_.as<Entry>(named.node);
        if (name.parent == 0) {
            put_in_chain(&pool_.as<std::uint64_t>(table + 8 * (name.hash & bucket_mask)), named.node);
        } else if (const auto owner = owners.find(name.parent); owner != owners.end()) {
            put_in_chain(&pool_.as<Entry>(owner->second).attributes.word, named.node);
        }
    }
    if (salvage_ != nullptr && salvage_->was_clean) keep_definitions_without_name();
    keep_pinned();
    // What was believed and kept has to be durable before anything else goes: its maker may not have come to that.
    // On page media it has been since the sync that took the clean mark away.
    m.fence();
    heap_.finish_rebuild();
    if (heap_.outside() != nullptr) heap_.outside()->keep_only(outside_);
}

void Catalog::rebuild() {
    const Medium& m = pool_.medium();
    pool::PoolState& state = pool_.state();
    Scan scan(pool_, heap_, salvage_);
    if (salvage_ != nullptr) bring_back_slabs();
    scan.collect();
    if (state.committed_step.value == pool::unknown_step)
        m.store(&state.committed_step.value, scan.highest_step());
    // Of a private side whose committer died when the shared one had the step already. Behind the page cache that one may still lose it.
    if (state.committed_step.value < pool_.committed_step() && !pool_.probe().needs_sync)
        m.store(&state.committed_step.value, pool_.committed_step());
    // Or a power loss now would bring back the step before it, and what is dropped here of that.
    pool_.vouch_for_committed_step();
    scan.elect();
    scan.rewrite(pool_.super().bucket_count - 1);
    m.store(&state.next_version.value, std::max(state.next_version.value, scan.highest_version() + 1));
    m.store(&state.begun_step.value, pool_.committed_step());
    m.store(&state.broken_step.value, 0);
    // No image shows it: what was dropped, such as an abandoned step, would be dropped again; but then everything hung on that each rule
    // of election alone says the same a second time. And what was wiped has to be so before somebody is let in.
    if (pool_.probe().needs_sync) m.sync(pool_.file());
    // They wait in a slot that looks like a dead process's, until somebody finds them unpinned.
    for (const Link link : scan.pinned()) heap_.retire(link);
    if (!scan.pinned().empty()) m.store(&pool_.slot().attached, 1);
    if (salvage_ != nullptr) bring_back(scan);
}

}  // namespace pmemcpy::catalog
