#include "exchange/netcdf/diverted.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <pmemcpy/error.hpp>

namespace pmemcpy::exchange {

namespace {

void divert_writes(const std::string& path) noexcept {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path file = fs::canonical(path, error);
    if (error) return;
    const int memory = ::memfd_create("a file that could not be written", MFD_CLOEXEC);
    if (memory < 0) return;
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd", error)) {
        std::error_code ignored;
        if (fs::read_symlink(entry.path(), ignored) != file) continue;
        ::dup3(memory, std::stoi(entry.path().filename()), O_CLOEXEC);
    }
    ::close(memory);
}

bool is_full(const std::string& path) noexcept {
    constexpr off_t bytes = 64 << 10;
    const std::string directory = std::filesystem::path(path).parent_path();
    const int probe =
        ::open(directory.empty() ? "." : directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (probe < 0) return errno == ENOSPC || errno == EDQUOT;
    const int error = ::posix_fallocate(probe, 0, bytes);
    ::close(probe);
    return error == ENOSPC || error == EDQUOT;
}

}  // namespace

void give_up_writing(const std::string& path) {
    const bool has_no_space = is_full(path);
    divert_writes(path);
    try {
        throw;
    } catch (const Error& error) {
        if (error.kind() != Code::io_error || !has_no_space) throw;
        throw Error(Code::no_space, std::string(error.what()) + "; no space is left there");
    }
}

}  // namespace pmemcpy::exchange
