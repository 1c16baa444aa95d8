#include "os/lock.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "os/calls.hpp"
#include "os/directory.hpp"
#include "os/failure.hpp"
#include "os/names.hpp"
#include "os/process.hpp"

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

namespace {

// A line such as "lock:  1: OFDLCK ADVISORY  WRITE -1 00:1b:1966137 64 64", of which the last may be EOF.
bool is_lock_on(const std::string& line, std::uint64_t inode, std::uint64_t offset) {
    std::istringstream words(line);
    std::string head, number, kind, is_advisory, access, process, file, last;
    std::uint64_t first = 0;
    if (!(words >> head >> number >> kind >> is_advisory >> access >> process >> file >> first >> last))
        return false;
    if (head != "lock:" || access != "WRITE" || file.substr(file.rfind(':') + 1) != std::to_string(inode))
        return false;
    return first <= offset && (last == "EOF" || std::strtoull(last.c_str(), nullptr, 10) >= offset);
}

std::vector<std::string> names_of(const std::string& folder) {
    const auto there = File::open_if_exists(folder, O_RDONLY | O_DIRECTORY);
    return there ? names_in(*there) : std::vector<std::string>();
}

// By any of its threads, for one that has ended has nothing.
bool has_lock(const std::string& process, std::uint64_t inode, std::uint64_t offset) {
    const std::string threads = "/proc/" + process + "/task";
    std::string folder;
    std::vector<std::string> all;
    for (const std::string& thread : names_of(threads)) {
        folder = threads;
        folder.append("/").append(thread).append("/fdinfo");
        all = names_of(folder);
        if (!all.empty()) break;
    }
    return std::any_of(all.begin(), all.end(), [&](const std::string& file) {
        std::istringstream lines(read_text(folder + "/" + file).value_or(""));
        for (std::string line; std::getline(lines, line);) {
            if (is_lock_on(line, inode, offset)) return true;
        }
        return false;
    });
}

}  // namespace

std::uint64_t stopped_holder(const File& file, std::uint64_t offset) {
    try {
        const std::uint64_t inode = file.identity().inode;
        for (const std::string& name : names_of("/proc")) {
            if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
            const std::uint64_t process = std::strtoull(name.c_str(), nullptr, 10);
            try {
                if (is_stopped(process) && has_lock(name, inode, offset)) return process;
            } catch (const Error&) {
                // Another user's, or gone.
            }
        }
    } catch (const Error&) {
        // Without /proc nobody is seen.
    }
    return 0;
}

bool conflicts(const File& file, LockKind kind, std::uint64_t offset, std::uint64_t length) {
    struct flock lock = request(type_of(kind), offset, length);
    while (calls().fcntl_lock(file.fd(), F_OFD_GETLK, &lock) != 0) {
        if (errno != EINTR) throw_failure("ask for locks on", file.path(), errno);
    }
    return lock.l_type != F_UNLCK;
}

}  // namespace pmemcpy::os
