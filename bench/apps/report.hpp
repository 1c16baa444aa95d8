#pragma once

#include <cstdint>
#include <pmemcpy/durability.hpp>
#include <string>
#include <vector>

#include "decomposition.hpp"

namespace domain3d {

/// What a job has measured.
struct Report {
    bool is_write = false;
    bool is_verified = false;
    int ranks = 0;
    Grid grid{};
    std::vector<std::string> variables;
    std::uint64_t bytes = 0;
    std::string pool;
    pmemcpy::Durability durability{};
    std::vector<double> seconds;         // of each repetition, of its slowest rank, from open to close
    std::vector<double> memcpy_seconds;  // the same for memcpy; empty when not asked for
};

/// "domain3d write: 4 ranks, 10 variables, 1.00 GiB in 0.123 s = 8.7 GB/s (0.92 of memcpy)"
std::string to_line(const Report& report);
std::string to_json(const Report& report);

}  // namespace domain3d
