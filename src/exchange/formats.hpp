#pragma once

#include <string>

#include "exchange/holding.hpp"
#include "exchange/intake.hpp"

namespace pmemcpy::exchange {

// One pair for each format, in files named after it. A reader fills the intake from the file at `path`; a writer makes a new file
// (or directory) at `path`, where nothing is. Both throw Error: corrupt, naming file and object, for what the format's library
// cannot read; io_error, no_space, permission_denied for what the kernel says.

void read_hdf5(const std::string& path, Intake& intake);
void write_hdf5(const std::string& path, Holding& holding);

void read_netcdf(const std::string& path, Intake& intake);
/// `classic`: in CDF-5, whatever the data came from.
void write_netcdf(const std::string& path, Holding& holding, bool classic);

/// Whether a directory is one, by what is in it.
bool is_zarr(const std::string& directory);
void read_zarr(const std::string& path, Intake& intake);
void write_zarr(const std::string& path, Holding& holding);

/// The variable is named after the file, without its extension.
void read_npy(const std::string& path, Intake& intake);
/// Errors: invalid_argument unless one variable is exported.
void write_npy(const std::string& path, Holding& holding);

/// Variables are named after the members of the archive, without .npy; what is no .npy gives a warning.
void read_npz(const std::string& path, Intake& intake);
void write_npz(const std::string& path, Holding& holding);

}  // namespace pmemcpy::exchange
