#include "exchange/numpy/plain_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "exchange/kernel_error.hpp"

namespace pmemcpy::exchange {

PlainFile PlainFile::existing(const std::string& path) { return {path, O_RDONLY, "cannot read "}; }

PlainFile PlainFile::made(const std::string& path) {
    return {path, O_WRONLY | O_CREAT | O_EXCL, "cannot make "};
}

PlainFile::PlainFile(std::string path, int flags, const char* what)
    : path_(std::move(path)), fd_(::open(path_.c_str(), flags | O_CLOEXEC, 0666)) {
    if (fd_ < 0) fail_kernel(what + path_, errno);
}

PlainFile::~PlainFile() {
    if (fd_ >= 0) ::close(fd_);
}

std::uint64_t PlainFile::bytes() const {
    struct stat found {};
    if (::fstat(fd_, &found) != 0) fail_kernel("cannot read " + path_, errno);
    return static_cast<std::uint64_t>(found.st_size);
}

std::size_t PlainFile::read(std::span<std::byte> into) {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t got = ::read(fd_, into.data() + done, into.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail_kernel("cannot read " + path_, errno);
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

void PlainFile::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) fail_kernel("cannot write " + path_, errno);
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
}

void PlainFile::close() {
    if (::close(std::exchange(fd_, -1)) != 0) fail_kernel("cannot write " + path_, errno);
}

}  // namespace pmemcpy::exchange
