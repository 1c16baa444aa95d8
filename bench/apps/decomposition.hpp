#pragma once

#include <array>
#include <pmemcpy/box.hpp>
#include <string>

namespace domain3d {

/// How many ranks lie along each of the three dimensions of space.
using Grid = std::array<int, 3>;

/// The grid written as "2x2x1". Throws std::invalid_argument for anything else.
Grid parse_grid(const std::string& text);
std::string to_string(const Grid& grid);

/// The shape, near to a cube, of each of `variables` arrays of doubles that take `gib` GiB together.
pmemcpy::Dimensions near_cube(double gib, int variables);

/// The box of one rank. The last three dimensions are divided as evenly as whole elements allow; a fourth one
/// before them, which is time, is not. Throws std::invalid_argument when ranks would go without.
pmemcpy::Box part_of(const pmemcpy::Dimensions& domain, const Grid& grid, int rank);

}  // namespace domain3d
