#pragma once

#include <pmemcpy/pmemcpy.hpp>
#include <vector>

namespace pmemcpy::cli {

/// A line for each variable or group: kind, type, shape, blocks, size, time of the last write, id.
void print_listing(const std::vector<Info>& infos);

}  // namespace pmemcpy::cli
