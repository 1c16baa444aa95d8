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

}  // namespace pmemcpy::pool
