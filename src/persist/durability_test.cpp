#include "persist/durability.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <pmemcpy/error.hpp>

#include "os/calls.hpp"

namespace {

using namespace pmemcpy;
using persist::Probe;
using persist::probe;

/// A machine with the device of our choice. The rows are those of research/consistency.md, 1.3 and 1.4.
struct Machine {
    bool is_device = false;
    bool is_dax_subsystem = true;
    long magic = EXT4_SUPER_MAGIC;
    int map_sync_errno = EOPNOTSUPP;
    std::optional<std::string> persistence_domain = {};
    std::vector<int> map_flags = {};
};
Machine machine;

constexpr int sysfs_fd = 1'000'000;
constexpr const char* region = "/sys/devices/ndbus0/region0";

os::Calls calls_of_machine() {
    os::Calls fake = os::system_calls();
    fake.fstat = [](int, struct stat* status) {
        *status = {};
        status->st_mode = machine.is_device ? S_IFCHR | 0600 : S_IFREG | 0600;
        return 0;
    };
    fake.fstatfs = [](int, struct statfs* status) {
        *status = {};
        status->f_type = machine.magic;
        return 0;
    };
    fake.realpath = [](const char* path, char*) -> char* {
        if (std::string(path).ends_with("/subsystem"))
            return ::strdup(machine.is_dax_subsystem ? "/sys/bus/dax" : "/sys/bus/tty");
        return ::strdup(
            (std::string(region) + (machine.is_device ? "/dax0.0/dax/dax0.0" : "/namespace0.0/block/pmem0"))
                .c_str());
    };
    fake.open = [](const char* path, int, mode_t) {
        if (machine.persistence_domain && path == std::string(region) + "/persistence_domain")
            return sysfs_fd;
        errno = ENOENT;
        return -1;
    };
    fake.pread = [](int, void* bytes, size_t, off_t offset) -> ssize_t {
        const std::string text = *machine.persistence_domain + "\n";
        if (offset > 0) return 0;
        std::memcpy(bytes, text.data(), text.size());
        return static_cast<ssize_t>(text.size());
    };
    fake.close = [](int fd) { return fd == sysfs_fd ? 0 : os::system_calls().close(fd); };
    fake.mmap = [](void* address, size_t length, int protection, int flags, int fd, off_t offset) -> void* {
        machine.map_flags.push_back(flags);
        if ((flags & MAP_SYNC) == 0)
            return os::system_calls().mmap(address, length, protection, flags, fd, offset);
        if (machine.map_sync_errno != 0) {
            errno = machine.map_sync_errno;
            return MAP_FAILED;
        }
        return os::system_calls().mmap(address, length, protection, MAP_SHARED, fd, offset);
    };
    return fake;
}

class Durabilities : public testing::Test {
protected:
    ~Durabilities() override { set_limit(""); }

    static void set_limit(const char* text) {
        ::setenv("PMEMCPY_DURABILITY", text, 1);  // NOLINT(concurrency-mt-unsafe): the test has one thread
    }

    static Probe probe_machine(const Machine& chosen, MapSync map_sync = MapSync::automatic) {
        const os::File file = os::File::create_unnamed("/dev/shm/unnamed", 0600);
        machine = chosen;
        const os::ScopedCalls scoped(calls_of_machine());
        return probe(file, map_sync);
    }
    static Code code_of_probe(const Machine& chosen, MapSync map_sync) {
        try {
            probe_machine(chosen, map_sync);
        } catch (const Error& error) {
            return error.kind();
        }
        return Code{};
    }

