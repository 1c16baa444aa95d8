// Out of the pool; and what the last one does before it is: then it is called clean. Modelled in tests/model/attach.hpp.

#include "os/fork.hpp"
#include "os/lock.hpp"
#include "pool/geometry.hpp"
#include "pool/locks.hpp"
#include "pool/pool.hpp"

#include <pmemcpy/error.hpp>

namespace pmemcpy::pool {

using persist::Medium;

// Held by one of those that leave, until it is out: of two that leave at once one has to be the last. Behind one that is stopped a process
// leaves as if it had died: whoever opens the pool then recovers it.
std::unique_ptr<Pool::LeavingLock> Pool::lock_to_leave() {
    try {
        return std::make_unique<LeavingLock>(*this);
    } catch (const Error& error) {
        if (error.kind() != Code::busy) throw;
        return nullptr;
    }
}

// What would have to be written when the pool is closed may lie behind the end of its file.
void Pool::check_length() const {
    if (read_only_) return;
    if (runtime_->file().size() < runtime_file_bytes)
        throw Error(Code::io_error, path() +
                                        ".rt has become shorter while the pool was open: the pool is left as "
                                        "it is, as after a death");
    if (probe_.is_devdax) return;
    const std::uint64_t bytes = file_.size();
    const std::uint64_t chunks =
        bytes < super_.first_chunk_offset ? 1 : Medium::load(&state().usable_chunks.value);
    if (bytes >= super_.first_chunk_offset + chunks * super_.chunk_bytes) return;
    throw Error(Code::io_error, path() + " has become shorter while it was open, " + std::to_string(bytes) +
                                    " bytes: it is left as it is, as after a death; `pmemcpy repair` makes a "
                                    "pool of what is whole");
}

void Pool::detach(Lifecycle& lifecycle, const std::function<void()>& if_last) {
    if (!attached_ || fork_generation_ != os::fork_generation()) return;
    std::unique_ptr<LeavingLock> lock;
    if (if_last && !read_only_) {
        lock = lock_to_leave();
        if (lock && os::try_lock(file_, os::LockKind::exclusive, attach_byte, 1)) {
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
    if (!lock) lock = lock_to_leave();
    go(lifecycle, true, lock != nullptr);
}

// Out, by way of the last one's work if that is who goes. Two that leave at once would each see the other's lock; so they go one after
// the other.
void Pool::go(Lifecycle& lifecycle, bool has_slot, bool may_be_last) {
    if (has_slot) os::unlock(runtime_->file(), Runtime::owner_byte(slot_), 1);
    const bool failed = persist::Medium::load(&state().failed.value) != 0;
    if (may_be_last && !failed && os::try_lock(file_, os::LockKind::exclusive, attach_byte, 1)) {
        note_holder(medium_, state().alone, self_);
        close_alone(lifecycle);
    }
    os::unlock(file_, attach_byte, 1);
}

// Everybody else has left. A pool is called clean when its links can be trusted on the medium.
void Pool::close_alone(Lifecycle& lifecycle) {
    slot_ = slot_count;  // nobody's: even our own slot may need cleaning up now
    const bool step_open = state().begun_step.value > committed_step();
    bool is_empty = scavenge_dead(lifecycle);
    // The dead may have stored words that all have seen and that they did not come to flush. Who could tell which?
    const bool died = persist::Medium::load(&runtime_->header().scavenges) != 0;
    // Of a step that nobody can commit any more nothing stays, and mere readers need not wait for a writer who sees to that.
    if (step_open || (died && probe_.durability == Durability::line)) {
        recover(lifecycle);
        slot_ = slot_count;
        is_empty = scavenge_dead(lifecycle);
    }
    feed_.settle();
    end_changes_of_names();
    set_closed(is_empty ? Closed::cleanly : Closed::with_something_kept);
}

void Pool::set_closed(Closed how) {
    std::uint64_t mark = 0;
    if (how != Closed::not_cleanly) {
        // Every derived word was flushed where it was written, so that one fence makes the links trustworthy; but not the
        // words that the mark vouches for.
        medium_.flush(&state(), sizeof(PoolState));
        medium_.fence();
        sync_outside();
        if (probe_.needs_sync) medium_.sync(file_);
        mark = how == Closed::cleanly ? clean_mark(state()) : kept_mark(state());
    }
    medium_.store(&state().clean.value, mark);
    medium_.persist(&state().clean.value, sizeof(std::uint64_t));
    if (probe_.needs_sync) medium_.sync(file_);
}

}  // namespace pmemcpy::pool
