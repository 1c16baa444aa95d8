#pragma once

#include "os/lock.hpp"
#include "pool/runtime.hpp"

namespace pmemcpy::pool {

/// The right to what a dead owner has left in a slot, and to the slot: held by one process at a time, and dropped by the
/// kernel when that one dies too. Threads share the locks of their descriptors, so of one process only one may try.
class Estate {
public:
    enum class Others { pass, await };

    Estate(Runtime& runtime, std::uint64_t slot, Others others)
        : file_(runtime.file()), byte_(Runtime::estate_byte(slot)) {
        if (others == Others::await) {
            os::lock(file_, os::LockKind::exclusive, byte_, 1);
            held_ = true;
        } else {
            held_ = os::try_lock(file_, os::LockKind::exclusive, byte_, 1);
        }
    }
    ~Estate() {
        if (held_) os::unlock(file_, byte_, 1);
    }
    Estate(const Estate&) = delete;
    Estate& operator=(const Estate&) = delete;

    /// Always, when others were awaited.
    explicit operator bool() const { return held_; }

private:
    os::File& file_;
    std::uint64_t byte_;
    bool held_;
};

}  // namespace pmemcpy::pool
