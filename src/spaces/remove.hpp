#pragma once

#include "os/file.hpp"

#include <string>
#include <vector>

namespace pmemcpy::spaces {

/// Removes a directory with all that is in it, however deep, with two directories open at a time. Follows no link.
/// Returns the paths of what could not be removed, because it is closed to this user.
std::vector<std::string> remove_tree(const os::File& root, const std::string& name);

/// Gives a namespace its name back that was about to be dropped. False while another has the name.
bool give_name_back(const os::File& root, const std::string& passing);

/// Removes what others of this user have left half done: that nobody is at any more.
void sweep(const os::File& root);

}  // namespace pmemcpy::spaces
