#include "poison.hpp"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pmemcpy::faults {
namespace {

constexpr std::uint64_t page_bytes = 4096;

struct Struck {
    dev_t device;
    ino_t inode;
    std::uint64_t page;
};

os::Calls real;
std::vector<Struck> struck;
int nothing = -1;  // an empty file: each byte of a mapping of it is SIGBUS

void take_away(void* address) {
    const int protection = PROT_READ | PROT_WRITE;
    if (real.mmap(address, page_bytes, protection, MAP_SHARED | MAP_FIXED, nothing, 0) == MAP_FAILED)
        throw std::runtime_error("cannot take a page away");
}

/// Calls f(page) for every page of the open file that is struck.
template <class F>
void for_each_struck(int fd, F&& f) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return;
    for (const Struck& one : struck) {
        if (one.device == status.st_dev && one.inode == status.st_ino) f(one.page);
    }
}

}  // namespace

Poison::Poison() : previous_(os::calls()) {
    real = previous_;
    struck.clear();
    if (nothing < 0) nothing = ::memfd_create("nothing", MFD_CLOEXEC);
    os::Calls calls = previous_;
    calls.mmap = [](void* address, size_t length, int protection, int flags, int fd, off_t offset) -> void* {
        void* mapped = real.mmap(address, length, protection, flags, fd, offset);
        if (mapped == MAP_FAILED || fd < 0) return mapped;
        const auto begin = static_cast<std::uint64_t>(offset);
        for_each_struck(fd, [&](std::uint64_t page) {
            const std::uint64_t at = page * page_bytes;
            if (at >= begin && at < begin + length) take_away(static_cast<char*>(mapped) + (at - begin));
        });
        return mapped;
    };
    calls.pread = [](int fd, void* bytes, size_t size, off_t offset) -> ssize_t {
        const auto begin = static_cast<std::uint64_t>(offset);
        bool is_hit = false;
        for_each_struck(fd, [&](std::uint64_t page) {
            is_hit = is_hit || (page * page_bytes < begin + size && begin < (page + 1) * page_bytes);
        });
        if (!is_hit) return real.pread(fd, bytes, size, offset);
        errno = EIO;
        return -1;
    };
    os::calls() = calls;
}

Poison::~Poison() {
    os::calls() = previous_;
    struck.clear();
}

void Poison::strike(const std::string& path, std::uint64_t page) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) throw std::runtime_error("no file " + path);
    struck.push_back({status.st_dev, status.st_ino, page});
    if (void* there = mapped_at(path, page * page_bytes)) take_away(there);
}

bool poison_for_real(void* address) {
#ifdef MADV_HWPOISON
    return ::madvise(address, page_bytes, MADV_HWPOISON) == 0;
#else
    return address == nullptr;
#endif
}

void* mapped_at(const std::string& path, std::uint64_t offset) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long begin = 0;
        unsigned long end = 0;
        unsigned long first = 0;
        if (!line.ends_with(" " + path) ||
            std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &begin, &end, &first) != 3)
            continue;
        if (offset >= first && offset < first + (end - begin))
            return reinterpret_cast<void*>(begin + (offset - first));
    }
    return nullptr;
}

}  // namespace pmemcpy::faults
