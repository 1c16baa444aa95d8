#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "os/file.hpp"

namespace pmemcpy::os {

/// 0 as long as nobody has asked.
extern std::atomic<std::uint64_t> known_fork_generation;
std::uint64_t watch_forks() noexcept;

/// Changes in a forked child: remember it, and compare to know that this process is not the one that opened.
inline std::uint64_t fork_generation() noexcept {
    const std::uint64_t known = known_fork_generation.load(std::memory_order_relaxed);
    return known != 0 ? known : watch_forks();
}

/// While this lives it is told of each fork of this process, by the thread that forks. What it does must not wait for a thread that may
/// be making a ClosedInChild, or throw.
class AtFork {
public:
    struct Calls {
        std::function<void()> before;
        std::function<void()> in_parent;
        std::function<void()> in_child;
    };
    explicit AtFork(Calls calls);
    ~AtFork();
    AtFork(const AtFork&) = delete;
    AtFork& operator=(const AtFork&) = delete;

private:
    friend struct AtForkRegistry;
    Calls calls_;
};

/// While this lives, a forked child of this process loses the file: its descriptor there becomes a stub
/// without locks on which every operation fails, so that OFD locks die with the parent. The number stays
/// taken in the child, so that the child's copy of File may close it.
class ClosedInChild {
public:
    ClosedInChild() = default;
    explicit ClosedInChild(const File& file);
    ~ClosedInChild() { forget(); }
    ClosedInChild(ClosedInChild&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
    ClosedInChild& operator=(ClosedInChild&& other) noexcept;

private:
    void forget() noexcept;

    int fd_ = -1;
};

}  // namespace pmemcpy::os
