#include "os/space.hpp"

#include <algorithm>
#include <cerrno>

#include "os/calls.hpp"
#include "os/cgroup.hpp"
#include "os/failure.hpp"

namespace pmemcpy::os {

std::uint64_t free_bytes(const File& file) {
    if (file.fs_kind() == FileSystem::devdax) return 0;
    struct statvfs status {};
    while (calls().fstatvfs(file.fd(), &status) != 0) {
        if (errno != EINTR) throw_failure("ask for the free space of", file.path(), errno);
    }
    if (status.f_blocks == 0) return unlimited_bytes;  // a tmpfs mounted without a size
    return status.f_bavail * status.f_frsize;
}

std::uint64_t headroom_bytes(const File& file) {
    const std::uint64_t free = free_bytes(file);
    if (file.fs_kind() != FileSystem::tmpfs) return free;
    return std::min(free, cgroup_headroom_bytes());
}

}  // namespace pmemcpy::os
