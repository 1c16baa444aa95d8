#pragma once

#include <cstdint>
#include <pmemcpy/box.hpp>
#include <string>
#include <vector>

#include "exchange/zarr/metadata.hpp"

namespace pmemcpy::exchange {

/// The chunks (or shards) of an array that have a file, as the numbers that number_of_place() gives them, sorted. By looking what
/// is in its folder: a grid may have more places than anybody can ask for. Names of no place in the grid are passed over.
/// Errors: what the kernel says.
std::vector<std::uint64_t> zarr_chunks_in(const std::string& folder, const ZarrArray& array);

/// A place in a grid as one number, in C order, and the other way.
std::uint64_t number_of_place(const Dimensions& place, const Dimensions& grid);
Dimensions place_of_number(std::uint64_t number, const Dimensions& grid);

/// What of an array a chunk at that place has.
Box box_of_chunk(const Dimensions& place, const ZarrArray& array);

}  // namespace pmemcpy::exchange
