#pragma once

#include <string>
#include <vector>

#include <pmemcpy/profile.hpp>

#include "os/mounts.hpp"
#include "profiler/sight.hpp"

namespace pmemcpy::profiler {

/// These directories as places, in their order. What is too small for a mount is not for a directory that somebody names.
std::vector<Place> places_at(const std::vector<std::string>& directories);

/// Gives hindrances to all but one of the mounts that have the same room: bind mounts of one file system, and several in memory.
/// `mounts` are those of the places, one for one.
void keep_one_of_each(std::vector<Place>& places, const std::vector<os::Mount>& mounts);

}  // namespace pmemcpy::profiler
