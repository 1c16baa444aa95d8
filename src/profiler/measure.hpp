#pragma once

#include <cstdint>
#include <functional>

#include <pmemcpy/profile.hpp>

namespace pmemcpy::profiler {

/// What a place did.
struct Figures {
    Speed write, read;
    bool is_direct = false;
    Durability durability = Durability::none;
};

/// Called while one waits.
using Pulse = std::function<void()>;

/// By so many processes at once, in at most `limit_ns` and `bytes` of the place. Bandwidth is that of all together, latency the median of
/// all accesses.
/// Errors: no_space when there is too little room; those of the place; io_error when it does not answer in time.
Figures measure(const Place& place, unsigned processes, std::uint64_t bytes, std::uint64_t limit_ns,
                const Pulse& pulse);

}  // namespace pmemcpy::profiler
