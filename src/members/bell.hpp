#pragma once

#include <atomic>
#include <cstdint>

#include "os/futex.hpp"

namespace pmemcpy::members {

/// Two words of shared memory by which who waits is woken. Who rings pays one load while nobody waits.
struct BellWords {
    std::uint32_t is_awaited;
    std::uint32_t rung;
};

/// Whoever waits first says so, then looks once more whether there is something, and only then sleeps; whoever brings something brings it first
/// and then looks whether anybody waits. So one of the two sees the other. A process that dies before it rings leaves a sleeper asleep: nobody
/// should sleep for longer than a while at a time.
class Bell {
public:
    explicit Bell(BellWords& words) : words_(words) {}

    /// What wait() takes; from here on it is rung.
    std::uint32_t await() const {
        const std::uint32_t rung = std::atomic_ref(words_.rung).load();
        std::atomic_ref(words_.is_awaited).store(1);
        return rung;
    }
    os::Woken wait(std::uint32_t rung, std::uint64_t at_most_ns) const {
        return os::wait_on(&words_.rung, rung, at_most_ns);
    }
    void ring() const {
        if (std::atomic_ref(words_.is_awaited).load() == 0) return;
        std::atomic_ref(words_.is_awaited).store(0);
        std::atomic_ref(words_.rung).fetch_add(1);
        os::wake_all(&words_.rung);
    }

private:
    BellWords& words_;
};

}  // namespace pmemcpy::members
