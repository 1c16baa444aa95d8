#pragma once

#include <pmemcpy/box.hpp>
#include <string_view>

namespace pmemcpy::cli {

/// The selection that a text such as "0:10, 5:17:4, 3, :" means in an array of these dimensions: in each
/// dimension first:end:stride, of which each may be left out, or one index. Brackets around it are allowed,
/// so that what errors and `info` print can be pasted. Errors: invalid_argument, out_of_range
Selection parse_selection(std::string_view text, const Dimensions& dims);

}  // namespace pmemcpy::cli
