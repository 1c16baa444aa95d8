#pragma once

#include <string>
#include <string_view>

namespace pmemcpy::exchange {

/// What a format knows of an object and a pool has no word for: the shape of chunks, filters, the order of attributes, that a
/// dimension is unlimited. An object of JSON with the format's name ("hdf5", "netcdf", "zarr") as `from`; only the same format
/// looks at the rest. Nobody needs it: a writer without it chooses for itself.
inline constexpr std::string_view origin_attribute = "_exchange";
/// JSON, a list of text: as xarray wrote it into Zarr 2.
inline constexpr std::string_view dimensions_attribute = "_ARRAY_DIMENSIONS";

/// A path of a file for a message.
inline std::string shown(std::string_view path) { return path.empty() ? "/" : std::string(path); }

}  // namespace pmemcpy::exchange
