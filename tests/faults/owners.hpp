#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pool/format.hpp"
#include "sample.hpp"

namespace pmemcpy::faults {

/// A page of one of the pool's files: the file's name in the pool's folder, and the page's number.
using Page = std::pair<std::string, std::uint64_t>;

/// What has a byte in a page, by the pieces' places in the list. Who has none there needs nothing of it.
struct Owners {
    std::set<std::size_t> pieces;
    std::set<std::string> names;  ///< ids whose own entry lies there, so that nobody can know them any more
};

/// Finds out by following every record of the pool whose records lie in `records` (a file in `folder`); what is derived
/// belongs to nobody. The pool is opened and closed for it.
std::map<Page, Owners> owners_of(const std::string& folder, const std::string& records,
                                 const std::vector<Piece>& pieces);

}  // namespace pmemcpy::faults
