#pragma once

#include <vector>

#include <pmemcpy/profile.hpp>

#include "profiler/budget.hpp"

namespace pmemcpy::profiler {

/// A place's figures by one process and by several, as a target: without name and path. In at most `limit_ns`.
/// Errors: as measure().
Target measured_target(const Place& place, const ProfileOptions& options, std::uint64_t limit_ns,
                       const Pulse& pulse);

/// The directory of a target: where the pool lies, its figures remember. Empty if nobody knows.
const std::string& directory_of(const Target& target);

}  // namespace pmemcpy::profiler
