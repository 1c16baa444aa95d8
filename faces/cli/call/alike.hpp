#pragma once

#include <set>
#include <string>

namespace pmemcpy::cli {

/// Of words that are known the one that is most alike, if any is alike enough to have been meant; else "".
std::string most_alike(const std::string& word, const std::set<std::string>& known);

}  // namespace pmemcpy::cli
