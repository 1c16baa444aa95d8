// Who is there, told by locks that the kernel drops at death (law 7):
//
//   attach byte       of the pool; shared: a writer is attached; exclusive: somebody is alone, recovering or closing
//   detach byte       of the .rt; exclusive: one at a time asks whether it is the last
//   name byte         of the .rt; exclusive: names and attributes leave their chains
//   group byte        of the .rt; exclusive: a group is looked into that is to go
//   space byte        of the .rt; exclusive: somebody counts on what is free
//   sync byte         of the .rt; exclusive: one sync at a time
//   step byte         of the .rt; exclusive: one at a time drops what an abandoned step has left
//   feed byte         of the .rt; exclusive: one at a time makes the feed
//   scope byte        of the .rt; exclusive: one at a time moves objects between this pool and the one that it lies beside
//
// The bytes lie far behind the end of any pool, because locks on the pool's own bytes are readers' pins. Who may only read
// the pool can lock it, shared, for as long as he likes; what a writer waits for is on the .rt, which he cannot open.
// Modelled in tests/model/attach.hpp.

#include "base/hash.hpp"
#include "os/lock.hpp"
#include "os/process.hpp"
#include "pool/beside.hpp"
#include "pool/draw.hpp"
#include "pool/estate.hpp"
#include "pool/geometry.hpp"
#include "pool/locks.hpp"
#include "pool/pool.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <utility>

namespace pmemcpy::pool {
namespace {

constexpr std::uint64_t looked_at_when_attaching = 16;
// Each one means that the processes that were there have just gone, or that others ask, too.
constexpr int most_attempts = 1000;
constexpr int attempts_before_nap = 8;
constexpr int most_looks = 16;
constexpr int most_looks_for_end = 400;  // a second
constexpr std::uint64_t shortest_nap_ns = 10'000;
constexpr std::uint64_t longest_nap_ns = 5'000'000;

// Of those who ask at the same moment each may keep the others from being alone, again and again, for as long as they do it in
// step: each sleeps for a while of its own, longer each time.
void nap_after(int attempt) {
    if (attempt < attempts_before_nap) return os::yield();
    const std::uint64_t longest =
        std::min(longest_nap_ns, shortest_nap_ns << std::min(attempt - attempts_before_nap, 10));
    os::sleep_ns(os::monotonic_ns() % longest);
}

}  // namespace

void Pool::attach(Lifecycle& lifecycle, const std::function<void()>& if_first) {
    check_usable();
    check_state();
    if (read_only_) return attach_reader();
    check_writable();
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        if (os::try_lock(file_, os::LockKind::exclusive, attach_byte, 1)) {
            check_in_place();
            enter_alone(lifecycle);
            return stay_or_go(lifecycle, [&] {
                take_slot(lifecycle);
                if (if_first) if_first();
                // Whoever waits for us may join from here on; had we died before, he would begin as we did.
                runtime_->validate(super_.uuid);
                share_again();
            });
        }
        if (try_join()) return stay_or_go(lifecycle, [&] { take_slot(lifecycle); });
        nap_after(attempt);
    }
    throw Error(Code::busy, path() + ": others keep opening and closing the pool; try again");
}

// A reader takes no lock that a writer could meet. It may trust the links while a writer keeps them, or after
// an orderly close; rebuilding them needs the permission to write.
void Pool::attach_reader() {
    if (persist::Medium::load(&state().failed.value) != 0) throw_latched();
    for (int look = 0; look < most_looks; ++look) {
        // A writer that comes between the two is seen by the next look, and so is the mark of one that has gone.
        if (os::conflicts(file_, os::LockKind::exclusive, attach_byte, 1) ||
            how_it_was_closed() != Closed::not_cleanly) {
            attached_ = true;
            return;
        }
        nap_after(look);
    }
    throw Error(Code::busy, path() +
                                " was not closed cleanly and must be recovered by a user who may write it; "
                                "run `pmemcpy info` on it as its owner");
}

// Whoever waited for the lock of a pool that was replaced, or moved, has that one open; what lies beside the name is another pool's.
void Pool::check_in_place() {
    if (is_in_place(file_)) return;
    throw Error(Code::busy,
                path() + " was replaced, moved or removed while it was being opened; open it again");
}

