#pragma once

#include <pmemcpy/pmemcpy.hpp>
#include <string>

namespace pmemcpy::cli {

/// Opens a pool for looking only, which needs no permission to write. A pool that was not closed cleanly has
/// to be recovered first, by who may write it: then it is opened for that, and a note on stderr says so.
/// With `checks`, whatever is loaded is checked against its checksum.
PMEM open_for_reading(const std::string& path, bool checks = false);

/// The same for who stays long: who has recovered a pool has it open for writing, and need not stay so.
PMEM open_to_follow(const std::string& path);

/// Opens a pool that must exist.
PMEM open_for_writing(const std::string& path, bool checks = false);

}  // namespace pmemcpy::cli
