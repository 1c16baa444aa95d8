#include "profiler/budget.hpp"

#include <algorithm>
#include <cmath>

#include <pmemcpy/error.hpp>

#include "os/process.hpp"

namespace pmemcpy::profiler {

namespace {

constexpr std::uint64_t between_tellings_ns = 50'000'000;
constexpr std::uint64_t least_bytes = 1 << 20;
constexpr double longest_s = 24 * 3600;
constexpr unsigned most_processes = 256;

[[noreturn]] void refuse(const std::string& what) { throw Error(Code::invalid_argument, "profile: " + what); }

}  // namespace

void check(const ProfileOptions& options) {
    if (!(options.seconds > 0 && options.seconds <= longest_s))
        refuse("it is to take " + std::to_string(options.seconds) +
               " s; give more than none and at most a day");
    if (options.bytes < least_bytes) refuse("at least 1 MiB is needed to measure in");
    if (!(options.reserve >= 0 && options.reserve < 1))
        refuse("the reserve is a part of what is free: at least 0, and below 1");
    if (!(options.factor > 1)) refuse("a factor of 1 or less would call every figure another");
    if (options.processes > most_processes)
        refuse("at most " + std::to_string(most_processes) + " processes are measured at once");
}

Budget::Budget(double seconds, const Progress& progress)
    : seconds_(seconds), progress_(progress), begin_ns_(os::monotonic_ns()) {}

double Budget::seconds_left() const {
    const auto used = static_cast<double>(os::monotonic_ns() - begin_ns_) / 1e9;
    return std::max(seconds_ - used, 0.0);
}

std::uint64_t Budget::share_ns(std::size_t of) const {
    return static_cast<std::uint64_t>(seconds_left() / static_cast<double>(of) * 1e9);
}

Pulse Budget::pulse(const std::string& path) {
    told_ns_ = 0;  // whose turn it is, is told at once
    return [this, path] {
        const std::uint64_t now = os::monotonic_ns();
        if (!progress_ || (told_ns_ != 0 && now - told_ns_ < between_tellings_ns)) return;
        told_ns_ = now;
        progress_({path, seconds_ - seconds_left(), seconds_});
    };
}

}  // namespace pmemcpy::profiler
