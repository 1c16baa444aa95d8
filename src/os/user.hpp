#pragma once

#include <optional>
#include <string>

namespace pmemcpy::os {

// Users and groups as this machine knows them. A number in digits stands for itself if somebody has it.

std::optional<unsigned> user_named(const std::string& name);
std::optional<unsigned> group_named(const std::string& name);
/// The number in digits, if nobody has it any more.
std::string name_of_user(unsigned id);
std::string name_of_group(unsigned id);

}  // namespace pmemcpy::os
