#pragma once

#include "heap/format.hpp"
#include "os/file.hpp"
#include "os/fork.hpp"
#include "pool/pool.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace pmemcpy::heap {

/// What this process's views keep alive (law 6). A writer pins in its slot; a reader without write permission,
/// or a writer with more views than a slot has room for, holds shared OFD locks on the records' bytes.
///
/// A forked child reads its parent's views too, and the parent may let go of them, or die, before the child does. So each fork gives
/// the child shared locks of its own on what is pinned then, which last until it lets go of this object, or ends.
class Pins {
public:
    explicit Pins(pool::Pool& pool);

    /// Announces the pin. The caller then checks that `record` is still published, and unpins if not.
    void pin(Link record);
    void unpin(Link record);
    /// Whether anybody, here or elsewhere, has pinned the record.
    bool is_pinned(Link record);

private:
    bool pin_in_slot(Link record);
    bool unpin_in_slot(Link record);
    void lock_range(Link record);
    void unlock_range(Link record);
    void narrow();
    void pin_for_child() noexcept;
    os::File reopened() const;

    pool::Pool& pool_;
    std::mutex mutex_;
    os::File locks_;  // a description of its own, so that our own tests see its locks
    os::ClosedInChild locks_fork_;
    std::vector<std::uint64_t> in_slot_;        // record offsets
    std::map<std::uint64_t, unsigned> ranges_;  // record offset -> pins
    bool wide_ = false;                         // one lock over the whole pool instead of one for each range
    std::unique_lock<std::mutex> forking_;
    os::File childs_locks_;  // during a fork; and of a forked child
    os::AtFork at_fork_;
};

}  // namespace pmemcpy::heap
