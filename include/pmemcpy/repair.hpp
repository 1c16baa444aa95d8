#pragma once

#include <pmemcpy/info.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pmemcpy {

/// The result of repair(): what was saved, and what was not.
struct Repair {
    std::uint64_t variables = 0;  ///< in the new pool
    /// Of the old pool: bytes that its medium did not return; they are zeros.
    std::uint64_t unreadable_bytes = 0;
    /// Data that could not be saved or was saved in another form, by variable and box as far as records still
    /// tell; without an id where even that is unknown.
    std::vector<Damage> damages;
    /// Files of private objects (scope.hpp) beside the old pool: those of all users, or in a directory that cannot be listed
    /// this user's. They are no part of the new one, which finds those of its user when it has the old one's place and name;
    /// repair() makes a new one of each as of any pool.
    std::vector<std::string> private_files;
};

/// Makes a new pool at `to` of what is whole in the one at `from`: a pool that a device made unusable by
/// refusing a sync, or whose medium has lost a part. The old pool is only read. Every variable, attribute and
/// block is saved whose records and checksums hold. The rest is left out and named, so that verify() finds
/// nothing wrong with the new pool.
///
/// Where a block of an array is damaged, the data stored there before shows again, or the fill value, or
/// nothing. A variable whose id was in a damaged record is kept as `lost+found/<number>`.
/// Crash: the new pool is there whole or not at all. Payload files of one in a directory may remain, and do
///     no harm.
/// Errors: not_found; already_exists when there is something at `to`; busy while any process has the old pool
///     open; corrupt when not even its superblock can be read; no_space.
Repair repair(const std::string& from, const std::string& to);

}  // namespace pmemcpy
