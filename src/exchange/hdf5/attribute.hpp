#pragma once

#include <string>

#include "exchange/hdf5/handle.hpp"
#include "exchange/holding.hpp"
#include "exchange/intake.hpp"

namespace pmemcpy::exchange {

/// Takes over the attributes of the object at `path`, but for those that dimension scales are made of.
void read_hdf5_attributes(const std::string& file, const std::string& path, hid_t object, Intake& intake);

/// Gives the object an attribute with what `datum` holds. Returns whether that is as it was: a structure of JSON becomes text.
/// Errors: unsupported for what HDF5 has no type for.
[[nodiscard]] bool write_hdf5_attribute(hid_t object, const Datum& datum, const Hdf5Check& check);

}  // namespace pmemcpy::exchange
