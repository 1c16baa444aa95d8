#pragma once

#include <string>

namespace pmemcpy::exchange {

/// In a handler of what failed: throws it again, as no_space where the kernel has none for the file, of which NetCDF does not tell. From here
/// on what this process writes to the file, which it has open, goes into memory and is forgotten when the file is closed.
/// For libraries that can't close a file that they failed to write: HDF5 below NetCDF tries again when the program ends, and
/// crashes then.
[[noreturn]] void give_up_writing(const std::string& path);

}  // namespace pmemcpy::exchange
