#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <new>
#include <span>
#include <sstream>
#include <string>

// For this room's tests alone: memory as a pool has it, and how much anonymous memory the process holds.

namespace pmemcpy::codec {

/// A shared mapping of a file that is gone when the test is. Its pages count as shared memory, never as
/// anonymous.
class SharedMapping {
public:
    explicit SharedMapping(std::size_t size) : size_(size) {
        const int file = memfd_create("pmemcpy-codec-test", MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) throw std::bad_alloc();
        address_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        if (address_ == MAP_FAILED) throw std::bad_alloc();
    }
    SharedMapping(const SharedMapping&) = delete;
    SharedMapping& operator=(const SharedMapping&) = delete;
    ~SharedMapping() { munmap(address_, size_); }

    std::span<std::byte> bytes() const { return {static_cast<std::byte*>(address_), size_}; }

private:
    void* address_;
    std::size_t size_;
};

/// `size` bytes that end where the address space does: to touch the byte behind them is a signal.
class GuardedBytes {
public:
    explicit GuardedBytes(std::size_t size)
        : size_(size), page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
        mapped_ = (size + page_ - 1) / page_ * page_ + page_;
        address_ = static_cast<std::byte*>(
            mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (address_ == MAP_FAILED || mprotect(address_ + mapped_ - page_, page_, PROT_NONE) != 0)
            throw std::bad_alloc();
    }
    GuardedBytes(const GuardedBytes&) = delete;
    GuardedBytes& operator=(const GuardedBytes&) = delete;
    ~GuardedBytes() { munmap(address_, mapped_); }

    std::span<std::byte> bytes() const { return {address_ + mapped_ - page_ - size_, size_}; }

private:
    std::size_t size_;
    std::size_t page_;
    std::size_t mapped_;
    std::byte* address_;
};

/// RssAnon of this process.
inline std::int64_t anonymous_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("RssAnon:")) continue;
        std::istringstream words(line.substr(8));
        std::int64_t kilobytes = 0;
        words >> kilobytes;
        return kilobytes * 1024;
    }
    ADD_FAILURE() << "/proc/self/status has no RssAnon";
    return 0;
}

/// Sanitizers keep shadow memory for every byte that is touched, and that is anonymous.
inline constexpr bool memory_is_countable =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    false;
#else
    true;
#endif

}  // namespace pmemcpy::codec
