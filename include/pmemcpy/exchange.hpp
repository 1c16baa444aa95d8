#pragma once

#include <cstdint>
#include <functional>
#include <pmemcpy/codec.hpp>
#include <string>
#include <string_view>
#include <vector>

// Other people's files into pools, and pools into files: HDF5, NetCDF, NumPy's and Zarr. In a library of its
// own, pmemcpy::exchange, because it needs those of the formats.

namespace pmemcpy {

enum class Format {
    automatic,  ///< what the file says that it is; of a new file, its extension
    hdf5,       ///< .h5 .hdf5 .he5
    netcdf,     ///< .nc .cdf .nc4: NetCDF-4, or the kind that the data were imported from
    netcdf3,    ///< the same in the classic format with 64-bit data (CDF-5)
    zarr,       ///< .zarr: a directory; Zarr 3, of which 2 is only read
    npy,        ///< .npy: one array, as NumPy has it
    npz,        ///< .npz: an archive of these, by their names
};

/// What a person should know of an import or export: what came over, and what did not come as it was.
struct ExchangeReport {
    std::uint64_t groups = 0;
    std::uint64_t variables = 0;
    std::uint64_t attributes = 0;
    std::uint64_t bytes = 0;  ///< of elements and values
    std::vector<std::string>
        warnings{};  ///< each names the object, and what of it the other side cannot hold
};

/// Called now and then with the bytes done and the bytes in all.
using ExchangeProgress = std::function<void(std::uint64_t, std::uint64_t)>;

struct ImportOptions {
    Format format = Format::automatic;
    std::string into{};   ///< the group that all goes into; empty: the pool itself
    Codec codec{};        ///< of the arrays in the pool; none: they can be viewed
    bool strict = false;  ///< what would be a warning is an error: unsupported
    std::uint64_t piece_bytes =
        16ULL << 20;              ///< memory for a piece of an array on its way; a few of these are in use
    std::uint64_t max_bytes = 0;  ///< of a pool that is made: as Options::max_bytes
    ExchangeProgress progress{};
};

struct ExportOptions {
    Format format = Format::automatic;
    std::string from{};      ///< the group or variable to export; empty: the whole pool
    bool overwrite = false;  ///< the place of a file that is there is taken, once the new one is whole
    bool strict = false;     ///< what would be a warning is an error: unsupported
    std::uint64_t piece_bytes = 16ULL << 20;
    ExchangeProgress progress{};
};

/// Imports a file into the pool at `pool_path`, which is made if it is not there. Array by array and piece by piece, so that
/// memory does not limit what can be imported.
/// Crash: in one step: all of it is there or nothing. A pool that was made for it and cannot be filled is removed.
/// Sharing: nobody else may work in steps in the pool meanwhile, for theirs would be committed with it (busy if somebody does
///     when the import begins).
/// Errors: not_found, permission_denied; corrupt (names the object in the file); already_exists when the pool has a variable or
///     an attribute of that name; unsupported for a format that this build lacks; no_space.
ExchangeReport import_file(const std::string& pool_path, const std::string& file,
                           const ImportOptions& options = {});

/// Exports a pool, a group or one variable to a new file.
/// Crash: the file appears when it is whole; until then it lies in a directory called as `file` with `.part` and six letters behind
///     it, which the next export beside it removes if this one is killed. A Zarr directory that is overwritten changes places with
///     the new one in one moment.
/// Sharing: what others store meanwhile may be in it or not, array by array.
/// Errors: not_found, permission_denied, already_exists (the file, without `overwrite`); invalid_argument for a format that
///     cannot be told from the name, and for .npy unless it is one variable; unsupported for what the format cannot hold at
///     all; no_space, io_error.
ExchangeReport export_file(const std::string& pool_path, const std::string& file,
                           const ExportOptions& options = {});

/// "hdf5", "netcdf" and so on, as it is written on a command line. Errors: invalid_argument, which lists what there is.
Format parse_format(std::string_view text);

}  // namespace pmemcpy
