#include <algorithm>
#include <string>
#include <vector>

#include <pmemcpy/error.hpp>
#include <pmemcpy/profile.hpp>

#include "os/names.hpp"
#include "profiler/places.hpp"
#include "tier/hierarchy.hpp"

namespace pmemcpy {

namespace {

// None is faster than another. So slow is no device that is well: one that is a hundred times slower is set aside.
constexpr Speed nominal{.bytes_per_second = 1e8, .latency_s = 1e-4};

}  // namespace

Hierarchy joined(const std::string& pool, const std::vector<std::string>& directories) {
    if (directories.size() >= tier::most_targets)
        throw Error(Code::invalid_argument, std::to_string(directories.size()) +
                                                " directories are to be joined to a pool, and at most " +
                                                std::to_string(tier::most_targets - 1) + " are possible");
    std::vector<std::string> all = {os::folder_of(pool)};
    all.insert(all.end(), directories.begin(), directories.end());
    const std::vector<Place> places = profiler::places_at(all);
    Hierarchy h;
    h.policy = Policy::user_defined;  // which takes the first that has room
    h.mode = Buffering::none;
    h.promotion = Promotion::never;
    h.watermarks = {1, 1};
    h.targets.push_back({.name = "pool", .kind = places.front().kind, .write = nominal, .read = nominal});
    for (std::size_t i = 1; i < places.size(); ++i) {
        const Place& place = places[i];
        if (!place.hindrance.empty())
            throw Error(Code::invalid_argument, directories[i - 1] + " cannot be joined: " + place.hindrance);
        const auto is_it = [&](const Target& target) { return target.path == place.path; };
        if (std::any_of(h.targets.begin(), h.targets.end(), is_it))
            throw Error(Code::invalid_argument, place.path + " is given twice");
        h.targets.push_back(
            {.name = place.path, .kind = place.kind, .path = place.path, .write = nominal, .read = nominal});
    }
    return h;
}

}  // namespace pmemcpy
