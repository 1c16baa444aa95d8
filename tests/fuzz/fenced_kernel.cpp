#include "fenced_kernel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <string_view>

#include <linux/falloc.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/checked.hpp"
#include "pool/geometry.hpp"

namespace pmemcpy::fuzz {
namespace {

constexpr std::size_t place_bytes = std::size_t{1} << 32;  // a mapping lies in the middle of its place
constexpr std::size_t places = 64;
constexpr std::size_t largest_mapping = place_bytes / 4;

os::Calls real;
bool page_cache = false;
std::uint64_t now_ns = 0;
std::byte* arena = nullptr;

struct Place {
    bool taken = false;
    std::byte* begin = nullptr;  // of the mapping itself
    std::size_t bytes = 0;
    int protection = PROT_NONE;
    dev_t device = 0;
    ino_t inode = 0;
};
std::array<Place, places> all;

std::byte* middle_of(std::size_t i) { return arena + i * place_bytes + place_bytes / 2; }

Place* place_of(const void* address) {
    const auto* at = static_cast<const std::byte*>(address);
    if (at < arena || at >= arena + places * place_bytes) return nullptr;
    return &all[static_cast<std::size_t>(at - arena) / place_bytes];
}

/// Where the space that the file system has promised ends, as far as the file tells; its length if it is no pool.
std::uint64_t end_of_promise(int fd, std::uint64_t length) {
    pool::PoolState state{};
    if (real.pread(fd, &state, sizeof state, pool::state_offset) != sizeof state) return length;
    for (const std::uint64_t offset : {pool::superblock_offset, pool::spare_offset}) {
        pool::Superblock super{};
        if (real.pread(fd, &super, sizeof super, static_cast<off_t>(offset)) != sizeof super) return length;
        if (super.magic != pool::pool_magic || !pool::is_consistent(super)) continue;
        const bool is_damaged = state.clean.value != 0 && state.clean.value != pool::clean_mark(state) &&
                                state.clean.value != pool::kept_mark(state);
        if (is_damaged || state.usable_chunks.value > super.chunk_count)
            return length;  // the file itself tells
        return super.first_chunk_offset + state.usable_chunks.value * super.chunk_bytes;
    }
    return length;
}

void* map(void* address, std::size_t length, int protection, int flags, int fd, off_t offset) {
    if (address == nullptr && protection == PROT_NONE && length <= largest_mapping) {
        for (std::size_t i = 0; i < places; ++i) {
            if (all[i].taken) continue;
            all[i] = {.taken = true};
            return middle_of(i);
        }
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void* mapped = real.mmap(address, length, protection, flags, fd, offset);
    Place* place = mapped == MAP_FAILED ? nullptr : place_of(mapped);
    if (place == nullptr || fd < 0) return mapped;
    struct stat status {};
    real.fstat(fd, &status);
    place->begin = static_cast<std::byte*>(mapped);
    place->bytes = length;
    place->protection = protection;
    place->device = status.st_dev;
    place->inode = status.st_ino;
    const std::uint64_t end = length > pool::chunk_table_offset ? end_of_promise(fd, length) : length;
    const std::uint64_t page = base::align_up(end, pool::page_bytes);
    if (page < length) ::mprotect(place->begin + page, length - page, PROT_NONE);
    return mapped;
}

int unmap(void* address, std::size_t length) {
    Place* place = place_of(address);
    if (place == nullptr) return real.munmap(address, length);
    constexpr int nobodys = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (::mmap(address, length, PROT_NONE, nobodys, -1, 0) == MAP_FAILED) return -1;
    // Else it is what is cut off behind a reservation that was made larger so that it could be aligned.
    if (address == middle_of(static_cast<std::size_t>(place - all.data()))) *place = {};
    return 0;
}

int allocate(int fd, int mode, off_t offset, off_t length) {
    const int result = real.fallocate(fd, mode, offset, length);
    // What is punched out reads as zeros, and a pool that lies about its chunks is read there.
    if (result != 0 || (mode & FALLOC_FL_PUNCH_HOLE) != 0) return result;
    struct stat status {};
    real.fstat(fd, &status);
    for (const Place& place : all) {
        if (place.begin == nullptr || place.inode != status.st_ino || place.device != status.st_dev) continue;
        const auto first = static_cast<std::uint64_t>(offset);
        const std::uint64_t end =
            std::min<std::uint64_t>(first + static_cast<std::uint64_t>(length), place.bytes);
        if (first < end) ::mprotect(place.begin + first, end - first, place.protection);
    }
    return 0;
}

}  // namespace

FencedKernel::FencedKernel() : previous_(os::calls()) {
    real = os::system_calls();
    if (arena == nullptr) {
        constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        void* reserved = ::mmap(nullptr, (places + 1) * place_bytes, PROT_NONE, flags, -1, 0);
        if (reserved == MAP_FAILED) throw std::runtime_error("no address space for the fuzzer's mappings");
        const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(reserved);
        arena = static_cast<std::byte*>(reserved) + (base::align_up(start, place_bytes) - start);
    }
    os::Calls calls = real;
    calls.mmap = map;
    calls.munmap = unmap;
    calls.fallocate = allocate;
    calls.open = [](const char* path, int flags, mode_t mode) {
        // Which memory cgroup this is would be read at each growth, from many files, and differs between machines.
        if (std::string_view(path).starts_with("/proc/self/mountinfo")) {
            errno = ENOENT;
            return -1;
        }
        return real.open(path, flags, mode);
    };
    calls.clock_gettime = [](clockid_t, struct timespec* time) {
        now_ns += 10'000'000;
        time->tv_sec = static_cast<time_t>(now_ns / 1'000'000'000);
        time->tv_nsec = static_cast<long>(now_ns % 1'000'000'000);
        return 0;
    };
    calls.sched_yield = [] { return 0; };  // nobody else is there
    calls.nanosleep = [](const struct timespec*, struct timespec*) { return 0; };
    calls.getpid = [] { return pid_t{4711}; };
    calls.fstatfs = [](int fd, struct statfs* status) {
        const int result = real.fstatfs(fd, status);
        if (result == 0 && page_cache) status->f_type = EXT4_SUPER_MAGIC;
        return result;
    };
    calls.syncfs = [](int) { return 0; };  // would wait for all that this machine has to write
    os::calls() = calls;
    now_ns = 0;
}

FencedKernel::~FencedKernel() {
    page_cache = false;
    os::calls() = previous_;
}

void FencedKernel::behind_page_cache(bool yes) { page_cache = yes; }

std::size_t FencedKernel::mapped() {
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const Place& p) { return p.taken; }));
}

}  // namespace pmemcpy::fuzz
