#pragma once

#include <cstdint>
#include <limits>

namespace pmemcpy::os {

inline constexpr std::uint64_t unlimited_bytes = std::numeric_limits<std::uint64_t>::max();

/// What the memory cgroups around this process still admit, the tightest of them; unlimited_bytes without
/// limits. Page cache that the kernel can drop counts as free. Cost: some twenty small reads of /proc and
/// /sys.
std::uint64_t cgroup_headroom_bytes();
/// The same; but far from any limit an answer that this process had a moment ago is good enough.
std::uint64_t recent_cgroup_headroom_bytes();

}  // namespace pmemcpy::os
