#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "exchange/holding.hpp"
#include "exchange/intake.hpp"
#include "exchange/zarr/json.hpp"

namespace pmemcpy::exchange {

/// The attributes of a group or array into a pool: numbers and lists of numbers as such, text as text, all else as JSON.
/// `document` knows their order; of those that have been taken out of `attributes` nothing is read.
void read_zarr_attributes(const std::string& path, const nlohmann::json& attributes,
                          const ZarrDocument& document, Intake& intake);

/// What `attributes` is to be in a document; those named in `order` first. `array`: null for a group.
nlohmann::ordered_json zarr_attributes(const std::string& path, const nlohmann::json& order,
                                       const Variable* array, Holding& holding);

/// xarray writes the attribute _FillValue of arrays of floats as base64 of a float64, and reads no other into Zarr 3. In a pool
/// it is a number of the array's type. Whether it was such a one, and has become the attribute.
bool read_xarray_fill(const std::string& path, const Type& type, const nlohmann::json& attributes,
                      Intake& intake);

}  // namespace pmemcpy::exchange
