#pragma once

#include <cstdint>
#include <functional>
#include <pmemcpy/pmemcpy.hpp>
#include <string>

#include "cli/diff/comparison.hpp"
#include "cli/diff/findings.hpp"

namespace pmemcpy::cli {

/// A variable or group, or by the id "/" a pool, on one side of a diff.
struct Compared {
    std::string label;  ///< what the command line calls this side
    const PMEM& pmem;
    std::string id;
};

/// What to compare, and under which name to tell of it.
struct Pair {
    std::string name;
    Compared a;
    Compared b;
};

struct Criteria {
    Tolerance tolerance;
    std::uint64_t most_places = 0;  ///< to list where elements differ
};

/// Finds where the attributes differ.
void compare_attributes(const Pair& pair, const Criteria& criteria, Findings& findings);

/// Finds where kind, type, shape, attributes and values differ. How an array is stored is no difference: in which order,
/// blocks, codec, steps. Calls show(bytes) for each piece of an array that it has compared.
/// Cost: memory for a piece of each array, or for its largest compressed block.
void compare_variables(const Pair& pair, const Info& a, const Info& b, const Criteria& criteria,
                       Findings& findings, const std::function<void(std::uint64_t bytes)>& show);

}  // namespace pmemcpy::cli
