#include "pool/beside.hpp"

#include "os/names.hpp"
#include "os/process.hpp"

#include <pmemcpy/error.hpp>

namespace pmemcpy::pool {

bool is_in_place(const os::File& pool) { return os::identity_at(pool.path()) == pool.identity(); }

void throw_out_of_place(const std::string& path) {
    throw Error(Code::busy,
                path +
                    " was replaced, moved or removed while it was open; close it and open it again under its "
                    "name now");
}

void check_in_place(const os::File& pool) {
    if (!is_in_place(pool)) throw_out_of_place(pool.path());
}

std::optional<std::string> path_now(const os::File& pool) {
    auto path = os::real_path("/proc/self/fd/" + std::to_string(pool.fd()));
    if (path && os::identity_at(*path) != pool.identity()) path.reset();
    return path;
}

std::string path_beside(const os::File& pool, const std::string& ending) {
    check_in_place(pool);
    return path_beside_name(pool, ending);
}

std::string path_beside_name(const os::File& pool, const std::string& ending) {
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
