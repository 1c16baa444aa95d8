// From published to free: the word that publishes a record is flagged or replaced by one CAS; whoever then wins
// the CAS on the record's state keeps it in its retire list until no view and no sync needs it; its magic is
// zeroed, its extent freed, its unit freed. A death between any two of these leaves enough in the
// dead process's slot, or in the word itself, for another to go on.
// Modelled in tests/model/retire.hpp.

#include "heap/heap.hpp"
#include "heap/hops.hpp"

#include <pmemcpy/error.hpp>

#include <atomic>
#include <cstring>

namespace pmemcpy::heap {

using persist::Medium;

namespace {
constexpr std::uint64_t most_kept_quickly = 8;
}

Heap::InName::InName(Heap& heap, std::uint64_t slot)
    : heap_(heap), slot_(heap.retire_slot_), owner_(heap.retire_owner_) {
    heap_.retire_mutex_.lock();
    heap_.retire_slot_ = &heap.pool_.runtime().slot(slot);
    heap_.retire_owner_ = pool::Pool::owner_of(slot, heap_.retire_slot_->incarnation);
}

Heap::InName::~InName() {
    heap_.retire_slot_ = slot_;
    heap_.retire_owner_ = owner_;
    heap_.retire_mutex_.unlock();
}

pool::Slot& Heap::retire_slot() { return retire_slot_ != nullptr ? *retire_slot_ : pool_.slot(); }
std::uint64_t Heap::retire_owner() const { return retire_slot_ != nullptr ? retire_owner_ : pool_.owner(); }

// What is expected stays where it is until the exchange is over, or the word could lead to another record by then and look the same: a
// link's 23 bits come again. As with a pin, one that frees the record sees this, or this sees that the record is retired. Of a record that
// nobody pins nobody looks for it.
Heap::Expecting::Expecting(Heap& heap, const Seen& record) : heap_(heap) {
    pool::Pool& pool = heap_.pool_;
    const auto& header = pool.as<RecordHeader>(record.link.offset());
    is_announced_ = pool.slot_index() != pool::slot_count;
    if (is_announced_) {
        pool.medium().store(&pool.slot().expects, record.link.word);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    bool is_there = false;
    pool.guarded([&] {
        const UnitState state{Medium::load(&header.state)};
        is_there = state.kind() == UnitState::owned && is_current_unguarded(pool, record);
    });
    is_there_ = persist::still(is_there);
}

Heap::Expecting::~Expecting() {
    if (is_announced_) heap_.pool_.medium().store(&heap_.pool_.slot().expects, 0);
}

bool Heap::unlink(std::uint64_t* word, const Seen& record, std::uint64_t after) {
    const std::lock_guard one_at_a_time(retire_mutex_);
    const Medium& m = pool_.medium();
    const Expecting expecting(*this, record);
    if (!expecting) return false;
    begin_step(pool::Intent::unlink, pool_.offset_of(word), 0);
    std::uint64_t expected = record.link.word;
    const bool unlinked = m.compare_exchange(word, expected, record.link.dead().word);
    if (unlinked) {
        claim(record.link);
        finish_unlink(word, record.link, after);
    }
    end_step();
    return unlinked;
}

bool Heap::unlink_block(const Seen& block) {
    RecordHeader header;
    pool_.guarded([&] { racy_copy(&header, pool_.at(block.link.offset()), sizeof header); });
    if (header.home % sizeof(std::uint64_t) != 0 || !pool_.contains(header.home, sizeof(std::uint64_t)))
        return false;
    auto* slot = &pool_.as<std::uint64_t>(header.home);
    if (Medium::load(slot) != block.link.word) return false;
    const auto empty = empty_word_of(header.home);
    return empty && unlink(slot, block, *empty);
}

// What supersedes the record may not be durable before the next sync, and recovery finds it again by its slot: so
// behind the page cache the slot stays as it is, and nobody's, until the record is freed.
void Heap::finish_unlink(std::uint64_t* word, Link record, std::uint64_t after) {
    if (pool_.probe().needs_sync) return;
    const Medium& m = pool_.medium();
    std::uint64_t expected = record.dead().word;
    // Nothing durable may lead to the record once its space is another's.
    if (m.compare_exchange(word, expected, after)) m.persist(word, sizeof *word);
}

// The slot that a block leaves when it is freed, if it is still marked with it, is empty again.
void Heap::vacate_slot(const RecordHeader& block, Link record) {
    if (!pool_.probe().needs_sync || static_cast<RecordKind>(block.kind) != RecordKind::block) return;
    if (block.home % sizeof(std::uint64_t) != 0 || !pool_.contains(block.home, sizeof(std::uint64_t))) return;
    auto* slot = &pool_.as<std::uint64_t>(block.home);
    std::uint64_t expected = record.dead().word;
    if (Medium::load(slot) != expected) return;
    if (const auto empty = empty_word_of(block.home))
        static_cast<void>(pool_.medium().compare_exchange(slot, expected, *empty));
}

// The caller has seen there the link of a block that its exchange expects: so long the segment around it is that block's.
std::optional<std::uint64_t> Heap::empty_word_of(std::uint64_t slot) const {
    Slab slab;
    if (!read_slab(pool_.chunk_of(slot), slab) || !slab.is_meta() || slot < slab.first_unit)
        return std::nullopt;
    const auto& segment = pool_.as<RecordHeader>(slot - (slot - slab.first_unit) % slab.unit_bytes);
    if (segment.magic != record_magic || static_cast<RecordKind>(segment.kind) != RecordKind::segment)
        return std::nullopt;
    return Link::mark(mark_empty, segment.version).word;
}

bool Heap::replace(std::uint64_t* word, const Seen& old, Link fresh, Link older) {
    const std::lock_guard one_at_a_time(retire_mutex_);
    const Medium& m = pool_.medium();
    const Expecting expecting(*this, old);
    if (!expecting) return false;
    m.store(&retire_slot().step_c, older.word);
    begin_step(pool::Intent::replace, fresh.word, old.link.word);
    std::uint64_t expected = old.link.word;
    const bool replaced = m.compare_exchange(word, expected, fresh.word);
    if (replaced) {
        m.persist(word, sizeof *word);
        claim(old.link);
        // Somebody may have replaced `fresh` too, and its unit may be another record by now.
        auto& header = pool_.as<RecordHeader>(fresh.offset());
        expected = old.link.dead().word;
        // Flushed, or a pool that was closed cleanly could still lead from here to what is gone, and only the 23 bits of a tag would
        // tell it from what has come into its place.
        if (m.compare_exchange(&header.word, expected, 0)) m.flush(&header.word, sizeof header.word);
        retire_with_older(older);
    }
    end_step();
    return replaced;
}

void Heap::retire(Link record) {
    const std::lock_guard one_at_a_time(retire_mutex_);
    claim(record);
}

// The oldest first, so that a process that repeats this finds all that is left.
void Heap::retire_with_older(Link version) {
    std::vector<Link> versions;
    Hops hops;
    while (is_plausible(pool_, version) && hops.take(version) && is_current(pool_, version)) {
        std::optional<Link> older;
        pool_.guarded([&] { older = older_of_(pool_.as<RecordHeader>(version.offset())); });
        // After a power loss a version may have been drawn a second time, for something else.
        if (!older) break;
        // Retired and freed by another just then: what was read may be of the record that has come into its place.
        if (!is_still_current(pool_, version)) break;
        versions.push_back(version);
        version = *older;
    }
    for (auto each = versions.rbegin(); each != versions.rend(); ++each) retire(*each);
}

// Exactly one process wins the state word and puts the record into its list. A record that had replaced another
// when its writer died takes that one along; but one that had only been going to does not: `reachable` tells.
void Heap::claim(Link record, Reachability* reachable) {
    const Medium& m = pool_.medium();
    Hops hops;
    for (Link link = record.alive(); is_plausible(pool_, link) && hops.take(link);) {
        auto& header = pool_.as<RecordHeader>(link.offset());
        // Looked at before the record is: should the unit be freed and claimed again, the state will be another.
        std::uint64_t before = Medium::load(&header.state);
        if (!is_current(pool_, link)) return;
        Link replaced{};
        const auto kind = static_cast<RecordKind>(header.kind);
        if (kind == RecordKind::value || kind == RecordKind::block) replaced = {Medium::load(&header.word)};
        // Another may have retired and freed it since the look above: then what was read may be of the record that has come into its
        // place, and name what that one is only going to replace.
        if (!is_still_current(pool_, link)) return;
        if (UnitState{before}.kind() == UnitState::owned) {
            const std::uint64_t epoch =
                pool_.probe().needs_sync ? Medium::load(&pool_.runtime().header().sync_started) : 0;
            const std::uint64_t mine = UnitState::make(UnitState::retired, retire_owner(), epoch).word;
            // Announced first: between the two stores below the record is in no list, and if what replaced it is
            // freed before this process is found dead, nothing else leads to it any more.
            m.store(&retire_slot().claiming, link.word);
            if (m.compare_exchange(&header.state, before, mine)) {
                m.store(&header.next.word, Medium::load(&retire_slot().retire_head));
                m.store(&retire_slot().retire_head, link.word);
            }
            m.store(&retire_slot().claiming, 0);
        } else if (UnitState{before}.kind() == UnitState::retired &&
                   UnitState{before}.owner() == retire_owner()) {
            push_unless_listed(link);
        }
        if (!replaced.is_dead() || !replaced.is_record()) return;
        link = replaced.alive();
        if (reachable != nullptr && reachable->is_reachable(link)) return;
    }
}

// Claimed by a process that died before it could put the record into its list.
void Heap::push_unless_listed(Link record) {
    Hops hops;
    for (Link link{Medium::load(&retire_slot().retire_head)}; is_plausible(pool_, link) && hops.take(link);) {
        if (link == record) return;
        link = pool_.as<RecordHeader>(link.offset()).next;
    }
    auto& header = pool_.as<RecordHeader>(record.offset());
    pool_.medium().store(&header.next.word, Medium::load(&retire_slot().retire_head));
    pool_.medium().store(&retire_slot().retire_head, record.word);
}

// What cannot be freed now, because the kernel gives no lock, stays in the list and is tried again: it is no failure of the
// verb that asked.
bool Heap::reclaim(Effort effort) try {
    const std::lock_guard one_at_a_time(retire_mutex_);
    // Records that views keep would be looked at again by every store; so the whole list is walked only once
    // for as many calls as it is long.
    if (effort == Effort::quick && ++calls_since_walk_ <= kept_) return reclaim_locked(most_kept_quickly);
    calls_since_walk_ = 0;
    return reclaim_locked(~std::uint64_t{0});
} catch (const Error&) {
    return false;
}

bool Heap::reclaim_locked(std::uint64_t most_kept) {
    const Medium& m = pool_.medium();
    pool::Slot& slot = retire_slot();
    if (const Link claiming{Medium::load(&slot.claiming)};
        is_plausible(pool_, claiming)) {  // its owner died there
        const UnitState state{Medium::load(&pool_.as<RecordHeader>(claiming.offset()).state)};
        const bool is_claimed = state.kind() == UnitState::retired && state.owner() == retire_owner();
        if (is_claimed && is_current(pool_, claiming)) push_unless_listed(claiming);
        m.store(&slot.claiming, 0);
    }
    if (const Link freeing{Medium::load(&slot.freeing)}; is_plausible(pool_, freeing)) {  // or there
        unlist(freeing);
        finish_freeing(freeing);
    }
    std::uint64_t kept = 0;
    std::uint64_t* from = &slot.retire_head;
    Hops hops;
    for (Link link{Medium::load(from)}; is_plausible(pool_, link) && hops.take(link);) {
        auto& header = pool_.as<RecordHeader>(link.offset());
        if (UnitState{Medium::load(&header.state)}.kind() != UnitState::retired) break;
        const Link next = header.next;
        if (!may_free(header, link)) {
            if (++kept >= most_kept) return false;
            from = &header.next.word;
        } else {
            vacate_slot(header, link);
            // Nothing may find the record by scanning once its space is somebody else's (law 1): readers see this before
            // what is stored there, because whoever claims the space exchanges a word first; and the medium has it when it
            // has the unit's state, which lies in the same line.
            const std::uint32_t none = 0;
            if (header.magic != none) m.write(&header.magic, &none, sizeof none);
            free_extent(extent_of_(header), link.offset());
            m.store(&slot.freeing, link.word);
            m.store(from, next.word);
            finish_freeing(link);
        }
        link = next;
    }
    kept_ = kept;
    return kept == 0;
}

// By a CAS on what tells one record from all others in this place, which by now may be another's. The magic stays: a living
// eraser may not have claimed the record yet, and retires it, and what it leads to, only while it is current.
void Heap::hide(std::uint64_t offset, const RecordHeader& record) {
    auto* magic_and_checksum = &pool_.as<std::uint64_t>(offset);
    RecordHeader after = record;
    after.checksum = hidden_checksum(record.checksum);
    std::uint64_t expected = 0, fresh = 0;
    std::memcpy(&expected, &record, sizeof expected);
    std::memcpy(&fresh, &after, sizeof fresh);
    const std::lock_guard one_at_a_time(retire_mutex_);
    static_cast<void>(pool_.medium().compare_exchange(magic_and_checksum, expected, fresh));
}

// Takes a record out of the list in which it may or may not be.
void Heap::unlist(Link record) {
    std::uint64_t* from = &retire_slot().retire_head;
    Hops hops;
    for (Link link{Medium::load(from)}; is_plausible(pool_, link) && hops.take(link);) {
        auto& header = pool_.as<RecordHeader>(link.offset());
        if (UnitState{Medium::load(&header.state)}.kind() != UnitState::retired) return;
        if (link == record) return pool_.medium().store(from, header.next.word);
        from = &header.next.word;
        link = {Medium::load(from)};
    }
}

// Off the list, not yet free: `freeing` remembers it, and the CAS on its state frees it once.
void Heap::finish_freeing(Link link) {
    const std::uint64_t state = Medium::load(&pool_.as<RecordHeader>(link.offset()).state);
    if (UnitState{state}.kind() == UnitState::retired && UnitState{state}.owner() == retire_owner()) {
        free_unit(link.offset(), UnitState{state});
    }
    pool_.medium().store(&retire_slot().freeing, 0);
}

bool Heap::may_free(const RecordHeader& record, Link link) {
    if (pool_.probe()
            .needs_sync) {  // the synced version must outlive the sync that makes its successor durable
        const std::uint64_t epoch = UnitState{record.state}.epoch();
        if (Medium::load(&pool_.runtime().header().sync_completed) <= epoch) return false;
    }
    const bool may_be_pinned =
        extent_of_(record).length != 0 || static_cast<RecordKind>(record.kind) == RecordKind::array;
    return !may_be_pinned || persist::still(!pins_.is_pinned(link));
}

void Heap::begin_step(pool::Intent intent, std::uint64_t a, std::uint64_t b) {
    pool::Slot& slot = retire_slot();
    pool_.medium().store(&slot.step_a, a);
    pool_.medium().store(&slot.step_b, b);
    pool_.medium().store(&slot.step_intent, static_cast<std::uint64_t>(intent));
}

void Heap::end_step() { pool_.medium().store(&retire_slot().step_intent, 0); }

}  // namespace pmemcpy::heap
