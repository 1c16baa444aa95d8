#pragma once

#include <cstdint>

#include "os/cgroup.hpp"
#include "os/file.hpp"

namespace pmemcpy::os {

/// Free bytes for this user on the file's file system; 0 for a device, which cannot grow.
std::uint64_t free_bytes(const File& file);

/// How much more the file can grow now: the file system's free space and, where the file's pages are memory
/// (tmpfs), the cgroups' headroom too, because there an overrun is a SIGKILL and not an ENOSPC.
std::uint64_t headroom_bytes(const File& file);
/// The same for who asks again and again: of the cgroups what recent_cgroup_headroom_bytes() says.
std::uint64_t recent_headroom_bytes(const File& file);

/// How large a pool in this file may grow when its maker names no size: the file system's free space. Where the file's pages are
/// memory (tmpfs), no more than half of the memory that the machine and the cgroups have left: programs need the rest.
std::uint64_t default_limit_bytes(const File& file);

/// What there is of a file system.
struct Room {
    std::uint64_t size_bytes = 0;
    std::uint64_t free_bytes = 0;  ///< for this user
    bool is_read_only = false;
};
Room room_of(const File& file);

}  // namespace pmemcpy::os
