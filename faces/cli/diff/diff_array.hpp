#pragma once

#include "cli/diff/diff_variable.hpp"

namespace pmemcpy::cli {

/// "3 of 24 elements differ, by up to 0.5 at [2, 3]".
std::string summary_of(const Comparison& comparison);

/// Finds where the elements of two arrays of one type and shape differ, and what is stored in one of them only.
void compare_arrays(const Pair& pair, const Info& a, const Info& b, const Criteria& criteria,
                    Findings& findings, const std::function<void(std::uint64_t bytes)>& show);

}  // namespace pmemcpy::cli
