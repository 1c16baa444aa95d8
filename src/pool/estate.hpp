#pragma once

#include "os/lock.hpp"
#include "pool/holder.hpp"
#include "pool/pool.hpp"

namespace pmemcpy::pool {

/// The right to what a dead owner has left in a slot, and to the slot: held by one process at a time, and dropped by the
/// kernel when that one dies too. Threads share the locks of their descriptors, so of one process only one may try.
class Estate {
public:
    enum class Others { pass, await };

    /// Errors: busy when another is awaited that is stopped.
    Estate(Pool& pool, std::uint64_t slot, Others others)
        : file_(pool.runtime().file()), byte_(Runtime::estate_byte(slot)), held_(try_it()) {
        Holder& heir = pool.runtime().slot(slot).heir;
        if (!held_ && others == Others::await) {
            Patience patience(pool.path(), "cleaning up after a process that has died", file_, byte_, &heir);
            while (!(held_ = try_it())) patience.nap();
        }
        if (held_) note_holder(pool.medium(), heir, pool.self());
    }
    ~Estate() {
        if (held_) os::let_go(file_, byte_, 1);
    }
    Estate(const Estate&) = delete;
    Estate& operator=(const Estate&) = delete;

    /// Always, when others were awaited.
    explicit operator bool() const { return held_; }

private:
    bool try_it() { return os::try_lock(file_, os::LockKind::exclusive, byte_, 1); }

    os::File& file_;
    std::uint64_t byte_;
    bool held_;
};

}  // namespace pmemcpy::pool
