// Who is there, told by locks that the kernel drops at death (law 7):
//
//   attach byte       of the pool; shared: a writer is attached; exclusive: somebody is alone, recovering or closing
//   detach byte       of the .rt; exclusive: one at a time asks whether it is the last
//   allocation byte   of the .rt; exclusive: chunks change hands
//   sync byte         of the .rt; exclusive: one sync at a time
//   step byte         of the .rt; exclusive: one at a time drops what an abandoned step has left
//   feed byte         of the .rt; exclusive: one at a time makes the feed
//   scope byte        of the .rt; exclusive: one at a time moves objects between this pool and the one that it lies beside
//
// The bytes lie far behind the end of any pool, because locks on the pool's own bytes are readers' pins. Who may only read
// the pool can lock it, shared, for as long as he likes; what a writer waits for is on the .rt, which he cannot open.

#include "os/lock.hpp"
#include "os/process.hpp"
#include "pool/estate.hpp"
#include "pool/geometry.hpp"
#include "pool/locks.hpp"
#include "pool/pool.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>

namespace pmemcpy::pool {
namespace {

constexpr std::uint64_t looked_at_when_attaching = 16;
// Each one means that the processes that were there have just gone, or that others ask, too.
constexpr int most_attempts = 1000;
constexpr int attempts_before_nap = 8;
constexpr std::uint64_t shortest_nap_ns = 10'000;
constexpr std::uint64_t longest_nap_ns = 5'000'000;
// Of who waits for a lock and looks meanwhile whether it is still needed.
constexpr std::uint64_t least_between_looks_ns = 100'000;
constexpr std::uint64_t times_as_long_between_looks = 4;

// Of those who ask at the same moment each may keep the others from being alone, again and again, for as long as they do it in
// step: each sleeps for a while of its own, longer each time.
void nap_after(int attempt) {
    if (attempt < attempts_before_nap) return os::yield();
    const std::uint64_t longest =
        std::min(longest_nap_ns, shortest_nap_ns << std::min(attempt - attempts_before_nap, 10));
    os::sleep_ns(os::monotonic_ns() % longest);
}

}  // namespace

Pool::ByteLock::ByteLock(os::File& file, std::uint64_t byte, std::mutex& mutex)
    : file_(file), byte_(byte), one_thread_(mutex) {
    os::lock(file_, os::LockKind::exclusive, byte_, 1);
}

Pool::ByteLock::ByteLock(os::File& file, std::uint64_t byte, std::mutex& mutex,
                         const std::function<bool()>& is_done)
    : file_(file), byte_(byte), one_thread_(mutex, std::defer_lock) {
    for (;;) {
        if (one_thread_.try_lock()) {
            if (os::try_lock(file_, os::LockKind::exclusive, byte_, 1)) return;
            one_thread_.unlock();
        }
        const std::uint64_t began = os::monotonic_ns();
        if (is_done()) return;
        const std::uint64_t took = os::monotonic_ns() - began;
        os::sleep_ns(std::max(least_between_looks_ns, times_as_long_between_looks * took));
    }
}

Pool::ByteLock::~ByteLock() {
    if (one_thread_.owns_lock()) os::unlock(file_, byte_, 1);
}

Pool::AllocationLock::AllocationLock(Pool& pool)
    : ByteLock(pool.runtime_->file(), allocation_byte, pool.allocation_mutex_) {}
Pool::SyncLock::SyncLock(Pool& pool) : ByteLock(pool.runtime_->file(), sync_byte, pool.sync_mutex_) {}
Pool::StepLock::StepLock(Pool& pool) : ByteLock(pool.runtime_->file(), step_byte, pool.step_mutex_) {}
Pool::FeedLock::FeedLock(Pool& pool) : ByteLock(pool.runtime_->file(), feed_byte, pool.feed_mutex_) {}

Pool::RoomLock::RoomLock(Pool& pool, std::size_t level, const std::function<bool()>& is_there)
    : ByteLock(pool.runtime_->file(), room_byte + level, pool.room_mutexes_.at(level), is_there) {}
Pool::HierarchyLock::HierarchyLock(Pool& pool)
    : ByteLock(pool.runtime_->file(), hierarchy_byte, pool.hierarchy_mutex_) {}

Pool::CopiesLock::CopiesLock(Pool& pool) : ByteLock(pool.runtime_->file(), copies_byte, pool.copies_mutex_) {}

Pool::InventoryLock::InventoryLock(Pool& pool)
    : ByteLock(pool.runtime_->file(), inventory_byte, pool.inventory_mutex_) {}

Pool::TriedLock::TriedLock(os::File& file, std::uint64_t byte)
    : file_(file), byte_(byte), is_held_(os::try_lock(file_, os::LockKind::exclusive, byte_, 1)) {}
Pool::TriedLock::~TriedLock() {
    if (is_held_) os::unlock(file_, byte_, 1);
}
Pool::ScopeLock::ScopeLock(Pool& pool) : TriedLock(pool.runtime_->file(), scope_byte) {}
Pool::LeadLock::LeadLock(Pool& pool) : TriedLock(pool.runtime_->file(), lead_byte) {}
Pool::HandOverLock::HandOverLock(Pool& pool) : TriedLock(pool.runtime_->file(), hand_over_byte) {}
Pool::OrganizerLock::OrganizerLock(Pool& pool) : TriedLock(pool.runtime_->file(), organizer_byte) {}
Pool::IndexLock::IndexLock(Pool& pool) : TriedLock(pool.runtime_->file(), index_byte) {}

bool Pool::has_organizer() {
    return os::conflicts(runtime_->file(), os::LockKind::exclusive, organizer_byte, 1);
}
Pool::OperationLock::OperationLock(Pool& pool, std::uint64_t number)
    : TriedLock(pool.runtime_->file(), operation_bytes + number % operation_byte_count) {}
Pool::TransitLock::TransitLock(Pool& pool, std::uint64_t version)
    : TriedLock(pool.runtime_->file(), transit_bytes + version % transit_byte_count) {}
bool Pool::is_in_transit(std::uint64_t version) {
    return os::conflicts(runtime_->file(), os::LockKind::exclusive,
                         transit_bytes + version % transit_byte_count, 1);
}
Pool::RegistryLock::RegistryLock(Pool& pool)
    : ByteLock(pool.runtime_->file(), registry_byte, pool.registry_mutex_) {}

void Pool::attach(Lifecycle& lifecycle, const std::function<void()>& if_first) {
    check_usable();
    check_state();
    if (read_only_) return attach_reader();
    check_writable();
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        if (os::try_lock(file_, os::LockKind::exclusive, attach_byte, 1)) {
            enter_alone(lifecycle);
            take_slot(lifecycle);
            if (if_first) if_first();
            // Whoever waits for us may join from here on; had we died before, he would begin as we did.
            runtime_->validate(super_.uuid);
            return share_again();
        }
        if (try_join()) return take_slot(lifecycle);
        nap_after(attempt);
    }
    throw Error(Code::busy, path() + ": others keep opening and closing the pool; try again");
}

