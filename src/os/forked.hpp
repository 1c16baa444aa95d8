#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <sys/types.h>

namespace pmemcpy::os {

/// Zeroed pages that this process shares with the children it begins afterwards, and with nobody else.
class SharedPages {
public:
    /// Errors: no_space.
    explicit SharedPages(std::size_t bytes);
    ~SharedPages();
    SharedPages(const SharedPages&) = delete;
    SharedPages& operator=(const SharedPages&) = delete;

    std::byte* base() const noexcept { return base_; }

private:
    std::byte* base_ = nullptr;
    std::size_t bytes_ = 0;
};

/// A copy of this process that does one thing which may never return: who calls into a device that hangs cannot be stopped, but left behind.
/// The kernel kills it when the thread that began it ends. Another program is started by `child.hpp`.
class ForkedChild {
public:
    /// `work` runs in the child, which then ends, whatever it threw. It has this thread only, so it may take no lock that another thread can
    /// have held; what it found goes through SharedPages.
    /// Errors: io_error or busy, when there can be no more processes.
    explicit ForkedChild(const std::function<void()>& work);
    /// Kills it if it still is there, and waits a little for its end. One that the kernel does not let go of is left to itself.
    ~ForkedChild();
    ForkedChild(ForkedChild&& other) noexcept;
    ForkedChild& operator=(ForkedChild&&) = delete;

    bool has_ended();

private:
    pid_t pid_;
};

}  // namespace pmemcpy::os
