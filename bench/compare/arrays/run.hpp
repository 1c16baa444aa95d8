#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "arguments.hpp"

namespace compare::arrays {

/// What one run took, the same in every rank.
struct Measured {
    std::vector<double> seconds;    // of the slowest rank, one a repetition
    std::uint64_t bytes = 0;        // that one repetition writes or reads, in all ranks
    std::uint64_t calls = 0;        // in all ranks
    std::uint64_t page_faults = 0;  // in what was timed, of all ranks and repetitions
};

/// Collective. Throws whatever the library throws.
Measured run(const Arguments& arguments, MPI_Comm comm);

}  // namespace compare::arrays
