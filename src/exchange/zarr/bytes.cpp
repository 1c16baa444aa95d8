#include "exchange/zarr/bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <pmemcpy/error.hpp>

#include "exchange/kernel_error.hpp"

namespace pmemcpy::exchange {

// Not waited for: a pipe has no bytes to offer, and is found to be none of ours.
ZarrFile::ZarrFile(std::string path)
    : path_(std::move(path)), fd_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) fail_kernel("cannot read it", errno);
    struct stat status {};
    if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
        ::close(fd_);
        throw Error(Code::corrupt, "it is no file");
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
}

ZarrFile::~ZarrFile() { ::close(fd_); }

void ZarrFile::read(std::uint64_t offset, std::span<std::byte> to) const {
    while (!to.empty()) {
        const ssize_t got = ::pread(fd_, to.data(), to.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail_kernel("cannot read it", errno);
        if (got == 0) throw Error(Code::corrupt, "it has become shorter while it was read");
        to = to.subspan(static_cast<std::size_t>(got));
        offset += static_cast<std::uint64_t>(got);
    }
}

void ZarrMemory::read(std::uint64_t offset, std::span<std::byte> to) const {
    const auto part = bytes_.subspan(offset, to.size());
    std::copy(part.begin(), part.end(), to.begin());
}

}  // namespace pmemcpy::exchange
