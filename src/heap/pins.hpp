#pragma once

#include "heap/format.hpp"
#include "os/file.hpp"
#include "os/fork.hpp"
#include "pool/pool.hpp"

#include <cstdint>
#include <map>
#include <mutex>

namespace pmemcpy::heap {

/// What this process's views keep alive (law 6). A writer pins in its slot; a reader without write permission,
/// or a writer with more views than a slot has room for, holds shared OFD locks on the records' bytes.
class Pins {
public:
    explicit Pins(pool::Pool& pool) : pool_(pool) {}

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

    pool::Pool& pool_;
    std::mutex mutex_;
    os::File locks_;  // a description of its own, so that our own tests see its locks
    os::ClosedInChild locks_fork_;
    std::map<std::uint64_t, unsigned> ranges_;  // record offset -> pins
    bool wide_ = false;                         // one lock over the whole pool instead of one for each range
};

}  // namespace pmemcpy::heap
