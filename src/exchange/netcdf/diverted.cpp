#include "exchange/netcdf/diverted.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

namespace pmemcpy::exchange {

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

}  // namespace pmemcpy::exchange
