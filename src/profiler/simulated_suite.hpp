#pragma once

// Devices that are as fast, as full or as broken as a test wants, under a clock that only they move: nothing here depends on how
// fast the machine is.

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <pmemcpy/profile.hpp>

#include "os/calls.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::profiler::simulated {

/// In memory that children share.
struct Device {
    std::atomic<std::uint64_t> write_bytes_per_s{100'000'000}, read_bytes_per_s{200'000'000};
    std::atomic<std::uint64_t> access_ns{20'000};
    std::atomic<int> error{0};                 ///< of every write
    std::atomic<bool> hangs{false};            ///< in a write, for ever
    std::atomic<bool> does_not_answer{false};  ///< to anything
    std::atomic<bool> refuses_direct{false}, refuses_unnamed{false};
    std::atomic<bool> was_direct{false};
    std::atomic<std::uint64_t> free_bytes{std::uint64_t{100} << 30}, size_bytes{std::uint64_t{200} << 30};
    std::atomic<std::uint64_t> taken_bytes{0};  ///< the furthest end of a write
};

struct World {
    std::atomic<std::uint64_t> now_ns{1'000'000'000};
    /// By so much of what it was to take a sleep makes time pass: for what hangs, when all others have looked at so many directories.
    std::atomic<std::uint64_t> waiting_takes{0}, looks_before_that{0}, looks{0};
    std::array<Device, 4> devices;
};

inline World* world = nullptr;
inline std::string root;           // NOLINT(cert-err58-cpp): empty
inline Device* current = nullptr;  // of this process: a child measures one

[[noreturn]] inline void hang() {
    for (;;) ::pause();
}

/// Devices are the folders 0, 1, 2, 3 in the root.
inline Device* device_of(const std::string& path) {
    if (!path.starts_with(root + "/") || path.size() < root.size() + 2) return nullptr;
    return &world->devices.at(static_cast<std::size_t>(path[root.size() + 1] - '0'));
}

inline int open_simulated(const char* path, int flags, mode_t mode) {
    const std::string name = path;
    if (name == "/proc/self/mountinfo") return ::open((root + "/mountinfo").c_str(), flags, mode);
    Device* const device = device_of(name);
    if (device == nullptr) return ::open(path, flags, mode);
    current = device;
    if ((flags & O_TMPFILE) == O_TMPFILE && device->refuses_unnamed) return errno = EOPNOTSUPP, -1;
    if ((flags & O_DIRECT) != 0 && device->refuses_direct) return errno = EINVAL, -1;
    if ((flags & O_DIRECT) != 0) device->was_direct = true;
    return ::open(path, flags & ~O_DIRECT, mode);
}

inline void pass(std::uint64_t size, std::uint64_t bytes_per_s) {
    world->now_ns += current->access_ns + size * 1'000'000'000 / bytes_per_s;
}

inline os::Calls calls() {
    os::Calls fake = os::system_calls();
    fake.open = open_simulated;
    fake.realpath = [](const char* path, char* resolved) {
        const Device* const device = device_of(path);
        if (device != nullptr && device->does_not_answer) hang();
        return ::realpath(path, resolved);
    };
    fake.fstatvfs = [](int fd, struct statvfs* status) {
        const int result = ::fstatvfs(fd, status);
        if (current == nullptr) return result;
        status->f_frsize = status->f_bsize = 4096;
        status->f_blocks = current->size_bytes / 4096;
        status->f_bavail = current->free_bytes / 4096;
        return result;
    };
    fake.faccessat = [](int directory, const char* path, int permissions, int flags) {
        world->looks += 1;
        return ::faccessat(directory, path, permissions, flags);
    };
    fake.pwrite = [](int fd, const void* bytes, size_t size, off_t offset) -> ssize_t {
        if (current == nullptr) return ::pwrite(fd, bytes, size, offset);
        if (current->hangs) hang();
        if (current->error != 0) return errno = current->error, -1;
        const std::uint64_t end = static_cast<std::uint64_t>(offset) + size;
        if (end > current->taken_bytes) current->taken_bytes = end;
        pass(size, current->write_bytes_per_s);
        return ::pwrite(fd, bytes, size, offset);
    };
    fake.pread = [](int fd, void* bytes, size_t size, off_t offset) -> ssize_t {
        if (current != nullptr && size >= 4096) pass(size, current->read_bytes_per_s);
        return ::pread(fd, bytes, size, offset);
    };
    fake.clock_gettime = [](clockid_t clock, struct timespec* time) {
        if (clock != CLOCK_MONOTONIC) return ::clock_gettime(clock, time);
        const std::uint64_t now = world->now_ns;
        *time = {static_cast<time_t>(now / 1'000'000'000), static_cast<long>(now % 1'000'000'000)};
        return 0;
    };
    fake.nanosleep = [](const struct timespec* time, struct timespec*) {
        if (world->looks >= world->looks_before_that)
            world->now_ns += static_cast<std::uint64_t>(time->tv_nsec) * world->waiting_takes;
        return ::usleep(200);
    };
    return fake;
}

/// The machine: /proc/self/mountinfo says that each device is an ext4 file system of its own.
class Machine {
public:
    Machine() : scoped_((begin(folder_), calls())) {
        for (int i = 0; i < 4; ++i) std::filesystem::create_directory(path(i));
        mount("ext4", "rw");
    }
    ~Machine() { ::munmap(world, sizeof(World)); }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    Device& device(int number) { return world->devices.at(static_cast<std::size_t>(number)); }
    std::string path(int number) const { return folder_ / std::to_string(number); }
    void mount(const std::string& file_system, const std::string& options) {
        std::ofstream table(folder_ / "mountinfo");
        table << "1 0 0:1 / / ro - overlay overlay ro\n2 1 0:2 / /proc rw - proc proc rw\n";
        for (int i = 0; i < 4; ++i) {
            table << 10 + i << " 1 250:" << i << " / " << path(i) << " " << options << " - " << file_system
                  << " /dev/sim" << i << " rw\n";
        }
    }
    double seconds() const { return static_cast<double>(world->now_ns) / 1e9; }

private:
    static void begin(const Folder& folder) {
        void* const shared =
            ::mmap(nullptr, sizeof(World), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        world = new (shared) World;
        root = folder.path();
        current = nullptr;
    }

    Folder folder_{"/dev/shm"};
    os::ScopedCalls scoped_;
};

}  // namespace pmemcpy::profiler::simulated
