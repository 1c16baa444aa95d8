#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "calls.hpp"
#include "scenario.hpp"

namespace pmemcpy::hold {

/// What processes choose from, and the pool that they have it on.
struct Menu {
    std::vector<std::vector<Call>> verbs;
    std::function<void(PMEM&)> setup = set_up_everything;
};
/// Every choice of so many of its verbs, of which one in `one_in` is drawn (is_drawn()).
std::vector<Scenario> choices(const Menu& menu, std::size_t actors, const std::vector<Turn>& turns,
                              crash::Model model, std::size_t one_in, Layout layout = Layout::file);

/// Each verb beside a process whose slabs hold everything, and which uses the places of what it erases and replaces for something else.
std::vector<Scenario> reuses(crash::Model model);

}  // namespace pmemcpy::hold
