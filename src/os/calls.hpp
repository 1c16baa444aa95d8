#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/wait.h>

namespace pmemcpy::os {

/// Every call that the library makes to the kernel. Nothing outside `os` calls the kernel, and `os` calls it
/// only through this table, so that a test can play any kernel, device or failure.
struct Calls {
    int (*open)(const char* path, int flags, mode_t mode);
    int (*openat)(int directory, const char* path, int flags, mode_t mode);
    int (*close)(int fd);
    int (*fstat)(int fd, struct stat* status);
    int (*stat)(const char* path, struct stat* status);
    int (*statx)(int directory, const char* path, int flags, unsigned mask, struct statx* status);
    int (*fstatat)(int directory, const char* path, struct stat* status, int flags);
    int (*fstatfs)(int fd, struct statfs* status);
    int (*fstatvfs)(int fd, struct statvfs* status);
    int (*posix_fadvise)(int fd, off_t offset, off_t length, int advice);  // says the error, and sets none
    int (*ftruncate)(int fd, off_t size);
    int (*fallocate)(int fd, int mode, off_t offset, off_t length);
    off_t (*lseek)(int fd, off_t offset, int whence);
    ssize_t (*pread)(int fd, void* bytes, size_t size, off_t offset);
    ssize_t (*pwrite)(int fd, const void* bytes, size_t size, off_t offset);
    int (*fsync)(int fd);
    int (*fdatasync)(int fd);
    int (*syncfs)(int fd);
    int (*fchmod)(int fd, mode_t mode);
    int (*fchown)(int fd, uid_t user, gid_t group);
    ssize_t (*getdents64)(int fd, void* entries, size_t size);
    int (*fcntl_dup)(int fd, int lowest);  // F_DUPFD_CLOEXEC
    int (*fcntl_lock)(int fd, int command, struct flock* lock);
    int (*ioctl)(int fd, unsigned long request, void* argument);
    int (*dup3)(int from, int to, int flags);
    int (*linkat)(int from_directory, const char* from, int to_directory, const char* to, int flags);
    int (*unlinkat)(int directory, const char* path, int flags);
    int (*renameat)(int from_directory, const char* from, int to_directory, const char* to);
    int (*renameat2)(int from_directory, const char* from, int to_directory, const char* to, unsigned flags);
    int (*mkdirat)(int directory, const char* path, mode_t mode);
    int (*faccessat)(int directory, const char* path, int permissions, int flags);
    char* (*realpath)(const char* path, char* resolved);
    void* (*mmap)(void* address, size_t length, int protection, int flags, int fd, off_t offset);
    int (*munmap)(void* address, size_t length);
    int (*madvise)(void* address, size_t length, int advice);
    int (*msync)(void* address, size_t length, int flags);
    int (*sigaction)(int signal, const struct sigaction* action, struct sigaction* previous);
    int (*pthread_sigmask)(int how, const sigset_t* change, sigset_t* previous);
    int (*gethostname)(char* name, size_t size);
    int (*clock_gettime)(clockid_t clock, struct timespec* time);
    pid_t (*getpid)();
    pid_t (*getppid)();
    pid_t (*fork)();
    int (*die_with_parent)();  // prctl(PR_SET_PDEATHSIG, SIGKILL)
    void (*exit_now)();        // _exit(0)
    int (*sched_yield)();
    int (*setpriority)(int which, id_t who, int value);
    int (*sched_getaffinity)(pid_t thread, size_t bytes, cpu_set_t* cores);
    int (*sched_setaffinity)(pid_t thread, size_t bytes, const cpu_set_t* cores);
    int (*nanosleep)(const struct timespec* time, struct timespec* left);
    long (*futex)(const std::uint32_t* word, int operation, std::uint32_t value, const struct timespec* time);
    int (*memfd_create)(const char* name, unsigned flags);
    int (*spawn)(pid_t* child, const char* path, const posix_spawn_file_actions_t* files,
                 const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment);
    pid_t (*waitpid)(pid_t child, int* status, int options);
    int (*waitid)(idtype_t kind, id_t child, siginfo_t* ended, int options);
    int (*kill)(pid_t process, int signal);
    int (*getrlimit)(int resource, struct rlimit* limit);
    int (*getrusage)(int who, struct rusage* usage);
    uid_t (*geteuid)();
    int (*getpwnam_r)(const char* name, struct passwd* user, char* text, size_t size, struct passwd** found);
    int (*getpwuid_r)(uid_t id, struct passwd* user, char* text, size_t size, struct passwd** found);
    int (*getgrnam_r)(const char* name, struct group* group, char* text, size_t size, struct group** found);
    int (*getgrgid_r)(gid_t id, struct group* group, char* text, size_t size, struct group** found);
    // By libacl, whose acl_t is a pointer; without it they say ENOTSUP.
    int (*acl_extended_fd)(int fd);
    void* (*acl_get_fd)(int fd);
    int (*acl_set_fd)(int fd, void* acl);
    void* (*acl_get_file)(const char* path, unsigned type);
    int (*acl_set_file)(const char* path, unsigned type, void* acl);
};

/// The kernel itself.
Calls system_calls() noexcept;

/// The one table in use: a plain global, to be changed only while no other thread is inside the library.
Calls& calls() noexcept;

/// Puts another table in place for the life of this object: copy system_calls(), change entries, pass it
/// here.
class ScopedCalls {
public:
    explicit ScopedCalls(const Calls& replacement) noexcept : previous_(calls()) { calls() = replacement; }
    ~ScopedCalls() { calls() = previous_; }
    ScopedCalls(const ScopedCalls&) = delete;
    ScopedCalls& operator=(const ScopedCalls&) = delete;

private:
    Calls previous_;
};

}  // namespace pmemcpy::os
