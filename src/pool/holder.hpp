#pragma once

#include <cstdint>
#include <string>

#include "os/file.hpp"
#include "persist/medium.hpp"
#include "pool/format.hpp"

namespace pmemcpy::pool {

// A process that holds a lock says so beside it, for those that wait: the kernel tells nobody who has a lock of its kind.

/// It is this process, from now on.
void note_holder(const persist::Medium& medium, Holder& note, const Holder& self);

/// One wait for a lock, of a byte of a file. A holder that is stopped may be so for ever, and a process that waits for it says so instead.
class Patience {
public:
    /// How long a holder that is not seen to be stopped is waited for.
    enum class Holding { always_short, may_be_long };
    /// `note`: what holders say of themselves; null where they say nothing.
    Patience(std::string path, std::string what, const os::File& file, std::uint64_t byte, const Holder* note,
             Holding holding = Holding::may_be_long);
    /// Called again and again while the lock cannot be had. Errors: busy.
    void look();
    /// The same, after a while that grows.
    void nap();
    /// By what it has said of itself, which costs little.
    bool says_it_is_stopped() const;

private:
    std::string path_;
    std::string what_;
    const os::File& file_;
    std::uint64_t byte_;
    const Holder* note_;
    Holding holding_;
    std::uint64_t began_;
    std::uint64_t looked_;
    std::uint64_t nap_ns_;
};

}  // namespace pmemcpy::pool
