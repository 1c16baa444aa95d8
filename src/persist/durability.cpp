#include "persist/durability.hpp"

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <pmemcpy/error.hpp>

#include "os/calls.hpp"
#include "os/failure.hpp"
#include "os/names.hpp"

namespace pmemcpy::persist {

namespace {

struct stat status_of(const os::File& file) {
    struct stat status {};
    if (os::calls().fstat(file.fd(), &status) != 0) os::throw_failure("inspect", file.path(), errno);
    return status;
}

/// What the persistent memory region around a device says of itself: `memory_controller` or `cpu_cache`.
/// Nothing if the device lies in no such region: volatile CXL memory, virtio-pmem, any disk. Device folders
/// are nested in sysfs.
std::optional<std::string> persistence_domain(const char* kind, dev_t device) {
    const std::string name = std::to_string(major(device)) + ":" + std::to_string(minor(device));
    auto folder = os::real_path("/sys/dev/" + std::string(kind) + "/" + name);
    if (!folder) return std::nullopt;
    while (folder->size() > std::string_view("/sys").size()) {
        if (auto domain = os::read_text(*folder + "/persistence_domain")) return domain;
        folder->erase(folder->rfind('/'));
    }
    return std::nullopt;
}

bool maps_with_sync(const os::File& file) {
    constexpr std::size_t length = 4096;
    const int protection = file.is_writable() ? PROT_READ | PROT_WRITE : PROT_READ;
    void* mapped =
        os::calls().mmap(nullptr, length, protection, MAP_SHARED_VALIDATE | MAP_SYNC, file.fd(), 0);
    if (mapped == MAP_FAILED) return false;
    os::calls().munmap(mapped, length);
    return true;
}

/// As the kernel names it: TMPFS_MAGIC and the like.
std::uint32_t file_system_of(const os::File& file) {
    struct statfs status {};
    if (os::calls().fstatfs(file.fd(), &status) != 0) os::throw_failure("inspect", file.path(), errno);
    return static_cast<std::uint32_t>(status.f_type);
}

Probe probe_devdax(const struct stat& status) {
    // The kernel grants MAP_SYNC on every devdax device, volatile ones too: only the region tells them apart.
    const auto domain = persistence_domain("char", status.st_rdev);
    Probe result{.map_sync = true, .is_devdax = true, .has_write = false};
    if (!domain) {
        result.durability = Durability::none;
        result.reason = "a devdax device outside any persistent memory region: volatile memory";
    } else if (*domain == "cpu_cache") {
        result.durability = Durability::byte;
        result.reason = "a devdax device whose platform saves its caches";
    } else {
        result.durability = Durability::line;
        result.reason = "a devdax device of persistent memory";
    }
    return result;
}

Probe probe_file(const os::File& file, const struct stat& status, MapSync map_sync) {
    // STATX_ATTR_DAX is no answer: virtio-pmem sets it, and its host may still lose what was flushed.
    if (map_sync != MapSync::off && maps_with_sync(file)) {
        const auto domain = persistence_domain("block", status.st_dev);
        if (domain == "cpu_cache") {
            return {.durability = Durability::byte,
                    .map_sync = true,
                    .reason = "a DAX file system that maps with MAP_SYNC, whose platform saves its caches"};
        }
        return {.durability = Durability::line,
                .map_sync = true,
                .reason = "a DAX file system that maps with MAP_SYNC"};
    }
    if (map_sync == MapSync::on) {
        throw Error(Code::unsupported,
                    "asked to map '" + file.path() +
                        "' with MAP_SYNC: its file system refuses; use map_sync=automatic, or a "
                        "file system mounted with -o dax on persistent memory");
    }
    const std::uint32_t system = file_system_of(file);
    if (system == TMPFS_MAGIC || system == HUGETLBFS_MAGIC || system == RAMFS_MAGIC) {
        return {.durability = Durability::none,
                .has_write = system != HUGETLBFS_MAGIC,
                .reason = "a file system in volatile memory"};
    }
    return {
        .durability = Durability::page, .needs_sync = true, .reason = "a file system behind the page cache"};
}

std::optional<Durability> durability_from_environment() {
    const char* text = std::getenv("PMEMCPY_DURABILITY");
    if (text == nullptr || *text == '\0') return std::nullopt;
    for (const Durability durability :
         {Durability::none, Durability::page, Durability::line, Durability::byte}) {
        if (std::string_view(text) == name_of(durability)) return durability;
    }
    throw Error(Code::invalid_argument,
                "PMEMCPY_DURABILITY is '" + std::string(text) +
                    "': it must be none, page, line or byte, and may only lower what is found");
}

void lower(Probe& result, Durability limit) {
    if (limit >= result.durability) return;
    // Page durability comes from a sync, which devdax does not have: less than line is nothing there.
    if (result.is_devdax && limit == Durability::page) limit = Durability::none;
    result.durability = limit;
    result.needs_sync = limit == Durability::page;
    result.is_lowered = true;
    result.reason += "; lowered by PMEMCPY_DURABILITY";
}

}  // namespace

Probe probe(const os::File& file, MapSync map_sync) {
    const struct stat status = status_of(file);
    Probe result;
    if (!S_ISCHR(status.st_mode)) {
        result = probe_file(file, status, map_sync);
    } else if (file.fs_kind() == os::FileSystem::devdax) {
        result = probe_devdax(status);
    } else {
        throw Error(Code::unsupported,
                    "cannot use '" + file.path() + "': a character device that is no devdax device");
    }
    if (const auto limit = durability_from_environment()) lower(result, *limit);
    return result;
}

}  // namespace pmemcpy::persist