// Holds the exclusive lock: nobody else is attached, so the links are as good as the clean flag.
void Pool::enter_alone(Lifecycle& lifecycle) {
    note_holder(medium_, state().alone, self_);
    refresh_features();
    const bool clean = how_it_was_closed() == Closed::cleanly;
    // From the other copy. Nobody needs it before that one is lost too, so it is not made durable here.
    if (const auto offset = damaged_superblock()) medium_.write(at(*offset), &super_, sizeof super_);
    runtime_.emplace(Runtime::open(file_, 0, true));
    runtime_fork_ = os::ClosedInChild(runtime_->file());
    await_end_of_owners();
    runtime_->reset();
    // All that an opening needs space for has it. Now the mark may fall: where it fell earlier, mere readers were refused a pool in
    // which nothing had changed.
    medium_.store(&state().runtime_inode.value, runtime_->inode());
    set_closed(Closed::not_cleanly);
    feed_.reset(clean);
    // A count that is odd though no recovery was cut short would keep every reader waiting.
    if (clean && recovery_count() % 2 != 0)
        medium_.store(&state().recovery_count.value, recovery_count() + 1);
    if (!clean) recover(lifecycle);
    end_changes_of_names();
    begin_versions();
}

// What lies beside a pool, such as copies of its blocks and an inventory, is known to be its own by versions. After a backup was put back,
// or the power failed, a pool that counted on would draw those again that lie there from the history that was given up. So each session
// leaves out a drawn number of them: of all that are left never more than a 2^26th, so that a billion sessions do not use them up.
void Pool::begin_versions() {
    constexpr std::uint64_t end = 1ULL << 63;
    const std::uint64_t left_off = persist::Medium::load(&state().next_version.value);
    const std::uint64_t at_most = left_off < end ? (end - left_off) >> 26 : 0;
    const std::uint64_t begins = left_off + (at_most != 0 ? draw() % at_most : 0);
    medium_.store(&state().next_version.value, begins);
    medium_.store(&runtime_->header().left_off, left_off);
    medium_.store(&runtime_->header().began_at, begins);
}

// The kernel closes the files of a dead process one after the other, so its slot may be locked for a moment longer than the pool. Who stays
// belongs to another pool, which was put in the place of this one.
void Pool::await_end_of_owners() {
    for (int look = 0; look < most_looks_for_end; ++look) {
        if (!runtime_->has_owners()) return;
        nap_after(look);
    }
    throw Error(Code::busy, runtime_->file().path() +
                                " is in use by processes of another pool, which was in the place of " +
                                path() + "; close that one everywhere, then open this one again");
}

// Turns the exclusive lock into a shared one, atomically.
void Pool::share_again() { os::lock(file_, os::LockKind::shared, attach_byte, 1); }

// Alone in the pool, in the name of slot 0.
void Pool::recover(Lifecycle& lifecycle) {
    // A rebuild that was killed leaves the count odd; it must be odd during this one and new after it.
    medium_.store(&state().recovery_count.value, (recovery_count() + 2) | 1);
    slot_ = 0;
    // Under the name by which the slot is cleaned up after; and pins that a dead process has left in it keep nothing.
    owner_ = owner_of(0, slot().incarnation);
    medium_.store(&slot().pin_count, 0);
    medium_.fill(slot().pins.data(), 0, sizeof slot().pins);
    lifecycle.rebuild();
    medium_.store(&state().recovery_count.value, recovery_count() + 1);
}

// In the kernel's queue, because those that open and close the pool all the time would be faster again and again. Only behind one that is
// stopped already it is not entered, for nobody can leave it.
void Pool::wait_to_share() {
    if (os::try_lock(file_, os::LockKind::shared, attach_byte, 1)) return;
    Patience patience(path(), "opening or closing the pool", file_, attach_byte, &state().alone);
    while (patience.says_it_is_stopped()) {
        patience.nap();
        if (os::try_lock(file_, os::LockKind::shared, attach_byte, 1)) return;
    }
    os::lock(file_, os::LockKind::shared, attach_byte, 1);
}

