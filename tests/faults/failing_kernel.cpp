#include "failing_kernel.hpp"

#include <cerrno>
#include <map>
#include <optional>
#include <type_traits>

#include <linux/magic.h>
#include <sys/mman.h>

namespace pmemcpy::faults {
namespace {

os::Calls real;
bool counts = false;
std::uint64_t countdown = 0;  // 0: none fails any more
Fault next_fault;
std::vector<std::string> names;

/// Whether this call is the one, and how it fails.
std::optional<Fault> failure(const char* name) {
    if (!counts) return std::nullopt;
    names.emplace_back(name);
    if (countdown == 0 || --countdown != 0) return std::nullopt;
    errno = next_fault.error;
    return next_fault;
}

template <class R>
R failed() {
    if constexpr (std::is_pointer_v<R>) {
        return nullptr;
    } else {
        return R{-1};
    }
}

/// Calls that fail by returning -1, or null, and errno.
#define PLAIN(name, parameters, arguments)                         \
    real.name = calls.name;                                        \
    calls.name = [] parameters {                                   \
        using R = decltype(real.name arguments);                   \
        return failure(#name) ? failed<R>() : real.name arguments; \
    }

/// Those that may do a part of what they were asked.
#define PARTIAL(name, parameters, arguments, half)    \
    real.name = calls.name;                           \
    calls.name = [] parameters -> ssize_t {           \
        const auto fault = failure(#name);            \
        if (!fault) return real.name arguments;       \
        return fault->is_short ? real.name half : -1; \
    }

}  // namespace

FailingKernel::FailingKernel(Medium medium) : previous_(os::calls()) {
    os::Calls calls = os::system_calls();
    real = calls;
    PLAIN(open, (const char* path, int flags, mode_t mode), (path, flags, mode));
    PLAIN(openat, (int at, const char* path, int flags, mode_t mode), (at, path, flags, mode));
    PLAIN(fstat, (int fd, struct stat* status), (fd, status));
    PLAIN(stat, (const char* path, struct stat* status), (path, status));
    PLAIN(statx, (int at, const char* path, int flags, unsigned mask, struct statx* status),
          (at, path, flags, mask, status));
    PLAIN(fstatat, (int at, const char* path, struct stat* status, int flags), (at, path, status, flags));
    PLAIN(fstatvfs, (int fd, struct statvfs* status), (fd, status));
    PLAIN(ftruncate, (int fd, off_t size), (fd, size));
    PLAIN(fallocate, (int fd, int mode, off_t offset, off_t length), (fd, mode, offset, length));
    PARTIAL(pread, (int fd, void* bytes, size_t size, off_t offset), (fd, bytes, size, offset),
            (fd, bytes, (size + 1) / 2, offset));
    PARTIAL(pwrite, (int fd, const void* bytes, size_t size, off_t offset), (fd, bytes, size, offset),
            (fd, bytes, (size + 1) / 2, offset));
    PLAIN(fsync, (int fd), (fd));
    PLAIN(fdatasync, (int fd), (fd));
    PLAIN(syncfs, (int fd), (fd));
    PLAIN(fchmod, (int fd, mode_t mode), (fd, mode));
    PLAIN(fchown, (int fd, uid_t user, gid_t group), (fd, user, group));
    PLAIN(acl_get_fd, (int fd), (fd));
    PLAIN(getdents64, (int fd, void* entries, size_t size), (fd, entries, size));
    PLAIN(ioctl, (int fd, unsigned long request, void* argument), (fd, request, argument));
    PLAIN(dup3, (int from, int to, int flags), (from, to, flags));
    PLAIN(linkat, (int at, const char* from, int to_at, const char* to, int flags),
          (at, from, to_at, to, flags));
    PLAIN(unlinkat, (int at, const char* path, int flags), (at, path, flags));
    PLAIN(renameat, (int at, const char* from, int to_at, const char* to), (at, from, to_at, to));
    PLAIN(mkdirat, (int at, const char* path, mode_t mode), (at, path, mode));
    PLAIN(realpath, (const char* path, char* resolved), (path, resolved));
    PLAIN(madvise, (void* address, size_t length, int advice), (address, length, advice));
    PLAIN(msync, (void* address, size_t length, int flags), (address, length, flags));
    calls.mmap = [](void* address, size_t length, int protection, int flags, int fd, off_t offset) -> void* {
        if (failure("mmap")) return MAP_FAILED;
        return real.mmap(address, length, protection, flags, fd, offset);
    };
    calls.fcntl_lock = [](int fd, int command, struct flock* lock) {
        if (lock->l_type != F_UNLCK && failure("fcntl_lock")) return -1;
        return real.fcntl_lock(fd, command, lock);
    };
    static Medium looks;
    looks = medium;
    calls.fstatfs = [](int fd, struct statfs* status) {
        if (failure("fstatfs")) return -1;
        const int result = real.fstatfs(fd, status);
        if (result == 0 && looks == Medium::page) status->f_type = EXT4_SUPER_MAGIC;
        return result;
    };
    os::calls() = calls;
}

FailingKernel::~FailingKernel() {
    disarm();
    os::calls() = previous_;
}

void FailingKernel::arm(std::uint64_t number, const Fault& fault) {
    names.clear();
    next_fault = fault;
    countdown = number;
    counts = true;
}

void FailingKernel::disarm() {
    counts = false;
    countdown = 0;
}

const std::vector<std::string>& FailingKernel::seen() { return names; }

const std::vector<Fault>& FailingKernel::faults_of(const std::string& name) {
    static const std::map<std::string, std::vector<Fault>> faults = {
        {"open", {{EMFILE}, {EACCES}, {EIO}}},
        {"openat", {{EMFILE}, {EACCES}, {EIO}}},
        {"ftruncate", {{EINTR}, {EIO}, {EFBIG}}},
        {"fallocate", {{EINTR}, {ENOSPC}, {EDQUOT}, {EIO}}},
        {"pread", {{EINTR}, {EIO}, {0, true}}},
        {"pwrite", {{EINTR}, {EIO}, {ENOSPC}, {0, true}}},
        {"fsync", {{EIO}, {ENOSPC}}},
        {"fdatasync", {{EIO}, {ENOSPC}}},
        {"syncfs", {{EIO}, {ENOSPC}}},
        {"fchmod", {{EPERM}}},
        {"fchown", {{EPERM}}},
        {"fcntl_lock", {{EINTR}, {ENOLCK}}},
        {"ioctl", {{ENOTTY}, {EIO}}},
        {"linkat", {{ENOSPC}, {EDQUOT}, {EIO}}},
        {"unlinkat", {{EIO}, {EROFS}}},
        {"renameat", {{ENOSPC}, {EIO}}},
        {"mkdirat", {{ENOSPC}, {EACCES}}},
        {"realpath", {{EACCES}}},
        {"mmap", {{ENOMEM}, {EAGAIN}}},
        {"madvise", {{EINVAL}, {ENOMEM}}},
    };
    static const std::vector<Fault> input_output = {{EIO}};
    const auto found = faults.find(name);
    return found == faults.end() ? input_output : found->second;
}

}  // namespace pmemcpy::faults
