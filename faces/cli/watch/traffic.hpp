#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <pmemcpy/caching.hpp>
#include <string>
#include <vector>

namespace pmemcpy::cli {

/// The targets of a pool at one moment, and what its processes had counted of them by then.
struct Traffic {
    std::vector<TargetInfo> targets;
    std::optional<PoolCounters> counters;
};

/// Shape: without targets for a pool that has no hierarchy.
Traffic look_at_traffic(const PMEM& pmem);

/// For people: a line for each target with what it holds, what is read of it and what goes in and out; and one for how often what was read
/// lay in the pool. `before`, of so many seconds ago, makes rates of what is counted. Shape: none without targets.
std::vector<std::string> lines_of(const Traffic& now, const Traffic* before, double seconds);

/// An array of targets, and the pool's counters or null.
nlohmann::ordered_json targets_json(const Traffic& now);
nlohmann::ordered_json counters_json(const Traffic& now);

}  // namespace pmemcpy::cli
