#pragma once

#include <cstdint>
#include <functional>
#include <pmemcpy/codec.hpp>
#include <string>
#include <string_view>
#include <vector>

// Import of HDF5, NetCDF, NumPy and Zarr files into pools, and export to them. A library of its own,
// pmemcpy::exchange, because it needs the libraries of these formats.

namespace pmemcpy {

/// The format of a file.
enum class Format {
    automatic,  ///< the format of the file's content; of a new file, that of its extension
    hdf5,       ///< .h5 .hdf5 .he5
    netcdf,     ///< .nc .cdf .nc4: NetCDF-4, or the kind that the data was imported from
    netcdf3,    ///< the same in the classic format with 64-bit data (CDF-5)
    zarr,       ///< .zarr: a directory; writes Zarr 3, reads Zarr 2 as well
    npy,        ///< .npy: one array of NumPy
    npz,        ///< .npz: an archive of .npy files, by name
};

/// What came over in an import or export, and what changed or was left out.
struct ExchangeReport {
    std::uint64_t groups = 0;
    std::uint64_t variables = 0;
    std::uint64_t attributes = 0;
    std::uint64_t bytes = 0;  ///< bytes of elements and values
    /// Private variables and groups (scope.hpp) in an exported file. Where there are any, only its owner may open it.
    std::uint64_t private_objects = 0;
    std::vector<std::string>
        warnings{};  ///< each names the object, and what of it the other side cannot hold
};

/// Called now and then with the bytes done and the bytes in all.
using ExchangeProgress = std::function<void(std::uint64_t, std::uint64_t)>;

/// Options of an import.
struct ImportOptions {
    Format format = Format::automatic;
    std::string into{};   ///< the group that receives everything; empty: the pool itself
    Codec codec{};        ///< of the arrays in the pool; without one they can be viewed
    bool strict = false;  ///< what would be a warning is an error: unsupported
    std::uint64_t piece_bytes =
        16ULL << 20;              ///< memory for one piece of an array on its way; a few of these are in use
    std::uint64_t max_bytes = 0;  ///< limit of a pool that the import makes, as Options::max_bytes
    ExchangeProgress progress{};
};

/// Options of an export.
struct ExportOptions {
    Format format = Format::automatic;
    std::string from{};        ///< the group or variable to export; empty: the whole pool
    bool overwrite = false;    ///< replaces an existing file, once the new one is whole
    bool strict = false;       ///< what would be a warning is an error: unsupported
    bool only_shared = false;  ///< leaves private objects out, and the attributes of private groups
    std::uint64_t piece_bytes = 16ULL << 20;
    ExchangeProgress progress{};
};

/// Imports a file into the pool at `pool_path`, which it makes if there is none. It works array by array and
/// piece by piece, so memory does not limit the size of an import.
/// Crash: one step: everything is there or nothing. A pool that was made for the import and cannot be filled
///     is removed.
/// Sharing: no other process may use steps in the pool meanwhile: the import would commit its step as well.
///     `busy` if one does when the import begins. An object that another process makes under a name of the
///     file meanwhile stays, and the import fails (already_exists).
/// Errors: not_found, permission_denied; corrupt (names the object in the file); already_exists when the pool
///     has a variable or an attribute of that name; unsupported for a format that this build lacks; no_space.
ExchangeReport import_file(const std::string& pool_path, const std::string& file,
                           const ImportOptions& options = {});

/// Exports a pool, a group or one variable to a new file. A file with something private in it has the mode 0600, a
/// directory 0700.
/// Crash: the file appears when it is whole. Until then it lies in a directory named `file`, `.part` and six
///     letters; the next export beside it removes what a killed one left. A Zarr directory is replaced in one
///     moment.
/// Sharing: stores by others meanwhile may be in the file or not, array by array. An object that becomes private meanwhile
///     counts as private in the file; with `only_shared` it is not_found.
/// Errors: not_found, permission_denied, already_exists (the file, without `overwrite`); invalid_argument for
///     a name that tells no format, and for .npy unless it is one variable; unsupported for content that the
///     format cannot hold at all; no_space, io_error.
ExchangeReport export_file(const std::string& pool_path, const std::string& file,
                           const ExportOptions& options = {});

/// The format of a name as the command line takes it: "hdf5", "netcdf" and so on. Errors: invalid_argument,
/// with a list of the formats.
Format parse_format(std::string_view text);

}  // namespace pmemcpy
