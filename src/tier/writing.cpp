#include "tier/writing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace pmemcpy::tier {

std::size_t write_bytes(const Target& target) {
    constexpr double times_the_latency = 8;
    const double wanted = times_the_latency * target.write.latency_s * target.write.bytes_per_second;
    if (target.limited || !(wanted > static_cast<double>(least_write_bytes))) return least_write_bytes;
    if (wanted >= static_cast<double>(most_write_bytes)) return most_write_bytes;
    return std::bit_ceil(static_cast<std::size_t>(wanted));
}

unsigned writers(const Flush& flush, const Target& target) {
    constexpr unsigned usual = 2;
    if (flush.threads != 0) return flush.threads;
    if (target.limited || !target.measured || !(target.write.bytes_per_second > 0)) return usual;
    const Measured& measured = *target.measured;
    const double times = measured.write.bytes_per_second / target.write.bytes_per_second;
    if (!(times > 1)) return usual;
    const double most = std::min(measured.processes, most_threads - 1);
    const double wanted = std::ceil(std::min(times, most));
    return std::max(usual, static_cast<unsigned>(wanted) + 1);
}

}  // namespace pmemcpy::tier
