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
    std::vector<Damage> damages;         ///< of the new pool, as verify() finds them
};

/// Makes a new pool at `to` of what is whole in the one at `from`, which a device that refused a sync has made unusable,
/// or whose medium has lost a part. The old pool is only read. Recovery decides what is whole: what was stored since the last
/// successful sync() by its checksum. Crash: the new pool is there whole or not at all; the payload files of one in a directory
/// may be left, and are in nobody's way.
/// Errors: not_found, already_exists when there is something at `to`, busy while anybody has the old pool open,
/// corrupt when not even its superblock can be read, no_space.
Repair repair(const std::string& from, const std::string& to);

}  // namespace pmemcpy
