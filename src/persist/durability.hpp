#pragma once

#include <string>

#include <pmemcpy/durability.hpp>

#include "os/file.hpp"

namespace pmemcpy::persist {

/// What a file's medium promises, and what that asks of whoever writes to it.
struct Probe {
    Durability durability = Durability::none;
    bool map_sync = false;    ///< map with MAP_SYNC
    bool is_devdax = false;   ///< a device: fixed size, no fallocate, never msync nor fdatasync
    bool needs_sync = false;  ///< durable only after msync or fdatasync (page media)
    bool has_write = true;    ///< false on hugetlbfs and devices, which refuse write()
    bool is_lowered = false;  ///< PMEMCPY_DURABILITY lowered what is reported
    std::string reason = {};  ///< one sentence for people: how this was found
};

/// Finds out by asking the kernel, in this order: a devdax device by its region, MAP_SYNC by mapping with it,
/// memory file systems by their kind, and the page cache for everything else.
/// PMEMCPY_DURABILITY=none|page|line|byte may only lower the result.
/// Errors: `unsupported` for MapSync::on where the kernel refuses it; `invalid_argument` for another word in
/// the variable.
Probe probe(const os::File& file, MapSync map_sync = MapSync::automatic);

}  // namespace pmemcpy::persist
