// The locks that processes of a pool hold one at a time; which byte stands for which is in attach.cpp.

#include "pool/locks.hpp"

#include "os/futex.hpp"
#include "os/lock.hpp"
#include "os/process.hpp"
#include "pool/pool.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <atomic>
#include <string>

namespace pmemcpy::pool {
namespace {

// Of a process that waits for a lock and looks meanwhile whether it is still needed.
constexpr std::uint64_t least_between_looks_ns = 100'000;
constexpr std::uint64_t times_as_long_between_looks = 4;

// The kernel lets go of a dead process's lock and wakes nobody.
constexpr std::uint64_t longest_sleep_ns = 5'000'000;

const char* name_of(std::uint64_t byte) {
    switch (byte) {
        case detach_byte:
            return "closing the pool";
        case name_byte:
            return "taking a name out";
        case group_byte:
            return "erasing a group";
        case space_byte:
            return "taking or giving back space";
        case sync_byte:
            return "syncing";
        case step_byte:
            return "committing a step or dropping one";
        case feed_byte:
            return "making the feed";
        case hierarchy_byte:
            return "changing the hierarchy";
        case copies_byte:
            return "placing a copy";
        case inventory_byte:
            return "writing the inventory";
        case registry_byte:
            return "registering an operation";
        default:
            return "making room";
    }
}

}  // namespace

bool Pool::ByteLock::try_it() {
    if (!one_thread_.try_lock()) return false;
    if (!os::try_lock(pool_.runtime_->file(), os::LockKind::exclusive, byte_, 1)) {
        one_thread_.unlock();
        return false;
    }
    note_holder(pool_.medium_, pool_.runtime_->note_of(byte_).holder, pool_.self_);
    return true;
}

// Not in the kernel's own queue, which nobody can leave.
void Pool::ByteLock::wait(Holding holding) {
    LockNote& note = pool_.runtime_->note_of(byte_);
    Patience patience(pool_.path(), name_of(byte_), pool_.runtime_->file(), byte_, &note.holder, holding);
    for (;;) {
        // Said before the lock is tried: a process that lets go of it after that wakes us. The one that gets it leaves it so, because
        // others may sleep.
        std::atomic_ref(note.is_wanted).store(1);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (try_it()) return;
        os::wait_on(&note.is_wanted, 1, longest_sleep_ns);
        patience.look();
    }
}

Pool::ByteLock::ByteLock(Pool& pool, std::uint64_t byte, std::mutex& mutex, Holding holding)
    : pool_(pool), byte_(byte), one_thread_(mutex, std::defer_lock) {
    if (!try_it()) wait(holding);
}

Pool::ByteLock::ByteLock(Pool& pool, std::uint64_t byte, std::mutex& mutex,
                         const std::function<bool()>& is_done)
    : pool_(pool), byte_(byte), one_thread_(mutex, std::defer_lock) {
    if (try_it()) return;
    Patience patience(pool_.path(), name_of(byte_), pool_.runtime_->file(), byte_,
                      &pool_.runtime_->note_of(byte_).holder);
    while (!try_it()) {
        const std::uint64_t began = os::monotonic_ns();
        if (is_done()) return;
        patience.look();
        const std::uint64_t took = os::monotonic_ns() - began;
        os::sleep_ns(std::max(least_between_looks_ns, times_as_long_between_looks * took));
    }
}

Pool::ByteLock::~ByteLock() {
    if (!one_thread_.owns_lock()) return;
    LockNote& note = pool_.runtime_->note_of(byte_);
    pool_.medium_.store(&note.holder.pid, 0);
    os::let_go(pool_.runtime_->file(), byte_, 1);
    one_thread_.unlock();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const std::atomic_ref is_wanted(note.is_wanted);
    if (is_wanted.load() == 0) return;
    is_wanted.store(0);
    os::wake_one(&note.is_wanted);
}

Pool::LeavingLock::LeavingLock(Pool& pool)
    : ByteLock(pool, detach_byte, pool.leaving_mutex_, Holding::may_be_long) {}
Pool::NameLock::NameLock(Pool& pool) : ByteLock(pool, name_byte, pool.name_mutex_, Holding::always_short) {}
Pool::GroupLock::GroupLock(Pool& pool)
    : ByteLock(pool, group_byte, pool.group_mutex_, Holding::may_be_long) {}
Pool::SpaceLock::SpaceLock(Pool& pool)
    : ByteLock(pool, space_byte, pool.space_mutex_, Holding::may_be_long) {}
Pool::SyncLock::SyncLock(Pool& pool) : ByteLock(pool, sync_byte, pool.sync_mutex_, Holding::may_be_long) {}
Pool::StepLock::StepLock(Pool& pool) : ByteLock(pool, step_byte, pool.step_mutex_, Holding::may_be_long) {}
Pool::FeedLock::FeedLock(Pool& pool) : ByteLock(pool, feed_byte, pool.feed_mutex_, Holding::may_be_long) {}

Pool::RoomLock::RoomLock(Pool& pool, std::size_t level, const std::function<bool()>& is_there)
    : ByteLock(pool, room_byte + level, pool.room_mutexes_.at(level), is_there) {}
Pool::HierarchyLock::HierarchyLock(Pool& pool)
    : ByteLock(pool, hierarchy_byte, pool.hierarchy_mutex_, Holding::may_be_long) {}
Pool::HierarchyLock::HierarchyLock(Pool& pool, std::try_to_lock_t)
    : ByteLock(pool, hierarchy_byte, pool.hierarchy_mutex_, [] { return true; }) {}

Pool::CopiesLock::CopiesLock(Pool& pool)
    : ByteLock(pool, copies_byte, pool.copies_mutex_, Holding::may_be_long) {}

Pool::InventoryLock::InventoryLock(Pool& pool)
    : ByteLock(pool, inventory_byte, pool.inventory_mutex_, Holding::may_be_long) {}

Pool::TriedLock::TriedLock(os::File& file, std::uint64_t byte)
    : file_(file), byte_(byte), is_held_(os::try_lock(file_, os::LockKind::exclusive, byte_, 1)) {}
Pool::TriedLock::~TriedLock() {
    if (is_held_) os::let_go(file_, byte_, 1);
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
    : ByteLock(pool, registry_byte, pool.registry_mutex_, Holding::may_be_long) {}

}  // namespace pmemcpy::pool