// Whoever held the lock when ours failed may have gone before we got the shared one; then nobody vouches for
// the session, and we begin again.
bool Pool::try_join() {
    wait_to_share();
    try {
        if (persist::Medium::load(&state().clean.value) == 0) {
            runtime_.emplace(
                Runtime::open(file_, persist::Medium::load(&state().runtime_inode.value), false));
            // An odd count: the process that rebuilt the pool has died in it.
            if (runtime_->is_valid(super_.uuid) && recovery_count() % 2 == 0) {
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

// Who cannot stay leaves the pool as it was: with the mark, if it is whole and nobody else is there who would set it later.
void Pool::stay_or_go(Lifecycle& lifecycle, const std::function<void()>& stay) {
    try {
        stay();
    } catch (...) {
        const bool has_slot = std::exchange(attached_, false);
        try {
            if (has_slot) medium_.store(&slot().attached, 0);
            const auto lock = lock_to_leave();
            go(lifecycle, has_slot, lock != nullptr);
        } catch (const Error&) {
            // Then the next one recovers it, as after a death.
            runtime_.reset();
        }
        throw;
    }
}

void Pool::take_slot(Lifecycle& lifecycle) {
    const std::uint64_t used = persist::Medium::load(&runtime_->header().slots_used);
    // Slots that nobody has left anything in come first: asking the kernel about thousands of locks is slow.
    for (const bool also_left_behind : {false, true}) {
        for (std::uint64_t i = 0; i < slot_count; ++i) {
            // Those behind have no space yet, and may not be looked at.
            const bool left_behind = i < used && persist::Medium::load(&runtime_->slot(i).attached) != 0;
            if (left_behind == also_left_behind && try_slot(i, lifecycle)) {
                attached_ = true;
                scavenge_some(lifecycle);
                notice_deaths_in_step();
                return;
            }
        }
    }
    throw Error(Code::busy,
                path() + ": all " + std::to_string(slot_count) + " places for attached processes are taken");
}

bool Pool::try_slot(std::uint64_t i, Lifecycle& lifecycle) {
    // Before all else that is in it: on a full tmpfs a word of one without space is a signal.
    if (i >= persist::Medium::load(&runtime_->header().slots_used)) runtime_->allocate_slot(i);
    const Estate estate(*this, i, Estate::Others::pass);
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
    const std::uint64_t attachment[] = {session_began_at(), slot_, slot.incarnation};
    first_claim_ = base::xxh3_64(attachment, sizeof attachment);
    m.store(&slot.retire_head, 0);
    m.store(&slot.freeing, 0);
    m.store(&slot.claiming, 0);
    m.store(&slot.step, 0);
    m.store(&slot.step_intent, 0);
    m.store(&slot.intent, 0);
    m.store(&slot.is_done, 0);
    m.fill(slot.reserved.data(), 0, sizeof slot.reserved);
    m.store(&slot.uncounted, 0);
    m.fill(slot.placing.data(), 0, sizeof slot.placing);
    m.store(&slot.expects, 0);
    m.store(&slot.pin_count, 0);
    m.fill(slot.pins.data(), 0, sizeof slot.pins);
    m.store(&slot.pid, self_.pid);
    m.store(&slot.attached_ns, os::wall_ns());
}

void Pool::check_alone() { lock_alone(file_); }

void Pool::lock_alone(os::File& file) {
    if (os::try_lock(file, os::LockKind::exclusive, attach_byte, 1)) return;
    throw Error(Code::busy, file.path() + " is in use by another process; close it there first");
}

bool Pool::Alone::try_alone() {
    if (!os::try_lock(pool_.file_, os::LockKind::exclusive, attach_byte, 1)) return false;
    note_holder(pool_.medium_, pool_.state().alone, pool_.self_);
    return true;
}

Pool::Alone::Alone(Pool& pool, std::try_to_lock_t)
    : pool_(pool),
      one_thread_(pool.alone_mutex_, std::try_to_lock),
      is_alone_(one_thread_.owns_lock() && try_alone()) {}

Pool::Alone::Alone(Pool& pool) : pool_(pool), one_thread_(pool.alone_mutex_), is_alone_(try_alone()) {
    if (is_alone_) return;
    throw Error(Code::busy,
                pool_.path() +
                    " is open for writing elsewhere, and this call needs it alone; close it there and "
                    "try again");
}

Pool::Alone::~Alone() {
    if (!is_alone_) return;
    try {
        os::lock(pool_.file_, os::LockKind::shared, attach_byte, 1);
    } catch (const Error&) {
        // The kernel has no memory for it, or this is a forked child. Who wants to open the pool waits until it is closed here.
    }
}

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

// The caller holds the estate.
bool Pool::clean_up_after_dead(std::uint64_t i, Lifecycle& lifecycle) {
    Slot& slot = runtime_->slot(i);
    if (!runtime_->is_dead(i)) return true;
    medium_.fetch_add(&runtime_->header().scavenges, 1);  // first: whoever closes the pool has to know
    note_death_in_step(i);
    medium_.store(&slot.step, 0);
    if (!lifecycle.scavenge(i)) return false;
    feed_.append_lost();  // it may have died between publishing something and saying so
    feed_.forget_under_way(i);
    medium_.store(&slot.attached, 0);
    return true;
}

bool Pool::scavenge_dead(Lifecycle& lifecycle) {
    const std::lock_guard one_thread(scavenge_mutex_);
    bool all = true;
    const std::uint64_t used = persist::Medium::load(&runtime_->header().slots_used);
    for (std::uint64_t i = 0; i < used; ++i) {
        if (i == slot_ || !runtime_->is_dead(i)) continue;
        const Estate estate(*this, i, Estate::Others::await);
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
        const Estate estate(*this, i, Estate::Others::pass);
        try {
            if (estate) clean_up_after_dead(i, lifecycle);
        } catch (const Error&) {
            return;  // another is stopped with a lock that this takes, or the kernel gives none: later then
        }
    }
}

}  // namespace pmemcpy::pool
