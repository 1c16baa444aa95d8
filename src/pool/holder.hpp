#pragma once

#include <cstdint>
#include <string>

#include "persist/medium.hpp"
#include "pool/format.hpp"

namespace pmemcpy::pool {

// A process that holds a lock says so beside it, for those that wait: the kernel tells nobody who has a lock of its kind.

/// It is this process, from now on.
void note_holder(const persist::Medium& medium, Holder& note, const Holder& self);

/// One wait for a lock. A holder that is stopped may be so for ever, and a process that waits for it says so instead.
class Patience {
public:
    /// How long a holder that is not seen to be stopped is waited for.
    enum class Holding { always_short, may_be_long };
    Patience(const std::string& path, const char* what, const Holder& note, Holding holding);
    /// Called again and again while the lock cannot be had. Errors: busy.
    void look();
    /// The same, after a while that grows.
    void nap();
    bool is_for_a_stopped_one() const;

private:
    const std::string& path_;
    const char* what_;
    const Holder& note_;
    Holding holding_;
    std::uint64_t began_;
    std::uint64_t looked_;
    std::uint64_t nap_ns_;
};

}  // namespace pmemcpy::pool