    const Machine fsdax{.map_sync_errno = 0, .persistence_domain = "memory_controller"};
    const Machine eadr{.map_sync_errno = 0, .persistence_domain = "cpu_cache"};
    const Machine devdax{.is_device = true, .map_sync_errno = 0, .persistence_domain = "memory_controller"};
    const Machine cxl_volatile{.is_device = true, .map_sync_errno = 0};
    const Machine virtio_pmem{};  // STATX_ATTR_DAX set, MAP_SYNC refused, no persistence domain
};

TEST_F(Durabilities, tmpfs_of_this_machine_promises_nothing) {
    const Probe result = probe(os::File::create_unnamed("/dev/shm/unnamed", 0600));
    EXPECT_EQ(result.durability, Durability::none);
    EXPECT_FALSE(result.map_sync);
    EXPECT_FALSE(result.needs_sync);
    EXPECT_FALSE(result.is_lowered);
}

TEST_F(Durabilities, a_disk_file_of_this_machine_promises_pages) {
    const os::File file = os::File::create_unnamed(std::filesystem::temp_directory_path() / "unnamed", 0600);
    if (file.fs_kind() != os::FileSystem::ext && file.fs_kind() != os::FileSystem::xfs) {
        GTEST_SKIP() << "the temporary directory is not on a disk file system";
    }
    const Probe result = probe(file);
    EXPECT_EQ(result.durability, Durability::page);
    EXPECT_TRUE(result.needs_sync);
}

TEST_F(Durabilities, fsdax_promises_lines_by_map_sync) {
    const Probe result = probe_machine(fsdax);
    EXPECT_EQ(result.durability, Durability::line);
    EXPECT_TRUE(result.map_sync);
    EXPECT_FALSE(result.is_devdax);
    EXPECT_FALSE(result.needs_sync);
}

TEST_F(Durabilities, a_platform_that_saves_its_caches_promises_bytes) {
    EXPECT_EQ(probe_machine(eadr).durability, Durability::byte);
    Machine device = eadr;
    device.is_device = true;
    EXPECT_EQ(probe_machine(device).durability, Durability::byte);
}

TEST_F(Durabilities, devdax_of_persistent_memory_promises_lines_and_is_never_synced) {
    const Probe result = probe_machine(devdax);
    EXPECT_EQ(result.durability, Durability::line);
    EXPECT_TRUE(result.is_devdax);
    EXPECT_FALSE(result.needs_sync);
}

// The kernel grants MAP_SYNC there too.
TEST_F(Durabilities, devdax_of_volatile_cxl_memory_promises_nothing) {
    const Probe result = probe_machine(cxl_volatile);
    EXPECT_EQ(result.durability, Durability::none);
    EXPECT_TRUE(result.is_devdax);
}

TEST_F(Durabilities, virtio_pmem_promises_pages_because_it_refuses_map_sync) {
    const Probe result = probe_machine(virtio_pmem);
    EXPECT_EQ(result.durability, Durability::page);
    EXPECT_TRUE(result.needs_sync);
    Machine old_kernel = virtio_pmem;
    old_kernel.map_sync_errno = EINVAL;
    EXPECT_EQ(probe_machine(old_kernel).durability, Durability::page);
}

TEST_F(Durabilities, memory_file_systems_promise_nothing) {
    for (const long magic : {long{TMPFS_MAGIC}, long{HUGETLBFS_MAGIC}, long{RAMFS_MAGIC}}) {
        EXPECT_EQ(probe_machine({.magic = magic}).durability, Durability::none) << magic;
    }
}

TEST_F(Durabilities, map_sync_is_the_choice_of_the_user) {
    const Probe without = probe_machine(fsdax, MapSync::off);
    EXPECT_EQ(without.durability, Durability::page);
    EXPECT_FALSE(without.map_sync);
    EXPECT_TRUE(machine.map_flags.empty());
    EXPECT_EQ(probe_machine(fsdax, MapSync::on).durability, Durability::line);
    EXPECT_EQ(code_of_probe(virtio_pmem, MapSync::on), Code::unsupported);
    EXPECT_EQ(code_of_probe({.magic = TMPFS_MAGIC}, MapSync::on), Code::unsupported);
}

TEST_F(Durabilities, a_character_device_that_is_no_devdax_is_unsupported) {
    EXPECT_EQ(code_of_probe({.is_device = true, .is_dax_subsystem = false}, MapSync::automatic),
              Code::unsupported);
}

TEST_F(Durabilities, the_environment_may_only_lower) {
    set_limit("byte");
    EXPECT_EQ(probe_machine(fsdax).durability, Durability::line);
    EXPECT_FALSE(probe_machine(fsdax).is_lowered);
    set_limit("page");
    EXPECT_EQ(probe_machine({.magic = TMPFS_MAGIC}).durability, Durability::none);
    const Probe lowered = probe_machine(fsdax);
    EXPECT_EQ(lowered.durability, Durability::page);
    EXPECT_TRUE(lowered.needs_sync);
    EXPECT_TRUE(lowered.is_lowered);
    EXPECT_EQ(probe_machine(devdax).durability, Durability::none);
    set_limit("none");
    EXPECT_FALSE(probe_machine(virtio_pmem).needs_sync);
    set_limit("everything");
    EXPECT_EQ(code_of_probe(fsdax, MapSync::automatic), Code::invalid_argument);
}

}  // namespace
