#include "memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace domain3d {

namespace {

// Newer than the C library of Debian 12; a kernel that does not know it says so, and the pages stay small.
constexpr int madv_collapse = 25;

}  // namespace

Memory::Memory(std::size_t bytes, int flags, int file) : bytes_(bytes) {
    if (bytes == 0) return;
    void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    if (mapped == MAP_FAILED) {
        throw std::system_error(errno, std::generic_category(),
                                "mapping " + std::to_string(bytes) + " bytes");
    }
    data_ = static_cast<std::byte*>(mapped);
    ::madvise(mapped, bytes, MADV_HUGEPAGE);
    std::memset(mapped, 0, bytes);
    ::madvise(mapped, bytes, madv_collapse);
}

Memory Memory::of_process(std::size_t bytes) { return {bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1}; }

Memory Memory::of_file(const std::string& folder, std::size_t bytes) {
    const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    // The space is asked for first: a file with holes on a full device would end in a signal.
    int failure = file < 0 ? errno : ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
    if (failure != 0) {
        if (file >= 0) ::close(file);
        throw std::system_error(
            failure, std::generic_category(),
            "--memcpy needs " + std::to_string(bytes) + " bytes in " + folder + " for each rank");
    }
    try {
        Memory memory(bytes, MAP_SHARED, file);
        ::close(file);
        return memory;
    } catch (...) {
        ::close(file);
        throw;
    }
}

Memory::~Memory() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
}

Memory::Memory(Memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

}  // namespace domain3d
