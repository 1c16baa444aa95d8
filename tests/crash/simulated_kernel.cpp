#include "simulated_kernel.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <linux/falloc.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pool/runtime.hpp"

namespace pmemcpy::crash {
namespace {

constexpr std::uint64_t huge = std::uint64_t{2} << 20;
constexpr std::uint64_t runtime_room = (pool::runtime_bytes + huge - 1) / huge * huge;
constexpr std::uint64_t pool_room = SimulatedKernel::most_pool_bytes;
constexpr std::uint64_t state_room = huge;

// Descriptors far above any real one: each open has its own, and so its own locks.
enum Descriptor : int { pool_fd, runtime_fd, directory_fd, size_fd, domain_fd, kinds };
constexpr int first_fd = 1'000'000;
constexpr int kind_of(int fd) { return (fd - first_fd) % kinds; }
constexpr std::uint64_t arena_bytes = pool_room + runtime_room + state_room + huge;
constexpr const char* region = "/sys/region0";

SimulatedKernel* kernel = nullptr;

// Asked for at each lock and each close, millions of times.
pid_t this_process() {
    static pid_t known = 0;
    static const int watching = pthread_atfork(nullptr, nullptr, [] { known = ::getpid(); });
    if (known == 0 && watching == 0) known = ::getpid();
    return known;
}

int fail(int error) {
    errno = error;
    return -1;
}

}  // namespace

void set_pages(SimulatedKernel::Allocation& pages, std::uint64_t offset, std::uint64_t length,
               bool allocated) {
    for (std::uint64_t page = offset / 4096; page < (offset + length + 4095) / 4096; ++page)
        pages.set(page, allocated);
}

bool SimulatedKernel::is_allocated(std::uint64_t offset, std::uint64_t length) const {
    for (std::uint64_t page = offset / 4096; page < (offset + length + 4095) / 4096; ++page) {
        if (!state_->allocation[page]) return false;
    }
    return true;
}

struct Handlers {
    using Lock = SimulatedKernel::Lock;
    static int opened(Descriptor kind) { return first_fd + kernel->state_->opened++ * kinds + kind; }
    static int open(const char* path, int flags, mode_t) {
        const std::string_view name(path);
        if ((flags & O_TMPFILE) == O_TMPFILE) {
            kernel->state_->size = 0;
            kernel->state_->linked = false;
            kernel->state_->allocation.reset();
            std::memset(kernel->pool_, 0, pool_room);
            return opened(pool_fd);
        }
        if ((flags & O_DIRECTORY) != 0) return opened(directory_fd);
        if (name == SimulatedKernel::path) return kernel->state_->linked ? opened(pool_fd) : fail(ENOENT);
        if (name.ends_with("/pool.rt")) return opened(runtime_fd);
        // What is open already, another time, with locks of its own.
        constexpr std::string_view again = "/proc/self/fd/";
        if (name.starts_with(again))
            return opened(static_cast<Descriptor>(kind_of(std::atoi(path + again.size()))));
        if (kernel->is_device() && name.starts_with("/sys/")) {
            if (name.ends_with("/size")) return opened(size_fd);
            if (name == std::string(region) + "/persistence_domain") return opened(domain_fd);
        }
        return fail(ENOENT);
    }
    // A child that closes what it has inherited leaves its parent's locks alone.
    static int close(int fd) {
        const pid_t me = this_process();
        drop_locks([&](const Lock& lock) { return lock.fd == fd && lock.process == me; });
        return 0;
    }
    static int fstat(int fd, struct stat* status) {
        *status = {};
        const int kind = kind_of(fd);
        status->st_mode =
            (kind == pool_fd && kernel->is_device() ? S_IFCHR : S_IFREG) | (kind == runtime_fd ? 0600 : 0644);
        status->st_dev = 1;
        status->st_ino = kind == pool_fd ? 11 : 12;
        status->st_nlink = 1;
        status->st_size =
            static_cast<off_t>(kind == pool_fd ? kernel->state_->size : kernel->state_->runtime_size);
        return 0;
    }
    static int stat(const char* path, struct stat* status) {
        const bool there = std::string_view(path) == SimulatedKernel::path && kernel->state_->linked;
        return there ? fstat(first_fd + pool_fd, status) : fail(ENOENT);
    }
    static int fstatfs(int, struct statfs* status) {
        *status = {};
        status->f_type = EXT4_SUPER_MAGIC;
        return 0;
    }
    static int fstatvfs(int, struct statvfs* status) {
        *status = {};
        status->f_frsize = 1;
        status->f_blocks = 1ULL << 50;
        status->f_bavail = kernel->state_->free_bytes;
        return 0;
    }
    static int ftruncate(int fd, off_t length) {
        const auto bytes = static_cast<std::uint64_t>(length);
        if (kind_of(fd) == pool_fd) {
            if (bytes > pool_room) return fail(EFBIG);
            kernel->state_->size = bytes;
            return 0;
        }
        if (bytes == 0 && kernel->state_->runtime_size != 0) empty_runtime();
        kernel->state_->runtime_size = bytes;
        return 0;
    }
    static void empty_runtime() {  // the slots above were never touched
        const auto& header = *reinterpret_cast<const pool::RuntimeHeader*>(kernel->runtime_);
        const std::uint64_t slots = std::min(header.slots_used + 1, pool::slot_count);
        std::memset(kernel->runtime_, 0, pool::page_bytes + slots * sizeof(pool::Slot));
    }
    static int fallocate(int fd, int mode, off_t offset, off_t length) {
        if (kind_of(fd) != pool_fd) {
            if ((mode & FALLOC_FL_PUNCH_HOLE) != 0) empty_runtime();
            return 0;
        }
        const auto begin = static_cast<std::uint64_t>(offset);
        const auto bytes = static_cast<std::uint64_t>(length);
        const bool punches = (mode & FALLOC_FL_PUNCH_HOLE) != 0;
        set_pages(kernel->state_->allocation, begin, bytes, !punches);
        if (punches) std::memset(kernel->pool_ + begin, 0, bytes);
        if (kernel->listener_ == nullptr) return 0;
        punches ? kernel->listener_->on_punch(begin, bytes) : kernel->listener_->on_allocate(begin, bytes);
        return 0;
    }
    static ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
        const int kind = kind_of(fd);
        if (kind == size_fd || kind == domain_fd) {
            const std::string text =
                kind == size_fd ? std::to_string(SimulatedKernel::device_bytes) : "memory_controller";
            if (offset > 0) return 0;
            std::memcpy(bytes, text.data(), std::min(size, text.size()));
            return static_cast<ssize_t>(text.size());
        }
        if (kind != runtime_fd && (kind != pool_fd || kernel->is_device())) return fail(EINVAL);
        std::memcpy(bytes, (kind == pool_fd ? kernel->pool_ : kernel->runtime_) + offset, size);
        return static_cast<ssize_t>(size);
    }
    static ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
        if (kind_of(fd) != pool_fd) return fail(EBADF);
        std::memcpy(kernel->pool_ + offset, bytes, size);
        return static_cast<ssize_t>(size);
    }
    static int sync(int fd) {
        return kind_of(fd) == pool_fd || kind_of(fd) == directory_fd
                   ? 0
                   : fail(EBADF);  // the trace hook tells what it is for
    }
    template <class Condition>
    static void drop_locks(Condition&& condition) {
        auto& state = *kernel->state_;
        Lock* end = std::remove_if(state.lock.data(), state.lock.data() + state.locks, condition);
        state.locks = static_cast<std::size_t>(end - state.lock.data());
    }
    static void add_lock(const Lock& lock) {
        auto& state = *kernel->state_;
        if (lock.begin >= lock.end) return;
        if (state.locks == state.lock.size())
            throw std::logic_error("too many locks for the simulated kernel");
        state.lock[state.locks++] = lock;
    }
    static int lock(int fd, int command, struct flock* asked) {
        const auto begin = static_cast<std::uint64_t>(asked->l_start);
        const Lock wanted{fd, this_process(), begin, begin + static_cast<std::uint64_t>(asked->l_len),
                          asked->l_type};
        auto& state = *kernel->state_;
        const auto overlaps = [&](const Lock& other) {
            return kind_of(other.fd) == kind_of(fd) && other.begin < wanted.end && wanted.begin < other.end;
        };
        const Lock* const held = state.lock.data();
        const Lock* const end = held + state.locks;
        const Lock* const conflict = std::find_if(held, end, [&](const Lock& other) {
            return other.fd != fd && overlaps(other) && (wanted.type == F_WRLCK || other.type == F_WRLCK);
        });
        const bool is_free = wanted.type == F_UNLCK || conflict == end;
        if (command == F_OFD_GETLK) {
            asked->l_type = is_free ? static_cast<short>(F_UNLCK) : conflict->type;
            return 0;
        }
        if (!is_free && command == F_OFD_SETLKW) throw std::logic_error("this would wait for ever");
        if (!is_free) return fail(EAGAIN);
        std::vector<Lock> rest;  // of its own, beside what is asked for now
        for (const Lock* own = held; own != end; ++own) {
            if (own->fd != fd || !overlaps(*own)) continue;
            rest.push_back({fd, own->process, own->begin, wanted.begin, own->type});
            rest.push_back({fd, own->process, wanted.end, own->end, own->type});
        }
        drop_locks([&](const Lock& own) { return own.fd == fd && overlaps(own); });
        for (const Lock& own : rest) add_lock(own);
        if (wanted.type != F_UNLCK) add_lock(wanted);
        return 0;
    }
    static int ioctl(int, unsigned long, void*) { return fail(ENOTTY); }
    static int linkat(int, const char*, int, const char*, int) {
        kernel->state_->linked = true;
        return 0;
    }
    static int unlinkat(int, const char*, int) { return fail(ENOENT); }
    static char* realpath(const char* path, char*) {
        const std::string_view name(path);
        if (kernel->is_device() && name.starts_with("/sys/dev/char/"))
            return ::strdup(name.ends_with("/subsystem") ? "/sys/bus/dax" : region);
        errno = ENOENT;
        return nullptr;
    }
    static int mkdirat(int, const char*, mode_t) { return 0; }
    static void* mmap(void* address, size_t length, int, int flags, int fd, off_t offset) {
        if ((flags & MAP_ANONYMOUS) != 0) return length > pool_room + huge ? kernel->runtime_ : kernel->pool_;
        if (kind_of(fd) == pool_fd && (flags & MAP_SYNC) == MAP_SYNC && kernel->model_ != Model::line) {
            errno = EOPNOTSUPP;
            return MAP_FAILED;
        }
        std::byte* home = kind_of(fd) == pool_fd ? kernel->pool_ : kernel->runtime_;
        if (address != nullptr && address != home)
            throw std::logic_error("the simulated kernel maps a file in one place");
        return home + offset;
    }
    static int munmap(void*, size_t) { return 0; }
    static int madvise(void*, size_t, int) { return 0; }
    static int msync(void*, size_t, int) { return sync(first_fd + pool_fd); }
    static int clock_gettime(clockid_t, struct timespec* time) {
        constexpr std::int64_t second = 1'000'000'000;
        const std::int64_t now = ++kernel->state_->ticks;
        *time = {1'700'000'000 + now / second, now % second};
        return 0;
    }
    // Nobody else is there to wait for, and time passes here by being asked for.
    static int yield() { return 0; }
    static long futex(const std::uint32_t*, int operation, std::uint32_t, const struct timespec*) {
        if (operation == FUTEX_WAIT) throw std::logic_error("this would wait for ever");
        return 0;
    }
    static int nanosleep(const struct timespec* time, struct timespec*) {
        kernel->state_->ticks += time->tv_nsec;
        return 0;
    }
    static pid_t getpid() { return 4242; }
    static int acl_extended_fd(int) {
        errno = ENOTSUP;
        return -1;
    }
    static void* acl_get_fd(int) {
        errno = ENOTSUP;
        return nullptr;
    }
};

