#pragma once

#include <string>

namespace pmemcpy::exchange {

/// From here on what this process writes to a file that it has open goes into memory and is forgotten when the file is closed.
/// For libraries that can't close a file that they failed to write: HDF5 below NetCDF tries again when the program ends, and
/// crashes then.
void divert_writes(const std::string& path) noexcept;

}  // namespace pmemcpy::exchange
