#pragma once

#include <nlohmann/json.hpp>

#include "exchange/hdf5/handle.hpp"

namespace pmemcpy::exchange {

// What of a dataset only HDF5 can use again (origin.hpp): {"from": "hdf5", "chunks": [..], "filters": [{"id", "values"}],
// "maxdims": [.., null for unlimited], "scale": "name", "space": "null" or "scalar", "text": "any length", "strpad": ".."}.

/// Errors: unsupported for a filter that this HDF5 does not have, with its number and name.
nlohmann::json hdf5_origin_of(hid_t dataset, const Hdf5Check& check);

/// A list for new datasets, with what `origin` says of chunks and filters as far as it fits `dims`.
Handle hdf5_creation_list(const nlohmann::json& origin, int dimensions, std::size_t element_bytes,
                          bool must_chunk, const hsize_t* dims);

}  // namespace pmemcpy::exchange
