#include "os/map.hpp"

#include <cerrno>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "base/checked.hpp"
#include "os/calls.hpp"
#include "os/failure.hpp"

namespace pmemcpy::os {

namespace {

// Younger than the C library headers of Debian 12.
constexpr int advice_populate_read = 22;
constexpr int advice_populate_write = 23;
constexpr int advice_collapse = 25;

std::uint64_t page_bytes() {
    static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

/// Address space that nothing else uses, a whole number of huge pages at a multiple of a huge page.
std::byte* reserve(std::uint64_t bytes, const std::string& path) {
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    const std::uint64_t with_slack = bytes + huge_page_bytes;
    void* reserved = calls().mmap(nullptr, with_slack, PROT_NONE, flags, -1, 0);
    if (reserved == MAP_FAILED && errno == ENOMEM) {
        throw Error(
            Code::no_space,
            "this process may not have the " + std::to_string(bytes) + " bytes of address space that '" +
                path +
                "' may grow to; raise its limit (ulimit -v), or create the pool with a smaller maximum");
    }
    if (reserved == MAP_FAILED) throw_failure("reserve address space for", path, errno);
    const auto start = reinterpret_cast<std::uintptr_t>(reserved);
    const std::uintptr_t aligned = base::align_up(start, huge_page_bytes);
    auto* begin = static_cast<std::byte*>(reserved) + (aligned - start);
    if (aligned > start) calls().munmap(reserved, aligned - start);
    const std::uint64_t behind = start + with_slack - (aligned + bytes);
    if (behind > 0) calls().munmap(begin + bytes, behind);
    return begin;
}

bool advise(std::byte* begin, std::uint64_t length, int advice) {
    while (calls().madvise(begin, length, advice) != 0) {
        if (errno != EINTR) return false;
    }
    return true;
}

bool fault_in(std::byte* begin, std::uint64_t length, int advice) {
    const std::uint64_t before = reinterpret_cast<std::uintptr_t>(begin) % page_bytes();
    return advise(begin - before, length + before, advice);
}

}  // namespace

bool populate(std::byte* begin, std::uint64_t length) {
    return fault_in(begin, length, advice_populate_write);
}

Mapping::Mapping(const File& file, std::uint64_t size, MapRequest request)
    : size_(size),
      path_(file.path()),
      writable_(request.access == Access::read_write),
      is_inherited_(request.is_inherited),
      fork_generation_(fork_generation()) {
    if (size == 0) throw Error(Code::invalid_argument, "cannot map no bytes of '" + path_ + "'");
    const std::uint64_t reserved_bytes = base::align_up(size, huge_page_bytes);
    std::byte* reserved = reserve(reserved_bytes, path_);
    const int protection = writable_ ? PROT_READ | PROT_WRITE : PROT_READ;
    int flags = MAP_FIXED | (request.map_sync ? MAP_SHARED_VALIDATE | MAP_SYNC : MAP_SHARED);
    // The file's own allocation has what may be touched; the rest of the range must not be set aside too.
    if (file.fs_kind() == FileSystem::hugetlbfs) flags |= MAP_NORESERVE;
    void* mapped =
        calls().mmap(reserved, size, protection, flags, file.fd(), static_cast<off_t>(request.offset));
    if (mapped == MAP_FAILED) {
        const int error = errno;
        calls().munmap(reserved, reserved_bytes);
        throw_failure(request.map_sync ? "map with MAP_SYNC" : "map", path_, error);
    }
    base_ = static_cast<std::byte*>(mapped);
    // What a child would inherit has no locks behind it.
    if (!is_inherited_ && !advise(base_, reserved_bytes, MADV_DONTFORK)) {
        const int error = errno;
        unmap();
        throw_failure("keep forked children out of the mapping of", path_, error);
    }
}

Mapping::Mapping(Mapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      path_(std::move(other.path_)),
      writable_(other.writable_),
      is_inherited_(other.is_inherited_),
      fork_generation_(other.fork_generation_) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    if (this != &other) {
        unmap();
        base_ = std::exchange(other.base_, nullptr);
        size_ = std::exchange(other.size_, 0);
        path_ = std::move(other.path_);
        writable_ = other.writable_;
        is_inherited_ = other.is_inherited_;
        fork_generation_ = other.fork_generation_;
    }
    return *this;
}

void Mapping::unmap() noexcept {
    if (base_ == nullptr) return;
    // Of one that is not inherited the kernel left a hole here in a forked child, which the child has filled with something of its own since.
    if (is_inherited_ || is_of_this_process()) calls().munmap(base_, base::align_up(size_, huge_page_bytes));
    base_ = nullptr;
    size_ = 0;
}

bool Mapping::populate(std::uint64_t offset, std::uint64_t length) {
    return fault_in(base_ + offset, length, writable_ ? advice_populate_write : advice_populate_read);
}

bool Mapping::collapse(std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t begin = base::align_up(offset, huge_page_bytes);
    const std::uint64_t end = base::align_down(offset + length, huge_page_bytes);
    if (begin >= end) return true;
    if (advise(base_ + begin, end - begin, advice_collapse)) return true;
    // One page that cannot be collapsed (an empty one, a busy one) ends the call for all behind it.
    bool all = true;
    for (std::uint64_t at = begin; at < end; at += huge_page_bytes) {
        if (advise(base_ + at, huge_page_bytes, advice_collapse)) continue;
        const bool busy = errno == EAGAIN;
        if (!busy || !advise(base_ + at, huge_page_bytes, advice_collapse)) all = false;
    }
    return all;
}

void Mapping::sync(std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t begin = base::align_down(offset, page_bytes());
    while (calls().msync(base_ + begin, offset + length - begin, MS_SYNC) != 0) {
        if (errno != EINTR) throw_failure("make durable (msync)", path_, errno);
    }
}

}  // namespace pmemcpy::os