// A reader takes no lock that a writer could meet. It may trust the links while a writer keeps them, or after
// an orderly close; rebuilding them needs the permission to write.
void Pool::attach_reader() {
    if (persist::Medium::load(&state().failed.value) != 0) throw_latched();
    const bool writer_is_there = os::conflicts(file_, os::LockKind::exclusive, attach_byte, 1);
    if (!writer_is_there && !is_clean()) {
        throw Error(Code::busy,
                    path() +
                        " was not closed cleanly and must be recovered by somebody who may write it; "
                        "run `pmemcpy info` on it as its owner");
    }
    attached_ = true;
}

// Holds the exclusive lock: nobody else is attached, so the links are as good as the clean flag.
void Pool::enter_alone(Lifecycle& lifecycle) {
    refresh_features();
    const bool clean = is_clean();
    // From the other copy. Nobody needs it before that one is lost too, so it is not made durable here.
    if (const auto offset = damaged_superblock()) medium_.write(at(*offset), &super_, sizeof super_);
    runtime_.emplace(Runtime::open(file_, file_.mode_bits(), 0, true));
    runtime_fork_ = os::ClosedInChild(runtime_->file());
    runtime_->reset();
    medium_.store(&state().runtime_inode.value, runtime_->inode());
    set_clean(false);
    feed_.reset(clean);
    // A count that is odd though no recovery was cut short would keep every reader waiting.
    if (clean && recovery_count() % 2 != 0)
        medium_.store(&state().recovery_count.value, recovery_count() + 1);
    if (!clean) recover(lifecycle);
    medium_.store(&runtime_->header().began_at, persist::Medium::load(&state().next_version.value));
}

// Turns the exclusive lock into a shared one, atomically.
void Pool::share_again() { os::lock(file_, os::LockKind::shared, attach_byte, 1); }

// Alone in the pool, in the name of slot 0.
void Pool::recover(Lifecycle& lifecycle) {
    // A rebuild that was killed leaves the count odd; it must be odd during this one and new after it.
    medium_.store(&state().recovery_count.value, (recovery_count() + 2) | 1);
    slot_ = 0;
    owner_ = owner_of(0, 0);
    lifecycle.rebuild();
    medium_.store(&state().recovery_count.value, recovery_count() + 1);
}

