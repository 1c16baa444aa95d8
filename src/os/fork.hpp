#pragma once

#include <cstdint>

#include "os/file.hpp"

namespace pmemcpy::os {

/// Changes in a forked child: remember it, and compare to know that this process is not the one that opened.
std::uint64_t fork_generation() noexcept;

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
