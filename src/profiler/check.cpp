// What no longer fits of a hierarchy that was measured once, and measuring that anew.

#include <pmemcpy/profile.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <pmemcpy/error.hpp>

#include "profiler/budget.hpp"
#include "profiler/places.hpp"
#include "profiler/target.hpp"
#include "tier/hierarchy.hpp"
#include "tier/units.hpp"

namespace pmemcpy {

namespace profiler {

namespace {

/// What a target lies on now. Its path is empty where nobody knows where that is.
std::vector<Place> places_of(const Hierarchy& hierarchy, const std::string& pool) {
    std::vector<std::string> directories;
    std::vector<std::size_t> whose;
    for (std::size_t i = 0; i < hierarchy.targets.size(); ++i) {
        const bool is_given = i == 0 && !pool.empty();
        const std::string& directory = is_given ? pool : directory_of(hierarchy.targets[i]);
        if (directory.empty()) continue;
        directories.push_back(directory);
        whose.push_back(i);
    }
    std::vector<Place> known = places_at(directories);
    std::vector<Place> places(hierarchy.targets.size());
    for (std::size_t i = 0; i < known.size(); ++i) places[whose[i]] = std::move(known[i]);
    return places;
}

bool is_other_size(std::uint64_t then, std::uint64_t now) {
    // What some file systems call their size follows what others in the same store have taken.
    constexpr double tolerance = 1.1;
    const auto a = static_cast<double>(then);
    const auto b = static_cast<double>(now);
    return std::max(a, b) > tolerance * std::min(a, b);
}

/// Nothing, if it is the file system that it was.
std::string other_file_system(const Measured& then, const Place& now) {
    if (then.file_system != now.file_system || then.device != now.device)
        return now.path + " lies on " + now.device + " (" + now.file_system + ") now, and was measured on " +
               then.device + " (" + then.file_system + ")";
    if (is_other_size(then.size_bytes, now.size_bytes))
        return "the file system of " + now.path + " has " + tier::bytes_text(now.size_bytes) +
               " now, and had " + tier::bytes_text(then.size_bytes);
    return {};
}

bool is_other(double then, double now, double factor) {
    return std::max(then, now) > factor * std::min(then, now);
}

std::string other_speed(const char* verb, const Speed& then, const Speed& now, double factor) {
    if (is_other(then.bytes_per_second, now.bytes_per_second, factor))
        return std::string("to ") + verb + ", it has " + tier::bandwidth_text(now.bytes_per_second) +
               " now, and had " + tier::bandwidth_text(then.bytes_per_second);
    if (is_other(then.latency_s, now.latency_s, factor))
        return std::string("to ") + verb + ", a small access takes " + tier::seconds_text(now.latency_s) +
               " now, and took " + tier::seconds_text(then.latency_s);
    return {};
}

Fit fit_of(const Target& target, const Place& place, const ProfileOptions& options, std::uint64_t limit_ns,
           const Pulse& pulse) {
    using State = Fit::State;
    if (!place.hindrance.empty()) return {target.name, State::gone, place.hindrance};
    if (!target.measured)
        return {target.name, State::unmeasured, "nobody has measured '" + target.name + "'"};
    if (auto why = other_file_system(*target.measured, place); !why.empty())
        return {target.name, State::differs, std::move(why)};
    try {
        const Figures now = measure(place, 1, options.bytes, limit_ns, pulse);
        for (const auto& why : {other_speed("write", target.write, now.write, options.factor),
                                other_speed("read", target.read, now.read, options.factor)}) {
            if (!why.empty()) return {target.name, State::differs, place.path + ": " + why};
        }
    } catch (const Error& error) {
        // Full, as a target in use may well be.
        const bool is_full = error.kind() == Code::no_space;
        return {target.name, is_full ? State::fits : State::gone, error.what()};
    }
    return {target.name, State::fits, {}};
}

std::vector<Fit> fits_of(const Hierarchy& hierarchy, const std::vector<Place>& places,
                         const ProfileOptions& options, Budget& budget) {
    std::vector<Fit> fits;
    const std::size_t count = hierarchy.targets.size();
    for (std::size_t i = 0; i < count; ++i) {
        fits.push_back(fit_of(hierarchy.targets[i], places[i], options, budget.share_ns(count - i),
                              budget.pulse(places[i].path)));
    }
    return fits;
}

/// Takes over the figures, and leaves what a person may have written.
void renew(Target& target, const Place& place, Target now) {
    const bool is_elsewhere = !target.measured || !other_file_system(*target.measured, place).empty();
    const bool has_none = target.capacity_bytes == 0;
    if (target.measured && is_elsewhere) target.kind = now.kind;
    if ((target.measured && is_elsewhere) || has_none) target.capacity_bytes = now.capacity_bytes;
    target.write = now.write;
    target.read = now.read;
    target.measured = std::move(now.measured);
}

/// The fastest first again. What is faster than its upper neighbour by no more than the factor, which is what measurements differ by, stays
/// below it and is said to be as fast.
void put_in_order(Hierarchy& h, double factor) {
    const std::string last = h.targets.back().name;
    const auto bandwidth = [&](std::size_t i) -> double& { return h.targets[i].write.bytes_per_second; };
    for (std::size_t i = 1; i < h.targets.size(); ++i) {
        std::size_t k = i;
        for (; k > 1 && bandwidth(k) > factor * bandwidth(k - 1); --k)
            std::swap(h.targets[k], h.targets[k - 1]);
        if (bandwidth(k) > factor * bandwidth(k - 1)) {
            throw Error(Code::invalid_argument, "profile: target '" + h.targets[k].name + "' (" +
                                                    h.targets[k].path +
                                                    ") is faster to write now than the pool above it; make a "
                                                    "pool there, or take the target out");
        }
        bandwidth(k) = std::min(bandwidth(k), bandwidth(k - 1));
    }
    if (h.flush.to.empty() && h.targets.back().name != last) h.flush.to = last;
}

}  // namespace
}  // namespace profiler

const char* name_of(Fit::State state) noexcept {
    switch (state) {
        case Fit::State::fits:
            return "fits";
        case Fit::State::differs:
            return "differs";
        case Fit::State::gone:
            return "gone";
        case Fit::State::unmeasured:
            return "unmeasured";
    }
    return "unknown";
}

std::vector<Fit> check_profile(const Hierarchy& hierarchy, const ProfileOptions& options,
                               const std::function<void(const ProfileProgress&)>& progress) {
    profiler::check(options);
    profiler::Budget budget(options.seconds, progress);
    return profiler::fits_of(hierarchy, profiler::places_of(hierarchy, options.pool), options, budget);
}

Profile profile_again(const Hierarchy& hierarchy, const ProfileOptions& options,
                      const std::function<void(const ProfileProgress&)>& progress) {
    constexpr double part_of_looking = 1.0 / 3;
    profiler::check(options);
    const std::vector<Place> places = profiler::places_of(hierarchy, options.pool);
    profiler::Budget all(options.seconds, progress);
    profiler::Budget looking(options.seconds * part_of_looking, progress);
    const std::vector<Fit> fits = profiler::fits_of(hierarchy, places, options, looking);
    const auto is_due = [](const Fit& fit) {
        return fit.state == Fit::State::differs || fit.state == Fit::State::unmeasured;
    };
    auto left = static_cast<std::size_t>(std::count_if(fits.begin(), fits.end(), is_due));

    Profile result{.hierarchy = hierarchy};
    for (std::size_t i = 0; i < fits.size(); ++i) {
        if (fits[i].state == Fit::State::gone) result.set_aside.push_back({places[i].path, fits[i].why});
        if (!is_due(fits[i])) continue;
        try {
            if (places[i].path.empty())
                throw Error(Code::invalid_argument, "where the pool is to be, nobody has said yet");
            Target now = profiler::measured_target(places[i], options, all.share_ns(left--),
                                                   all.pulse(places[i].path));
            profiler::renew(result.hierarchy.targets[i], places[i], std::move(now));
        } catch (const Error& error) {
            result.set_aside.push_back({places[i].path, error.what()});
        }
    }
    profiler::put_in_order(result.hierarchy, options.factor);
    return result;
}

}  // namespace pmemcpy
