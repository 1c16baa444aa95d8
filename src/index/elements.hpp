#pragma once

#include <pmemcpy/pmemcpy.hpp>
#include <span>
#include <string>
#include <vector>

#include "index/fact.hpp"

namespace pmemcpy::index {

struct InElements {
    std::vector<Box> boxes{};  // for each block with such elements, the smallest around them
    bool has_comparable = false;
    std::optional<Fact> unlike{};  // one that is of another sort
};

/// The elements of an array for which a test of `value`, or of a member of it, is true. Reads only blocks that can have one, by
/// their least and greatest, and a few MiB of these at a time.
/// Errors: not_found when the array is erased meanwhile; corrupt, io_error.
InElements find_elements(const PMEM& pool, const Info& array, const Node& test,
                         std::span<const std::string> members);

}  // namespace pmemcpy::index
