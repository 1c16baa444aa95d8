#pragma once

#include <pmemcpy/tiers.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pmemcpy::hermes {

/// What Figures 8 to 11 compare. The devices below the pool are directories in memory that are as slow as `limited` targets make them, in the
/// ratio of Figure 7: RAM 118 (write) and 105 (read), NVMe 45 and 44, burst buffer 3.8, parallel file system 1.
struct Devices {
    std::string folder;               // in memory, in which the directories are
    double pfs_bytes_per_second = 0;  // the unit of the ratio
    std::uint64_t ram_bytes = 0;      // of the pool
    std::uint64_t nvme_bytes = 0;
};

/// "top": all fits into memory and nothing is flushed. "flushing": the same, and all is flushed meanwhile. "none": no buffering. "elevator": one burst buffer, flushed while the application computes
/// (as Data Elevator). "datawarp": one burst buffer, flushed at the end. "max-bandwidth", "max-locality", "hot-data": all layers, by that policy.
/// "reorganizing": MaxLocality as the paper's equation has it, where a store that finds no room waits until there is; nobody makes room before.
std::vector<std::string> scheme_names();
/// `is_persistent`: all has to be in the parallel file system in the end; else the buffers are scratch space.
/// Errors: invalid_argument for a name that is none.
Hierarchy hierarchy_for(const std::string& scheme, const Devices& devices, bool is_persistent);

}  // namespace pmemcpy::hermes
