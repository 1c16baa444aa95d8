#include "os/lock.hpp"

#include <cerrno>

#include "os/calls.hpp"
#include "os/failure.hpp"

namespace pmemcpy::os {

namespace {

struct flock request(short type, std::uint64_t offset, std::uint64_t length) {
    struct flock lock {};  // l_pid must be 0 for the locks of descriptions
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(offset);
    lock.l_len = static_cast<off_t>(length);
    return lock;
}

short type_of(LockKind kind) { return kind == LockKind::shared ? F_RDLCK : F_WRLCK; }

}  // namespace

bool try_lock(File& file, LockKind kind, std::uint64_t offset, std::uint64_t length) {
    struct flock lock = request(type_of(kind), offset, length);
    while (calls().fcntl_lock(file.fd(), F_OFD_SETLK, &lock) != 0) {
        if (errno == EAGAIN || errno == EACCES) return false;
        if (errno != EINTR) throw_failure("lock", file.path(), errno);
    }
    return true;
}

void lock(File& file, LockKind kind, std::uint64_t offset, std::uint64_t length) {
    struct flock lock = request(type_of(kind), offset, length);
    while (calls().fcntl_lock(file.fd(), F_OFD_SETLKW, &lock) != 0) {
        if (errno != EINTR) throw_failure("lock", file.path(), errno);
    }
}

void unlock(File& file, std::uint64_t offset, std::uint64_t length) {
    struct flock lock = request(F_UNLCK, offset, length);
    while (calls().fcntl_lock(file.fd(), F_OFD_SETLK, &lock) != 0) {
        if (errno != EINTR) throw_failure("unlock", file.path(), errno);
    }
}

void let_go(File& file, std::uint64_t offset, std::uint64_t length) noexcept {
    struct flock lock = request(F_UNLCK, offset, length);
    while (calls().fcntl_lock(file.fd(), F_OFD_SETLK, &lock) != 0) {
        if (errno != EINTR) return;
    }
}

bool conflicts(const File& file, LockKind kind, std::uint64_t offset, std::uint64_t length) {
    struct flock lock = request(type_of(kind), offset, length);
    while (calls().fcntl_lock(file.fd(), F_OFD_GETLK, &lock) != 0) {
        if (errno != EINTR) throw_failure("ask for locks on", file.path(), errno);
    }
    return lock.l_type != F_UNLCK;
}

}  // namespace pmemcpy::os
