#include "os/calls.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <dirent.h>
#include <sched.h>
#if PMEMCPY_HAVE_ACL
#include <sys/acl.h>
#endif
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace pmemcpy::os {

namespace {

// The C library declares these with a variable number of arguments, which a pointer cannot take as they are.
int call_open(const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); }
int call_openat(int directory, const char* path, int flags, mode_t mode) {
    return ::openat(directory, path, flags, mode);
}
long call_futex(const std::uint32_t* word, int operation, std::uint32_t value, const struct timespec* time) {
    return ::syscall(SYS_futex, word, operation, value, time, nullptr, 0);
}
int call_fcntl_dup(int fd, int lowest) { return ::fcntl(fd, F_DUPFD_CLOEXEC, lowest); }
int call_fcntl_lock(int fd, int command, struct flock* lock) { return ::fcntl(fd, command, lock); }
int call_ioctl(int fd, unsigned long request, void* argument) { return ::ioctl(fd, request, argument); }

#if PMEMCPY_HAVE_ACL
// libacl's function of this name says the same of a file system without lists.
int call_acl_extended_fd(int fd) {
    if (::fgetxattr(fd, "system.posix_acl_access", nullptr, 0) >= 0) return 1;
    return errno == ENODATA ? 0 : -1;
}
void* call_acl_get_fd(int fd) { return ::acl_get_fd(fd); }
int call_acl_set_fd(int fd, void* acl) { return ::acl_set_fd(fd, static_cast<acl_t>(acl)); }
void* call_acl_get_file(const char* path, unsigned type) { return ::acl_get_file(path, type); }
int call_acl_set_file(const char* path, unsigned type, void* acl) {
    return ::acl_set_file(path, type, static_cast<acl_t>(acl));
}
#else
int refuse() {
    errno = ENOTSUP;
    return -1;
}
void* call_acl_get_fd(int) {
    refuse();
    return nullptr;
}
int call_acl_extended_fd(int) { return refuse(); }
int call_acl_set_fd(int, void*) { return refuse(); }
void* call_acl_get_file(const char*, unsigned) { return call_acl_get_fd(-1); }
int call_acl_set_file(const char*, unsigned, void*) { return refuse(); }
#endif

Calls table = system_calls();

}  // namespace

Calls system_calls() noexcept {
    return {
        .open = call_open,
        .openat = call_openat,
        .close = ::close,
        .fstat = ::fstat,
        .stat = ::stat,
        .statx = ::statx,
        .fstatat = ::fstatat,
        .fstatfs = ::fstatfs,
        .fstatvfs = ::fstatvfs,
        .posix_fadvise = ::posix_fadvise,
        .ftruncate = ::ftruncate,
        .fallocate = ::fallocate,
        .lseek = ::lseek,
        .pread = ::pread,
        .pwrite = ::pwrite,
        .fsync = ::fsync,
        .fdatasync = ::fdatasync,
        .syncfs = ::syncfs,
        .fchmod = ::fchmod,
        .fchown = ::fchown,
        .getdents64 = ::getdents64,
        .fcntl_dup = call_fcntl_dup,
        .fcntl_lock = call_fcntl_lock,
        .ioctl = call_ioctl,
        .dup3 = ::dup3,
        .linkat = ::linkat,
        .unlinkat = ::unlinkat,
        .renameat = ::renameat,
        .renameat2 = ::renameat2,
        .mkdirat = ::mkdirat,
        .faccessat = ::faccessat,
        .realpath = ::realpath,
        .mmap = ::mmap,
        .munmap = ::munmap,
        .madvise = ::madvise,
        .msync = ::msync,
        .sigaction = ::sigaction,
        .pthread_sigmask = ::pthread_sigmask,
        .gethostname = ::gethostname,
        .clock_gettime = ::clock_gettime,
        .getpid = ::getpid,
        .getppid = ::getppid,
        .fork = ::fork,
        .die_with_parent = [] { return ::prctl(PR_SET_PDEATHSIG, SIGKILL); },
        .exit_now = [] { ::_exit(0); },
        .sched_yield = ::sched_yield,
        .setpriority =
            [](int which, id_t who, int value) {
                return ::setpriority(static_cast<__priority_which_t>(which), who, value);
            },
        .sched_getaffinity = ::sched_getaffinity,
        .sched_setaffinity = ::sched_setaffinity,
        .nanosleep = ::nanosleep,
        .futex = call_futex,
        .memfd_create = ::memfd_create,
        .spawn = ::posix_spawn,
        .waitpid = ::waitpid,
        .waitid = ::waitid,
        .kill = ::kill,
        .getrlimit =
            [](int resource, struct rlimit* limit) {
                return ::getrlimit(static_cast<__rlimit_resource_t>(resource), limit);
            },
        .getrusage =
            [](int who, struct rusage* usage) {
                return ::getrusage(static_cast<__rusage_who_t>(who), usage);
            },
        .geteuid = ::geteuid,
        .getpwnam_r = ::getpwnam_r,
        .getpwuid_r = ::getpwuid_r,
        .getgrnam_r = ::getgrnam_r,
        .getgrgid_r = ::getgrgid_r,
        .acl_extended_fd = call_acl_extended_fd,
        .acl_get_fd = call_acl_get_fd,
        .acl_set_fd = call_acl_set_fd,
        .acl_get_file = call_acl_get_file,
        .acl_set_file = call_acl_set_file,
    };
}

Calls& calls() noexcept { return table; }

}  // namespace pmemcpy::os
