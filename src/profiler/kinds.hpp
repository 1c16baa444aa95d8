#pragma once

#include <string>
#include <string_view>

#include <pmemcpy/tiers.hpp>

#include "os/mounts.hpp"

namespace pmemcpy::profiler {

/// Made by the kernel or a desktop to show something, and no place for anybody's data.
bool is_pseudo(std::string_view file_system);
/// What a target in this mount would be. Of what nobody knows whether other nodes see it, `file`.
TargetKind kind_of(const os::Mount& mount);
/// What is below it, as Place::medium says; empty where sysfs does not tell.
std::string medium_of(const os::Mount& mount);

}  // namespace pmemcpy::profiler
