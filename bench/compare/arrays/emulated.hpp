#pragma once

#include "library.hpp"

namespace compare::arrays {

/// A library on persistent memory as section 4 of the pMEMCPY paper assumes it (300 ns and 30 GB/s to read, 125 ns and 8
/// GB/s to write, shared by the ranks): each call is followed by the time that its bytes would have taken longer there than
/// in this machine's memory, which reads and writes `memory_gbs`.
std::unique_ptr<Library> on_emulated_pmem(std::unique_ptr<Library> library, double memory_gbs, int ranks);

}  // namespace compare::arrays
