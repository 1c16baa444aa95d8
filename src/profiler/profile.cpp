#include <pmemcpy/profile.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <pmemcpy/error.hpp>

#include "profiler/budget.hpp"
#include "profiler/places.hpp"
#include "profiler/target.hpp"
#include "tier/hierarchy.hpp"

namespace pmemcpy {

namespace profiler {

namespace {

// How people call it: by what is below, or by the file system of a network.
std::string name_for(const Place& place, std::set<std::string>& taken) {
    std::string base = place.medium;
    if (place.kind == TargetKind::shared) base = place.file_system.substr(place.file_system.rfind('.') + 1);
    if (place.kind == TargetKind::dax) base = "dax";
    if (base.empty()) base = place.path == "/" ? "root" : place.path.substr(place.path.rfind('/') + 1);
    std::string name = base;
    for (int number = 2; !taken.insert(name).second; ++number) name = base + "-" + std::to_string(number);
    return name;
}

void refuse_twice(const std::vector<std::string>& directories, const std::vector<Place>& places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            if (places[i].path == places[k].path)
                throw Error(Code::invalid_argument,
                            "profile: " + directories[k] + " and " + directories[i] + " are one directory");
        }
    }
}

/// `pool`: the place of the pool, if the user has said where it is.
std::vector<Place> asked_for(const std::vector<std::string>& directories, const std::optional<Place>& pool) {
    std::vector<Place> places = places_at(directories);
    refuse_twice(directories, places);
    const auto is_it = [&](const Place& place) { return place.path == pool->path; };
    if (pool && std::none_of(places.begin(), places.end(), is_it)) places.push_back(*pool);
    if (places.size() > tier::most_targets)
        throw Error(Code::invalid_argument, "profile: " + std::to_string(places.size()) +
                                                " directories are given, and a hierarchy has at most " +
                                                std::to_string(tier::most_targets) + " targets");
    return places;
}

bool is_same_room(const Place& a, const Place& b) {
    if (a.kind == TargetKind::tmpfs && b.kind == TargetKind::tmpfs) return true;
    return a.file_system == b.file_system && a.device == b.device && a.size_bytes == b.size_bytes;
}

// Those with the most room, where there are more than a hierarchy can have.
std::vector<Place> found(const ProfileOptions& options, const std::optional<Place>& pool,
                         std::vector<SetAside>& set_aside) {
    std::vector<Place> places = find_places(options);
    const auto is_it = [&](const Place& place) { return pool && place.path == pool->path; };
    std::erase_if(places, is_it);
    for (Place& place : places) {
        if (pool && place.hindrance.empty() && is_same_room(place, *pool))
            place.hindrance =
                place.path + " has the same room as " + pool->path + ", where the pool is to be";
    }
    if (pool) places.push_back(*pool);
    const auto is_fit = [](const Place& place) { return place.hindrance.empty(); };
    std::stable_sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
        const auto rank = [&](const Place& p) {
            return std::pair(is_fit(p), is_it(p) ? ~std::uint64_t{0} : p.free_bytes);
        };
        return rank(a) > rank(b);
    });
    std::size_t count = 0;
    for (Place& place : places) {
        if (!is_fit(place) || ++count <= tier::most_targets) continue;
        place.hindrance = "a hierarchy has at most " + std::to_string(tier::most_targets) +
                          " targets, and others have more room than " + place.path;
    }
    for (const Place& place : places) {
        if (!is_fit(place)) set_aside.push_back({place.path, place.hindrance});
    }
    std::erase_if(places, [&](const Place& place) { return !is_fit(place); });
    return places;
}

/// A place and, once it is measured, its target.
struct Candidate {
    Place place;
    Target target;
};

std::vector<Candidate> measure_all(const std::vector<Place>& places, const ProfileOptions& options,
                                   Budget& budget, std::vector<SetAside>& set_aside) {
    std::vector<Candidate> all;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Place& place = places[i];
        if (!place.hindrance.empty()) {
            set_aside.push_back({place.path, place.hindrance});
            continue;
        }
        try {
            all.push_back({place, measured_target(place, options, budget.share_ns(places.size() - i),
                                                  budget.pulse(place.path))});
        } catch (const Error& error) {
            set_aside.push_back({place.path, error.what()});
        }
    }
    return all;
}

/// The fastest to write first, but for the pool, and nothing that is faster than the pool.
void put_in_order(std::vector<Candidate>& all, const std::optional<Place>& pool,
                  std::vector<SetAside>& set_aside) {
    const auto bandwidth = [](const Candidate& c) { return c.target.write.bytes_per_second; };
    std::stable_sort(all.begin(), all.end(),
                     [&](const Candidate& a, const Candidate& b) { return bandwidth(a) > bandwidth(b); });
    if (!pool) return;
    const auto its =
        std::find_if(all.begin(), all.end(), [&](const Candidate& c) { return c.place.path == pool->path; });
    if (its == all.end()) {
        const auto reason = std::find_if(set_aside.begin(), set_aside.end(),
                                         [&](const SetAside& each) { return each.path == pool->path; });
        throw Error(Code::not_found, "profile: the place of the pool could not be measured: " + reason->why);
    }
    for (auto faster = all.begin(); faster != its; ++faster)
        set_aside.push_back({faster->place.path, faster->place.path + " is faster to write than " +
                                                     pool->path +
                                                     ", where the pool is to be: blocks only go down"});
    all.erase(all.begin(), its);
}

}  // namespace
}  // namespace profiler

Profile profile(const std::vector<std::string>& directories, const ProfileOptions& options,
                const std::function<void(const ProfileProgress&)>& progress) {
    profiler::check(options);
    Profile result;
    profiler::Budget budget(options.seconds, progress);
    std::optional<Place> pool;
    if (!options.pool.empty()) pool = profiler::places_at({options.pool}).front();
    const std::vector<Place> places = directories.empty() ? profiler::found(options, pool, result.set_aside)
                                                          : profiler::asked_for(directories, pool);
    std::vector<profiler::Candidate> all = profiler::measure_all(places, options, budget, result.set_aside);
    if (!all.empty()) profiler::put_in_order(all, pool, result.set_aside);
    if (all.empty()) {
        std::string why;
        for (const SetAside& each : result.set_aside) why.append("\n  ").append(each.why);
        throw Error(Code::not_found, "profile: there is no place that could be measured" + why);
    }
    std::set<std::string> taken = {"pool"};
    for (profiler::Candidate& each : all) {
        const bool is_pool = result.hierarchy.targets.empty();
        each.target.name = is_pool ? "pool" : profiler::name_for(each.place, taken);
        if (!is_pool) each.target.path = each.place.path;
        result.hierarchy.targets.push_back(std::move(each.target));
    }
    return result;
}

}  // namespace pmemcpy
