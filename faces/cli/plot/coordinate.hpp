#pragma once

#include <pmemcpy/pmemcpy.hpp>
#include <string>

#include "cli/plot/picture.hpp"

namespace pmemcpy::cli {

/// A dimension of an array as a side of a picture. Its name is what `_ARRAY_DIMENSIONS` says. The array of one dimension that has
/// this name, in the array's group or the nearest one around it, is where the elements are, if its numbers only rise or only
/// fall; `units`, `axis`, `positive` and `standard_name` of it say what they are and where they go up.
/// Source: CF conventions 1.11, chapters 4 and 5
Side side_of(const PMEM& pmem, const Info& info, const Selection& selection, int dimension);

}  // namespace pmemcpy::cli
