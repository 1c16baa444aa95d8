#pragma once

#include <cstdint>
#include <string>

#include "os/calls.hpp"

namespace pmemcpy::faults {

/// Pages of a file that give no bytes any more, for this process: a touch of them is SIGBUS, as with memory that the
/// hardware has given up, and reading them by a call is EIO. A page without a file behind it takes their place in every
/// mapping of the file, those that come later too.
class Poison {
public:
    Poison();
    ~Poison();
    Poison(const Poison&) = delete;
    Poison& operator=(const Poison&) = delete;

    /// From now on `page` of the file at `path` is so.
    void strike(const std::string& path, std::uint64_t page);

private:
    os::Calls previous_;
};

/// The same done by the kernel, for all processes, for ever: what is at `address` must be memory that can be spared. False
/// where the kernel or its configuration has no such thing, or this process may not.
bool poison_for_real(void* address);

/// Where this process has mapped the byte at `offset` of the file; null if nowhere.
void* mapped_at(const std::string& path, std::uint64_t offset);

}  // namespace pmemcpy::faults
