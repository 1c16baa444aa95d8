#include "exchange/zarr/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "exchange/kernel_error.hpp"

namespace pmemcpy::exchange {

void make_zarr_folder(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) fail_kernel("cannot make " + path, error.value());
}

ZarrOutput::ZarrOutput(std::string path) : path_(std::move(path)) {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    fd_ = ::open(path_.c_str(), flags, 0666);
    if (fd_ < 0 && errno == ENOENT) {
        make_zarr_folder(std::filesystem::path(path_).parent_path());
        fd_ = ::open(path_.c_str(), flags, 0666);
    }
    if (fd_ < 0) fail_kernel("cannot write " + path_, errno);
}

ZarrOutput::~ZarrOutput() { ::close(fd_); }

void ZarrOutput::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t put = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) fail_kernel("cannot write " + path_, errno);
        bytes = bytes.subspan(static_cast<std::size_t>(put));
        offset += static_cast<std::uint64_t>(put);
    }
}

}  // namespace pmemcpy::exchange
