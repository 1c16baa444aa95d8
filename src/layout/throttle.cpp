#include "layout/throttle.hpp"

#include "os/file.hpp"
#include "os/process.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

namespace pmemcpy::layout {

namespace {

constexpr std::uint64_t file_bytes = 4096;
constexpr double longest_queue_s = 600;  // more was left by a clock before the last start of the node

// For whoever may write the directory. Opened before it is made, as the kernel may forbid to make what another user has made in a directory that
// all may write.
os::File open_pace(const std::string& path, const os::File& directory) {
    if (auto there = os::File::open_if_exists(path, O_RDWR | O_NOFOLLOW)) return std::move(*there);
    try {
        os::File made = os::File::open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        made.set_mode_bits((directory.mode_bits() & 0666) | 0600);
        return made;
    } catch (const Error& error) {
        if (error.kind() != Code::already_exists) throw;
        return os::File::open(path, O_RDWR | O_NOFOLLOW);
    }
}

// A page without space is a signal where it is touched on a full device. Where the file system promises nothing, what was written has it.
void allocate(os::File& file) {
    try {
        file.allocate(0, file_bytes);
    } catch (const Error& error) {
        if (error.kind() != Code::unsupported) throw;
        const std::array<std::byte, file_bytes>
            zeros{};  // at worst, those who write wait for each other a little less
        if (file.allocated_bytes() < file_bytes) file.write_exactly(zeros.data(), zeros.size(), 0);
    }
}

}  // namespace

Throttle::Throttle(const std::string& directory, const Limits& limits)
    : limits_(limits), busy_until_ns_(own_) {
    try {
        const os::File inside = os::File::open(directory, O_RDONLY | O_DIRECTORY);
        os::File file = open_pace(directory + "/pmemcpy-pace", inside);
        if (!file.is_regular()) return;
        allocate(file);
        shared_ =
            std::make_unique<os::Mapping>(file, file_bytes, os::MapRequest{.access = os::Access::read_write});
        busy_until_ns_ = reinterpret_cast<std::uint64_t*>(shared_->base());
    } catch (const Error&) {
        // Somebody else's, or read-only.
    }
}

void Throttle::take(Way way, std::uint64_t bytes) {
    const bool writes = way == Way::write;
    const double bytes_per_second = writes ? limits_.write_bytes_per_second : limits_.read_bytes_per_second;
    const double latency_s = writes ? limits_.write_latency_s : limits_.read_latency_s;
    const auto takes_ns = static_cast<std::uint64_t>(static_cast<double>(bytes) / bytes_per_second * 1e9);
    const std::atomic_ref<std::uint64_t> busy(busy_until_ns_[writes ? 0 : 1]);
    const std::uint64_t now = os::monotonic_ns();
    std::uint64_t before = busy.load();
    std::uint64_t until = 0;
    do {
        const bool is_odd = before > now + static_cast<std::uint64_t>(longest_queue_s * 1e9);
        until = std::max(is_odd ? now : before, now) + takes_ns;
    } while (!busy.compare_exchange_weak(before, until));
    until += static_cast<std::uint64_t>(latency_s * 1e9);
    if (until > now) os::sleep_ns(until - now);
}

}  // namespace pmemcpy::layout
