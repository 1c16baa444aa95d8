#include "heap/pins.hpp"

#include "os/lock.hpp"
#include "pool/locks.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace pmemcpy::heap {
namespace {

// The kernel searches its list of locks one by one, so their number is what a pin costs everybody.
constexpr std::size_t most_ranges = 16;

}  // namespace

Pins::Pins(pool::Pool& pool)
    : pool_(pool),
      at_fork_({.before =
                    [this] {
                        if (pool_.is_forked()) return;  // its locks are inherited
                        forking_ = std::unique_lock(mutex_);
                        pin_for_child();
                    },
                .in_parent =
                    [this] {
                        if (pool_.is_forked()) return;
                        childs_locks_ = {};
                        forking_.unlock();
                    },
                .in_child =
                    [this] {
                        if (forking_.owns_lock()) forking_.unlock();
                    }}) {}

// Where the kernel has no descriptor or no memory for it the child reads what may be overwritten once the parent has let go of it; a fork
// has nobody to tell.
void Pins::pin_for_child() noexcept {
    if (in_slot_.empty() && ranges_.empty()) return;
    try {
        std::vector<std::uint64_t> records = in_slot_;
        for (const auto& [offset, pins] : ranges_) records.push_back(offset);
        childs_locks_ = reopened();
        if (records.size() > most_ranges)
            return os::lock(childs_locks_, os::LockKind::shared, 0, pool::attach_byte);
        for (const std::uint64_t record : records) os::lock(childs_locks_, os::LockKind::shared, record, 1);
    } catch (const std::exception&) {
        childs_locks_ = {};
    }
}

// A description of its own, by descriptor, for the pool may have been renamed.
os::File Pins::reopened() const {
    return os::File::open("/proc/self/fd/" + std::to_string(pool_.file().fd()), O_RDONLY);
}

void Pins::pin(Link record) {
    const std::lock_guard one_at_a_time(mutex_);
    if (pool_.read_only() || !pin_in_slot(record)) lock_range(record);
    // Pairs with the fence of reclaim: either it sees this pin, or we see that the record is unpublished.
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Pins::unpin(Link record) {
    if (pool_.is_forked()) return;  // the parent's pin is not the child's to drop
    const std::lock_guard one_at_a_time(mutex_);
    if (pool_.read_only() || !unpin_in_slot(record)) unlock_range(record);
}

bool Pins::is_pinned(Link record) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const std::uint64_t used = persist::Medium::load(&pool_.runtime().header().slots_used);
    for (std::uint64_t i = 0; i < used; ++i) {
        const pool::Slot& slot = pool_.runtime().slot(i);
        const bool is_expected = persist::Medium::load(&slot.expects) == record.word;
        if (!is_expected && persist::Medium::load(&slot.pin_count) == 0) continue;
        // The pins of the dead stay where they are until the slot has another owner.
        if (i != pool_.slot_index() &&
            (persist::Medium::load(&slot.attached) == 0 || pool_.runtime().is_dead(i)))
            continue;
        if (is_expected) return true;
        for (const std::uint64_t& word : slot.pins) {
            if (persist::Medium::load(&word) == record.word) return true;
        }
    }
    return os::conflicts(pool_.file(), os::LockKind::exclusive, record.offset(), 1);
}

// The last one out has no slot any more when it closes the pool.
bool Pins::pin_in_slot(Link record) {
    if (pool_.slot_index() == pool::slot_count) return false;
    pool::Slot& slot = pool_.slot();
    for (std::uint64_t& word : slot.pins) {
        if (word != 0) continue;
        pool_.medium().fetch_add(&slot.pin_count, 1);
        pool_.medium().store(&word, record.word);
        in_slot_.push_back(record.offset());
        return true;
    }
    return false;
}

bool Pins::unpin_in_slot(Link record) {
    if (pool_.slot_index() == pool::slot_count) return false;
    pool::Slot& slot = pool_.slot();
    for (std::uint64_t& word : slot.pins) {
        if (word != record.word) continue;
        pool_.medium().store(&word, 0);
        pool_.medium().fetch_add(&slot.pin_count, ~0ULL);
        std::iter_swap(std::find(in_slot_.rbegin(), in_slot_.rend(), record.offset()), in_slot_.rbegin());
        in_slot_.pop_back();
        return true;
    }
    return false;
}

// What is counted has its lock: one who fails to get it counts nothing.
void Pins::lock_range(Link record) {
    if (!locks_.is_open()) {
        auto opened = reopened();
        locks_fork_ = os::ClosedInChild(opened);
        locks_ = std::move(opened);
    }
    const auto [range, is_new] = ranges_.try_emplace(record.offset(), 0U);
    if (is_new && !wide_) {
        try {
            const bool is_one_too_many = ranges_.size() > most_ranges;
            os::lock(locks_, os::LockKind::shared, is_one_too_many ? 0 : record.offset(),
                     is_one_too_many ? pool::attach_byte : 1);
            wide_ = is_one_too_many;
        } catch (...) {
            ranges_.erase(range);
            throw;
        }
    }
    ++range->second;
}

// Called by views that go, which have nobody to tell of a failure: what stays locked is only used again later.
void Pins::unlock_range(Link record) {
    const auto found = ranges_.find(record.offset());
    if (found == ranges_.end() || --found->second > 0) return;
    ranges_.erase(found);
    if (!wide_) {
        os::let_go(locks_, record.offset(), 1);
    } else if (ranges_.size() <= most_ranges / 2) {
        narrow();
    }
}

// Cuts the one wide lock down to the ranges that are left, without ever letting go of them. The kernel may have no memory for that; then
// more than these stays locked, but each of these is, and so the next one has to be locked by itself.
void Pins::narrow() {
    wide_ = false;
    std::uint64_t begin = 0;
    for (const auto& [offset, pins] : ranges_) {
        if (offset > begin) os::let_go(locks_, begin, offset - begin);
        begin = offset + 1;
    }
    os::let_go(locks_, begin, pool::attach_byte - begin);
}

}  // namespace pmemcpy::heap