// Whoever held the lock when ours failed may have gone before we got the shared one; then nobody vouches for
// the session, and we begin again.
bool Pool::try_join() {
    os::lock(file_, os::LockKind::shared, attach_byte, 1);
    try {
        if (persist::Medium::load(&state().clean.value) == 0) {
            runtime_.emplace(Runtime::open(file_, file_.mode_bits(),
                                           persist::Medium::load(&state().runtime_inode.value), false));
            if (runtime_->is_valid(super_.uuid)) {
                refresh_features();
                runtime_fork_ = os::ClosedInChild(runtime_->file());
                return true;
            }
        }
    } catch (...) {
        os::unlock(file_, attach_byte, 1);
        throw;
    }
    runtime_.reset();
    os::unlock(file_, attach_byte, 1);
    return false;
}

void Pool::take_slot(Lifecycle& lifecycle) {
    // Slots that nobody has left anything in come first: asking the kernel about thousands of locks is slow.
    for (const bool also_left_behind : {false, true}) {
        for (std::uint64_t i = 0; i < slot_count; ++i) {
            const bool left_behind = persist::Medium::load(&runtime_->slot(i).attached) != 0;
            if (left_behind == also_left_behind && try_slot(i, lifecycle)) {
                attached_ = true;
                scavenge_some(lifecycle);
                notice_deaths_in_step();
                return;
            }
        }
    }
    os::unlock(file_, attach_byte, 1);
    throw Error(Code::busy,
                path() + ": all " + std::to_string(slot_count) + " places for attached processes are taken");
}

bool Pool::try_slot(std::uint64_t i, Lifecycle& lifecycle) {
    const Estate estate(*runtime_, i, Estate::Others::pass);
    if (!estate) return false;
    Slot& slot = runtime_->slot(i);
    slot_ = i;
    owner_ = owner_of(i, slot.incarnation);  // a dead owner's work is finished under its own name
    if (!clean_up_after_dead(i, lifecycle)) return false;
    if (!os::try_lock(runtime_->file(), os::LockKind::exclusive, Runtime::owner_byte(i), 1)) return false;
    begin_slot(slot);
    std::uint64_t used = persist::Medium::load(&runtime_->header().slots_used);
    while (used < i + 1 && !medium_.compare_exchange(&runtime_->header().slots_used, used, i + 1)) {
    }
    medium_.store(&slot.attached, 1);
    return true;
}

void Pool::begin_slot(Slot& slot) {
    const persist::Medium& m = medium_;
    m.store(&slot.attached, 0);
    m.store(&slot.incarnation, slot.incarnation + 1);
    owner_ = owner_of(slot_, slot.incarnation);
    m.store(&slot.retire_head, 0);
    m.store(&slot.freeing, 0);
    m.store(&slot.claiming, 0);
    m.store(&slot.step, 0);
    m.store(&slot.step_intent, 0);
    m.store(&slot.intent, 0);
    m.store(&slot.is_done, 0);
    m.fill(slot.reserved.data(), 0, sizeof slot.reserved);
    m.store(&slot.pin_count, 0);
    m.fill(slot.pins.data(), 0, sizeof slot.pins);
    m.store(&slot.pid, process_id_);
    m.store(&slot.attached_ns, os::wall_ns());
}

void Pool::detach(Lifecycle& lifecycle, const std::function<void()>& if_last) {
    if (!attached_ || fork_generation_ != os::fork_generation()) return;
    if (if_last && !read_only_) {
        // Until we are out: of two that leave at once one has to be the last.
        os::lock(runtime_->file(), os::LockKind::exclusive, detach_byte, 1);
        if (os::try_lock(file_, os::LockKind::exclusive, attach_byte, 1)) {
            if_last();
            share_again();
        }
    }
    attached_ = false;
    if (read_only_) return;
    const bool failed = persist::Medium::load(&state().failed.value) != 0;
    if (probe_.needs_sync && !failed) sync();
    const bool empty = lifecycle.leave();
    enter_step(0);  // what it had stored in a step stays, for others to commit
    // A slot with something left in it looks like a dead process's: whoever comes by goes on with it.
    if (empty) medium_.store(&slot().attached, 0);
    // Two that leave at once would each see the other's lock; so they ask one after the other.
    os::lock(runtime_->file(), os::LockKind::exclusive, detach_byte, 1);
    os::unlock(runtime_->file(), Runtime::owner_byte(slot_), 1);
    if (!failed && os::try_lock(file_, os::LockKind::exclusive, attach_byte, 1)) {
        close_alone(lifecycle);
    }
    os::unlock(file_, attach_byte, 1);
    os::unlock(runtime_->file(), detach_byte, 1);
}

