#pragma once

#include <optional>
#include <string>

namespace pmemcpy::os {

// Users and groups as this machine knows them. A number in digits stands for itself if somebody has it.

std::optional<unsigned> user_named(const std::string& name);
std::optional<unsigned> group_named(const std::string& name);
/// The number in digits, if nobody has it any more. The first answer holds for as long as the thread lives.
std::string name_of_user(unsigned id);
/// The same, asked for each time.
std::string name_of_group(unsigned id);

}  // namespace pmemcpy::os
