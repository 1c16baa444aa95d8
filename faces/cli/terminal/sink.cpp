#include "cli/terminal/sink.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <pmemcpy/error.hpp>
#include <system_error>

#include "cli/terminal/note.hpp"
#include "cli/terminal/printable.hpp"

namespace pmemcpy::cli {

namespace {

Code code_of(int error) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            return Code::no_space;
        case EACCES:
        case EPERM:
        case EROFS:
            return Code::permission_denied;
        case ENOENT:
        case ENOTDIR:
            return Code::not_found;
        default:
            return Code::io_error;
    }
}

}  // namespace

void finish_output() {
    // An earlier write may have failed, of which nobody was told.
    const bool has_failed = std::ferror(stdout) != 0;
    errno = 0;
    if (std::fflush(stdout) != 0 || has_failed) throw output_error(errno);
}

Error output_error(int error, const std::string& path) {
    const std::string why = error == 0 ? "" : ": " + std::generic_category().message(error);
    return Error(code_of(error), "cannot write " + (path.empty() ? "the output" : path) + why);
}

Sink::Sink(const std::string& path, bool is_private) : path_(path == "-" ? "" : path), file_(stdout) {
    if (path_.empty()) return;
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    const int fd = ::open(path_.c_str(), flags, is_private ? 0600 : 0666);
    if (fd < 0) fail();
    file_ = ::fdopen(fd, "wb");
    if (file_ == nullptr) {
        ::close(fd);
        fail();
    }
    if (!is_private) return;
    if (!close_to_others()) {
        const int error = errno;
        std::fclose(file_);
        errno = error;
        fail();
    }
}

bool Sink::close_to_others() const {
    struct stat there {};
    const int fd = ::fileno(file_);
    if (::fstat(fd, &there) != 0) return false;
    if (!S_ISREG(there.st_mode)) return true;
    if (::fchmod(fd, there.st_mode & 0700) != 0) return false;
    note("{} holds a private object, so only you may open it", printable(path_));
    return true;
}

Sink::~Sink() {
    if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

void Sink::write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }

void Sink::write(std::span<const std::byte> bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
}

void Sink::finish() {
    if (std::fflush(file_) != 0) fail();
}

void Sink::fail() const { throw output_error(errno, path_); }

}  // namespace pmemcpy::cli
