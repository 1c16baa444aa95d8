#pragma once

#include <pmemcpy/tiers.hpp>

#include <cstddef>

namespace pmemcpy::tier {

/// The write calls of copies are so large at least: what is read for one stays in a cache until it is written.
inline constexpr std::size_t least_write_bytes = std::size_t{256} << 10;
inline constexpr std::size_t most_write_bytes = std::size_t{4} << 20;

/// Whatever a user or a profile says.
inline constexpr unsigned most_threads = 64;

/// How large the write calls are with which a target is filled, and at multiples of which offsets they begin: a power of two, so large
/// that what each access takes by itself (the latency) is an eighth of it at most. Of a target that is limited the figures tell
/// what it may take, and nothing of what is below.
std::size_t write_bytes(const Target& target);

/// How many blocks are copied there at once: what the user says; else one that is read while others are written, and as many of these
/// as it takes to have what the profiler's processes had together, if each has what one had alone.
unsigned writers(const Flush& flush, const Target& target);

}  // namespace pmemcpy::tier
