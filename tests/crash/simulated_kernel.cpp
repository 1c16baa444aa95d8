#include "simulated_kernel.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include <linux/falloc.h>
#include <linux/magic.h>
#include <sys/mman.h>

#include "pool/runtime.hpp"

namespace pmemcpy::crash {
namespace {

constexpr std::uint64_t huge = std::uint64_t{2} << 20;
constexpr std::uint64_t runtime_room = (pool::runtime_bytes + huge - 1) / huge * huge;
constexpr std::uint64_t pool_room = SimulatedKernel::most_pool_bytes;

// Descriptors far above any real one.
enum Descriptor : int { pool_fd = 1'000'000, runtime_fd, directory_fd, size_fd, domain_fd };
constexpr const char* region = "/sys/region0";

SimulatedKernel* kernel = nullptr;

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
        if (!allocation_[page]) return false;
    }
    return true;
}

struct Handlers {
    static int open(const char* path, int flags, mode_t) {
        const std::string_view name(path);
        if ((flags & O_TMPFILE) == O_TMPFILE) {
            kernel->size_ = 0;
            kernel->linked_ = false;
            kernel->allocation_.reset();
            std::memset(kernel->pool_, 0, pool_room);
            return pool_fd;
        }
        if ((flags & O_DIRECTORY) != 0) return directory_fd;
        if (name == SimulatedKernel::path) return kernel->linked_ ? pool_fd : fail(ENOENT);
        if (name.ends_with("/pool.rt")) return runtime_fd;
        if (kernel->is_device() && name.starts_with("/sys/")) {
            if (name.ends_with("/size")) return size_fd;
            if (name == std::string(region) + "/persistence_domain") return domain_fd;
        }
        return fail(ENOENT);
    }
    static int close(int) { return 0; }
    static int fstat(int fd, struct stat* status) {
        *status = {};
        status->st_mode = (fd == pool_fd && kernel->is_device() ? S_IFCHR : S_IFREG) | 0644;
        status->st_dev = 1;
        status->st_ino = fd == pool_fd ? 11 : 12;
        status->st_nlink = 1;
        status->st_size = static_cast<off_t>(fd == pool_fd ? kernel->size_ : kernel->runtime_size_);
        return 0;
    }
    static int stat(const char* path, struct stat* status) {
        const bool there = std::string_view(path) == SimulatedKernel::path && kernel->linked_;
        return there ? fstat(pool_fd, status) : fail(ENOENT);
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
        status->f_bavail = kernel->free_bytes_;
        return 0;
    }
    static int ftruncate(int fd, off_t length) {
        const auto bytes = static_cast<std::uint64_t>(length);
        if (fd == pool_fd) {
            if (bytes > pool_room) return fail(EFBIG);
            kernel->size_ = bytes;
            return 0;
        }
        if (bytes == 0 && kernel->runtime_size_ != 0) {  // the slots above were never touched
            const auto& header = *reinterpret_cast<const pool::RuntimeHeader*>(kernel->runtime_);
            const std::uint64_t slots = std::min(header.slots_used + 1, pool::slot_count);
            std::memset(kernel->runtime_, 0, pool::page_bytes + slots * sizeof(pool::Slot));
        }
        kernel->runtime_size_ = bytes;
        return 0;
    }
    static int fallocate(int fd, int mode, off_t offset, off_t length) {
        if (fd != pool_fd) return 0;
        const auto begin = static_cast<std::uint64_t>(offset);
        const auto bytes = static_cast<std::uint64_t>(length);
        const bool punches = (mode & FALLOC_FL_PUNCH_HOLE) != 0;
        set_pages(kernel->allocation_, begin, bytes, !punches);
        if (punches) std::memset(kernel->pool_ + begin, 0, bytes);
        if (kernel->listener_ == nullptr) return 0;
        punches ? kernel->listener_->on_punch(begin, bytes) : kernel->listener_->on_allocate(begin, bytes);
        return 0;
    }
    static ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
        if (fd == size_fd || fd == domain_fd) {
            const std::string text =
                fd == size_fd ? std::to_string(SimulatedKernel::device_bytes) : "memory_controller";
            if (offset > 0) return 0;
            std::memcpy(bytes, text.data(), std::min(size, text.size()));
            return static_cast<ssize_t>(text.size());
        }
        if (fd != pool_fd || kernel->is_device()) return fail(EINVAL);
        std::memcpy(bytes, kernel->pool_ + offset, size);
        return static_cast<ssize_t>(size);
    }
    static ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
        if (fd != pool_fd) return fail(EBADF);
        std::memcpy(kernel->pool_ + offset, bytes, size);
        return static_cast<ssize_t>(size);
    }
    static int sync(int fd) {
        return fd == pool_fd || fd == directory_fd ? 0 : fail(EBADF);  // the trace hook tells what it is for
    }
    static int lock(int, int command, struct flock* lock) {
        if (command == F_OFD_GETLK) lock->l_type = F_UNLCK;
        return 0;
    }
    static int ioctl(int, unsigned long, void*) { return fail(ENOTTY); }
    static int linkat(int, const char*, int, const char*, int) {
        kernel->linked_ = true;
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
    static void* mmap(void* address, size_t length, int, int flags, int fd, off_t) {
        if ((flags & MAP_ANONYMOUS) != 0) return length > pool_room + huge ? kernel->runtime_ : kernel->pool_;
        if (fd == pool_fd && (flags & MAP_SYNC) == MAP_SYNC && kernel->model_ != Model::line) {
            errno = EOPNOTSUPP;
            return MAP_FAILED;
        }
        std::byte* home = fd == pool_fd ? kernel->pool_ : kernel->runtime_;
        if (address != nullptr && address != home)
            throw std::logic_error("the simulated kernel maps a file in one place");
        return home;
    }
    static int munmap(void*, size_t) { return 0; }
    static int madvise(void*, size_t, int) { return 0; }
    static int msync(void*, size_t, int) { return sync(pool_fd); }
    static int clock_gettime(clockid_t, struct timespec* time) {
        *time = {1'700'000'000, ++kernel->ticks_};
        return 0;
    }
    static pid_t getpid() { return 4242; }
};

SimulatedKernel& SimulatedKernel::current() { return *kernel; }

void SimulatedKernel::remove_pool() {
    linked_ = is_device();
    if (!is_device()) return;
    size_ = device_bytes;
    std::memset(pool_, 0, size_);
    set_pages(allocation_, 0, size_, true);
}

SimulatedKernel::SimulatedKernel(Model model, Place place)
    : model_(model), place_(place), previous_(os::calls()) {
    if (kernel != nullptr) throw std::logic_error("one simulated kernel at a time");
    void* got = ::mmap(nullptr, pool_room + runtime_room + huge, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) throw std::bad_alloc();
    arena_ = static_cast<std::byte*>(got);
    const auto start = reinterpret_cast<std::uintptr_t>(arena_);
    pool_ = arena_ + ((start + huge - 1) / huge * huge - start);
    runtime_ = pool_ + pool_room;
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
    calls.getpid = Handlers::getpid;
    os::calls() = calls;
    kernel = this;
}

SimulatedKernel::~SimulatedKernel() {
    os::calls() = previous_;
    kernel = nullptr;
    ::munmap(arena_, pool_room + runtime_room + huge);
}

}  // namespace pmemcpy::crash
