#pragma once

// From who is let into a namespace to the lists of all its files.
//
// The list of the directory is the gate: who is not in it gets to no file. Its default list is the pattern: the same, with the owner by
// name, for the files of others; the kernel gives it to whatever is made in the directory. The list of a file follows from the pattern.
// So after a crash in between everything can be derived from the gate again.

#include "os/access.hpp"
#include "os/file.hpp"

#include <string>
#include <vector>

namespace pmemcpy::spaces {

/// The gate's list without anybody but its owner.
os::Acl closed_access(const os::File& space);
/// The gate's list as it is. Errors: unsupported where there are no lists.
os::Acl access_of(const os::File& space);
/// What follows from the gate.
os::Acl pattern_of(const os::File& space, const os::Acl& gate);

/// What became of the files of a namespace.
struct Covered {
    bool changed = false;
    std::vector<std::string> left;  ///< of other users, as they were
};

/// Gives every pool in the namespace, what belongs to it, and the namespace's marker the list that follows from the pattern.
Covered cover_pools(const os::File& space, const os::Acl& pattern);
/// The same for one pool: the name of its file in the directory.
void cover_pool(const os::File& space, const std::string& file, const os::Acl& pattern, Covered& covered);

}  // namespace pmemcpy::spaces