// Everybody else has left. A pool is called clean when its links can be trusted on the medium.
void Pool::close_alone(Lifecycle& lifecycle) {
    slot_ = slot_count;  // nobody's: even our own slot may need cleaning up now
    const bool step_open = state().begun_step.value > committed_step();
    if (!scavenge_dead(lifecycle) || step_open) return;
    // The dead may have stored words that all have seen and that they did not come to flush. Who could tell which?
    const bool died = persist::Medium::load(&runtime_->header().scavenges) != 0;
    if (died && probe_.durability == Durability::line) {
        recover(lifecycle);
        slot_ = slot_count;
        if (!scavenge_dead(lifecycle)) return;  // a view still keeps something
    }
    feed_.settle();
    set_clean(true);
}

void Pool::check_alone() { lock_alone(file_); }

void Pool::lock_alone(os::File& file) {
    if (os::try_lock(file, os::LockKind::exclusive, attach_byte, 1)) return;
    throw Error(Code::busy, file.path() + " is in use by another process; close it there first");
}

Pool::Alone::Alone(Pool& pool) : pool_(pool) {
    if (os::try_lock(pool_.file_, os::LockKind::exclusive, attach_byte, 1)) return;
    throw Error(Code::busy,
                pool_.path() +
                    " is open for writing elsewhere, which must not be for this once; close it there and "
                    "try again");
}

Pool::Alone::~Alone() { os::lock(pool_.file_, os::LockKind::shared, attach_byte, 1); }

std::uint64_t Pool::count_attached() const {
    if (read_only_) return 0;  // a reader has no access to the run-time file
    std::uint64_t count = 0;
    const std::uint64_t used = persist::Medium::load(&runtime_->header().slots_used);
    for (std::uint64_t i = 0; i < used; ++i) {
        const bool attached = persist::Medium::load(&runtime_->slot(i).attached) != 0;
        if (attached && (i == slot_ || !runtime_->is_dead(i))) ++count;
    }
    return count;
}

bool Pool::others_may_store() const {
    const std::uint64_t used = persist::Medium::load(&runtime_->header().slots_used);
    for (std::uint64_t i = 0; i < used; ++i) {
        const Slot& slot = runtime_->slot(i);
        const bool may = i != slot_ && persist::Medium::load(&slot.attached) != 0 &&
                         persist::Medium::load(&slot.is_done) == 0;
        if (may && !runtime_->is_dead(i)) return true;
    }
    return false;
}

void Pool::set_clean(bool clean) {
    if (clean) {
        // Every derived word was flushed where it was written, so that one fence makes the links trustworthy; but not the
        // words that the mark vouches for.
        medium_.flush(&state(), sizeof(PoolState));
        medium_.fence();
        sync_outside();
        if (probe_.needs_sync) medium_.sync(file_);
    }
    medium_.store(&state().clean.value, clean ? clean_mark(state()) : 0);
    medium_.persist(&state().clean.value, sizeof(std::uint64_t));
    if (probe_.needs_sync) medium_.sync(file_);
}

// The caller holds the estate.
bool Pool::clean_up_after_dead(std::uint64_t i, Lifecycle& lifecycle) {
    Slot& slot = runtime_->slot(i);
    if (!runtime_->is_dead(i)) return true;
    medium_.fetch_add(&runtime_->header().scavenges, 1);  // first: whoever closes the pool has to know
    note_death_in_step(i);
    medium_.store(&slot.step, 0);
    if (!lifecycle.scavenge(i)) return false;
    feed_.append_lost();  // it may have died between publishing something and saying so
    medium_.store(&slot.attached, 0);
    return true;
}

bool Pool::scavenge_dead(Lifecycle& lifecycle) {
    const std::lock_guard one_thread(scavenge_mutex_);
    bool all = true;
    const std::uint64_t used = persist::Medium::load(&runtime_->header().slots_used);
    for (std::uint64_t i = 0; i < used; ++i) {
        if (i == slot_ || !runtime_->is_dead(i)) continue;
        const Estate estate(*runtime_, i, Estate::Others::await);
        all = clean_up_after_dead(i, lifecycle) && all;
    }
    return all;
}

// Whoever comes looks at a few, each at others, and passes by what others are cleaning up: nobody waits to get in.
void Pool::scavenge_some(Lifecycle& lifecycle) {
    const std::lock_guard one_thread(scavenge_mutex_);
    const std::uint64_t used = persist::Medium::load(&runtime_->header().slots_used);
    std::uint64_t looked = 0;
    for (std::uint64_t k = 1; k < used && looked < looked_at_when_attaching; ++k) {
        const std::uint64_t i = (slot_ + k) % used;
        if (persist::Medium::load(&runtime_->slot(i).attached) == 0) continue;
        ++looked;
        if (!runtime_->is_dead(i)) continue;
        const Estate estate(*runtime_, i, Estate::Others::pass);
        if (estate) clean_up_after_dead(i, lifecycle);
    }
}

}  // namespace pmemcpy::pool
