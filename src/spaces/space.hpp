#pragma once

#include "os/directory.hpp"
#include "os/file.hpp"

#include <pmemcpy/namespaces.hpp>

#include <string>
#include <vector>

namespace pmemcpy::spaces {

// The file that makes a directory a namespace, and says what is known of it: marker.hpp.
inline constexpr const char* marker_name = ".namespace";
// What is not a namespace yet, or no more: no name of one begins with a dot.
inline constexpr const char* making_prefix = ".making-";
inline constexpr const char* dropped_prefix = ".dropped-";
// A namespace that is being dropped, and is one again unless all goes well; its name follows, and more behind a `-`.
inline const std::string emptying_prefix = ".emptying-";

/// The directory that all namespaces lie in. Errors: invalid_argument without one, not_found.
os::File open_root(const std::string& given);

/// A name of its own in the root, for what is not a namespace.
std::string passing_name(const char* prefix);

/// What there is under a name, though not what is in it. Errors: not_found; invalid_argument where it is no directory.
os::Named look_at_space(const os::File& root, const std::string& name);

/// The directory itself, and nothing that a symbolic link leads to.
/// Errors: not_found, also where the directory is no namespace; permission_denied, with the name of whom to ask.
os::File open_space(const os::File& root, const std::string& name);

/// Errors: permission_denied unless it belongs to this user. The superuser is anybody.
void check_owner(const os::File& space, const std::string& name, const char* verb);

/// The pools in it, sorted by name.
std::vector<NamespacePool> pools_in(const os::File& space);

/// The files of pools in it, those of private objects included, also of such whose pool is gone.
std::vector<std::string> content_of(const os::File& space);

}  // namespace pmemcpy::spaces
