#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explorer.hpp"
#include "scenario.hpp"

namespace pmemcpy::hold {

/// Explores scenarios on all cores, each in a process of its own, so that one that ends in a signal, or leaves memory behind as the dead
/// do, costs nothing but itself.
struct LeftOut {
    std::string file;  ///< as it ends
    std::uint32_t line = 0;
};
struct Run {
    std::optional<LeftOut> left_out{};  ///< a look that the library does not make
    bool until_wrong = false;           ///< ends with the first that is wrong
};
Found explore_all(const std::vector<Scenario>& scenarios, const Run& run = {});

/// Prints "held: NAME: ...", and fails with what is wrong, or when less was explored than `fewest_runs`.
void tell(const std::string& name, const Found& found, std::uint64_t fewest_runs);

}  // namespace pmemcpy::hold
