#pragma once

#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

namespace pmemcpy::cli {

/// One more column of a listing.
struct ListedColumn {
    std::string title;
    std::vector<std::string> cells;  ///< of each line
};

/// A line for each variable or group: kind, type, shape, blocks, size, time of the last write, the columns, id. Of groups alone, which
/// have most of this not: kind, number of attributes, time, the columns, id.
void print_listing(const std::vector<Info>& infos, const std::vector<ListedColumn>& columns = {});

}  // namespace pmemcpy::cli
