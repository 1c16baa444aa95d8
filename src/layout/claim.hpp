#pragma once

#include "os/file.hpp"
#include "pool/pool.hpp"

#include <optional>
#include <string>

namespace pmemcpy::layout {

/// The name of the directory, in that of a target, which holds a pool's payloads: of the pool's identity, so that it is found
/// after the pool was renamed.
std::string claimed_name(const pool::Pool& pool);

/// The path of the pool whose payloads are in a directory, if that pool is there.
std::optional<std::string> claimant_of(const os::File& directory);

/// Says in that directory whose it is. A copy of a pool file has the same identity as the pool and would take the payloads for its own.
/// Errors: busy when they belong to another pool file that is still there; permission_denied.
void claim(const os::File& directory, pool::Pool& pool);

/// The pool whose payloads are in a directory, as it was called when it was last opened for writing. Empty where that cannot be read.
std::string claimant_of(const std::string& directory);
/// The same, where the directory and what it says are of the user of this process.
std::string own_claimant_of(const std::string& directory);

}  // namespace pmemcpy::layout
