#pragma once

#include <pmemcpy/caching.hpp>

#include <optional>
#include <vector>

namespace pmemcpy::tier {

/// What the numbers of a run say of the hierarchy that it ran with. Pure: each proposal is a rule of advice.cpp, and no rule goes by fewer than
/// `enough` of what it counts.
Advice advise(const Hierarchy& hierarchy, const std::optional<PoolCounters>& counters,
              const std::vector<VariableHeat>& heat);

}  // namespace pmemcpy::tier
