#include "layout/throttle.hpp"

#include "os/file.hpp"
#include "os/process.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <atomic>

namespace pmemcpy::layout {

namespace {

constexpr std::uint64_t file_bytes = 4096;
constexpr double longest_queue_s = 600;  // more was left by a clock before the last start of the node

}  // namespace

Throttle::Throttle(const std::string& directory, const Limits& limits)
    : limits_(limits), busy_until_ns_(own_) {
    try {
        auto file =
            os::File::open(directory + "/pmemcpy-pace", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (!file.is_regular()) return;
        if (file.size() < file_bytes) file.resize(file_bytes);
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
