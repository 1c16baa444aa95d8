#include "pool/beside.hpp"

#include "os/names.hpp"
#include "os/process.hpp"

#include <pmemcpy/error.hpp>

namespace pmemcpy::pool {

std::string path_beside(const os::File& pool, const std::string& ending) {
    if (pool.fs_kind() != os::FileSystem::devdax) return pool.path() + ending;
    // No file can lie beside a character device.
    os::make_directory("/run/pmemcpy", 0755);
    return "/run/pmemcpy/" + pool.path().substr(pool.path().rfind('/') + 1) + ending;
}

void refuse_foreign(const os::File& file, const os::File& pool) {
    const bool only_owner_writes = (pool.mode_bits() & 0022) == 0;
    const bool is_foreign =
        file.owner() != pool.owner() && file.owner() != 0 && file.owner() != os::user_id();
    if (!only_owner_writes || !is_foreign) return;
    throw Error(Code::permission_denied, file.path() +
                                             " belongs to a user who may not write the pool, so it does not "
                                             "belong to " +
                                             pool.path() + "; remove it while nobody has the pool open");
}

void throw_something_else(const os::File& file) {
    throw Error(
        Code::already_exists,
        file.path() +
            " is no file that a pool keeps beside itself, and has the name of one; rename it, or the pool");
}

}  // namespace pmemcpy::pool
