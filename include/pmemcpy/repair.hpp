#pragma once

#include <pmemcpy/info.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pmemcpy {

/// What repair() has saved, and what it has not.
struct Repair {
    std::uint64_t variables = 0;         ///< in the new pool
    std::uint64_t unreadable_bytes = 0;  ///< of the old one: its medium gave none, so they are zeros
    /// What could not be saved, and what was saved in another form: by variable and box, as far as records still tell
    /// whose they were; without an id where not even that is known.
    std::vector<Damage> damages;
};

/// Makes a new pool at `to` of what is whole in the one at `from`, which a device that refused a sync has made unusable,
/// or whose medium has lost a part. The old pool is only read. Every variable, attribute and block is saved whose records
/// and checksums hold; the rest is left out and named, so that verify() finds nothing wrong with the new pool. Of an array
/// damaged blocks are left out: what was stored there before shows again, or the fill value, or nothing. Where a damaged
/// record held the id of a variable, the variable is kept as `lost+found/<number>`. Crash: the new pool is there whole or not at all; the payload files of one in a directory
/// may be left, and are in nobody's way.
/// Errors: not_found, already_exists when there is something at `to`, busy while anybody has the old pool open,
/// corrupt when not even its superblock can be read, no_space.
Repair repair(const std::string& from, const std::string& to);

}  // namespace pmemcpy
