#pragma once

#include <pmemcpy/pmemcpy.hpp>
#include <string>

namespace pmemcpy::cli {

/// Opens a pool for looking only, which needs no permission to write. A pool that was not closed cleanly has
/// to be recovered first, by who may write it: then it is opened for that, and a note on stderr says so.
PMEM open_for_reading(const std::string& path);

/// Opens a pool that must exist.
PMEM open_for_writing(const std::string& path);

}  // namespace pmemcpy::cli
