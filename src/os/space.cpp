#include "os/space.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include "os/calls.hpp"
#include "os/cgroup.hpp"
#include "os/failure.hpp"
#include "os/names.hpp"

namespace pmemcpy::os {

namespace {

// The huge pages of this size that nobody has or has been promised.
std::uint64_t free_huge_bytes(std::uint64_t page) {
    const std::string folder = "/sys/kernel/mm/hugepages/hugepages-" + std::to_string(page / 1024) + "kB/";
    const auto count = [&](const char* name) -> std::uint64_t {
        const auto text = read_text(folder + name);
        return text ? std::strtoull(text->c_str(), nullptr, 10) : 0;
    };
    const std::uint64_t free = count("free_hugepages");
    return (free - std::min(free, count("resv_hugepages"))) * page;
}

// What the machine can give without taking from a program: unlimited where the kernel does not tell.
std::uint64_t available_memory_bytes() {
    const auto text = read_text("/proc/meminfo");
    const std::string_view key = "MemAvailable:";
    const std::size_t at = text ? text->find(key) : std::string::npos;
    if (at == std::string::npos) return unlimited_bytes;
    return std::strtoull(text->c_str() + at + key.size(), nullptr, 10) * 1024;
}

struct statvfs status_of(const File& file) {
    struct statvfs status {};
    while (calls().fstatvfs(file.fd(), &status) != 0) {
        if (errno != EINTR) throw_failure("ask for the free space of", file.path(), errno);
    }
    return status;
}

std::uint64_t headroom_within(const File& file, std::uint64_t (*cgroups)()) {
    const std::uint64_t free = free_bytes(file);
    return file.fs_kind() == FileSystem::tmpfs ? std::min(free, cgroups()) : free;
}

}  // namespace

std::uint64_t free_bytes(const File& file) {
    if (file.fs_kind() == FileSystem::devdax) return 0;
    const struct statvfs status = status_of(file);
    if (status.f_blocks == 0) {  // mounted without a size
        return file.fs_kind() == FileSystem::hugetlbfs ? free_huge_bytes(status.f_bsize) : unlimited_bytes;
    }
    return status.f_bavail * status.f_frsize;
}

std::uint64_t headroom_bytes(const File& file) { return headroom_within(file, cgroup_headroom_bytes); }

std::uint64_t recent_headroom_bytes(const File& file) {
    return headroom_within(file, recent_cgroup_headroom_bytes);
}

std::uint64_t default_limit_bytes(const File& file) {
    const std::uint64_t free = free_bytes(file);
    if (file.fs_kind() != FileSystem::tmpfs) return free;
    return std::min(free, std::min(available_memory_bytes(), cgroup_headroom_bytes()) / 2);
}

Room room_of(const File& file) {
    const struct statvfs status = status_of(file);
    return {.size_bytes = status.f_blocks * status.f_frsize,
            .free_bytes = free_bytes(file),
            .is_read_only = (status.f_flag & ST_RDONLY) != 0};
}

}  // namespace pmemcpy::os
