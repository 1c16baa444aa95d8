#pragma once

// Files and directories that lie beside a pool, which all who use the pool share.

#include "os/file.hpp"

#include <string>

namespace pmemcpy::pool {

/// Where such a file lies: "/data/run.pmem.rt" for ".rt".
std::string path_beside(const os::File& pool, const std::string& ending);

/// That a file or directory beside the pool is not somebody's who may not write the pool: for he could block and crash those who
/// do. Errors: permission_denied.
void refuse_foreign(const os::File& file, const os::File& pool);

/// Of a file that only has the name of one: a user may have called something of their own so, another pool above all.
[[noreturn]] void throw_something_else(const os::File& file);

/// Gives a file or directory that this process has just made the pool's group, and these bits, whatever the umask says and which
/// groups the process is in. Where it may not give that group, the group that the file has is let in as all others are. A list
/// of users that the directory has given it stays.
void share_like(os::File& file, const os::File& pool, unsigned bits);

/// What the group's bits of a file are where its group is not the pool's.
constexpr unsigned bits_without_group(unsigned bits) { return (bits & ~070U) | (bits & 07U) << 3; }

/// Makes the group of a file the pool's. False where this process may not.
bool give_group_of(os::File& file, const os::File& pool);

/// So the kernel shows users and groups that this process's user namespace does not know.
inline constexpr unsigned unknown_id = 65534;

}  // namespace pmemcpy::pool