void SimulatedKernel::bury(pid_t child) {
    Handlers::drop_locks([&](const Lock& lock) { return lock.process == child; });
}

std::span<std::byte> SimulatedKernel::shared() const { return {pool_, pool_room + runtime_room}; }

SimulatedKernel& SimulatedKernel::current() { return *kernel; }

void SimulatedKernel::remove_pool() {
    state_->linked = is_device();
    if (!is_device()) return;
    state_->size = device_bytes;
    std::memset(pool_, 0, device_bytes);
    set_pages(state_->allocation, 0, device_bytes, true);
}

SimulatedKernel::SimulatedKernel(Model model, Place place)
    : model_(model), place_(place), previous_(os::calls()) {
    if (kernel != nullptr) throw std::logic_error("one simulated kernel at a time");
    void* got = ::mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) throw std::bad_alloc();
    arena_ = static_cast<std::byte*>(got);
    const auto start = reinterpret_cast<std::uintptr_t>(arena_);
    pool_ = arena_ + ((start + huge - 1) / huge * huge - start);
    runtime_ = pool_ + pool_room;
    state_ = new (runtime_ + runtime_room) State;
    os::Calls calls = os::system_calls();
    calls.open = Handlers::open;
    calls.close = Handlers::close;
    calls.fstat = Handlers::fstat;
    calls.stat = Handlers::stat;
    calls.fstatfs = Handlers::fstatfs;
    calls.fstatvfs = Handlers::fstatvfs;
    calls.ftruncate = Handlers::ftruncate;
    calls.fallocate = Handlers::fallocate;
    calls.pread = Handlers::pread;
    calls.pwrite = Handlers::pwrite;
    calls.fsync = Handlers::sync;
    calls.fdatasync = Handlers::sync;
    calls.fcntl_lock = Handlers::lock;
    calls.ioctl = Handlers::ioctl;
    calls.linkat = Handlers::linkat;
    calls.unlinkat = Handlers::unlinkat;
    calls.realpath = Handlers::realpath;
    calls.mkdirat = Handlers::mkdirat;
    calls.mmap = Handlers::mmap;
    calls.munmap = Handlers::munmap;
    calls.madvise = Handlers::madvise;
    calls.msync = Handlers::msync;
    calls.clock_gettime = Handlers::clock_gettime;
    calls.futex = Handlers::futex;
    calls.sched_yield = Handlers::yield;
    calls.nanosleep = Handlers::nanosleep;
    calls.getpid = Handlers::getpid;
    calls.acl_extended_fd = Handlers::acl_extended_fd;
    calls.acl_get_fd = Handlers::acl_get_fd;
    os::calls() = calls;
    kernel = this;
}

SimulatedKernel::~SimulatedKernel() {
    os::calls() = previous_;
    kernel = nullptr;
    ::munmap(arena_, arena_bytes);
}

}  // namespace pmemcpy::crash
