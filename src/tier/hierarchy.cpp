#include "tier/hierarchy.hpp"

#include "tier/command.hpp"
#include "tier/writing.hpp"

#include <pmemcpy/error.hpp>
#include <pmemcpy/glob.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace pmemcpy {

namespace {

constexpr std::array kinds = {TargetKind::dax, TargetKind::tmpfs, TargetKind::file, TargetKind::shared};
constexpr std::array policies = {Policy::max_bandwidth, Policy::max_locality, Policy::hot_data,
                                 Policy::user_defined};

constexpr std::array modes = {Buffering::none, Buffering::write_back, Buffering::write_through,
                              Buffering::bypass, Buffering::scratch};

constexpr std::array triggers = {Trigger::period, Trigger::store, Trigger::close, Trigger::exit};

constexpr std::array promotions = {Promotion::never, Promotion::on_read, Promotion::read_ahead};

constexpr std::array replacements = {Replacement::fifo, Replacement::lru, Replacement::lfu,
                                     Replacement::application};

template <class Names>
[[noreturn]] void throw_unknown(std::string_view what, std::string_view text, const Names& names) {
    std::string known;
    for (const auto name : names) known += (known.empty() ? "" : ", ") + std::string(name_of(name));
    throw Error(Code::invalid_argument,
                "'" + std::string(text) + "' is no " + std::string(what) + "; there are " + known);
}

}  // namespace

const char* name_of(TargetKind kind) noexcept {
    switch (kind) {
        case TargetKind::dax:
            return "dax";
        case TargetKind::tmpfs:
            return "tmpfs";
        case TargetKind::file:
            return "file";
        case TargetKind::shared:
            return "shared";
    }
    return "unknown";
}

const char* name_of(Policy policy) noexcept {
    switch (policy) {
        case Policy::max_bandwidth:
            return "max-bandwidth";
        case Policy::max_locality:
            return "max-locality";
        case Policy::hot_data:
            return "hot-data";
        case Policy::user_defined:
            return "user-defined";
    }
    return "unknown";
}

const char* name_of(Buffering mode) noexcept {
    switch (mode) {
        case Buffering::none:
            return "none";
        case Buffering::write_back:
            return "write-back";
        case Buffering::write_through:
            return "write-through";
        case Buffering::bypass:
            return "bypass";
        case Buffering::scratch:
            return "scratch";
    }
    return "unknown";
}

const char* name_of(Trigger trigger) noexcept {
    switch (trigger) {
        case Trigger::period:
            return "period";
        case Trigger::store:
            return "store";
        case Trigger::close:
            return "close";
        case Trigger::exit:
            return "exit";
    }
    return "unknown";
}

Buffering parse_buffering(std::string_view name) {
    for (const Buffering mode : modes) {
        if (name == name_of(mode)) return mode;
    }
    throw_unknown("mode", name, modes);
}

const char* name_of(Promotion promotion) noexcept {
    switch (promotion) {
        case Promotion::never:
            return "never";
        case Promotion::on_read:
            return "on-read";
        case Promotion::read_ahead:
            return "read-ahead";
    }
    return "unknown";
}

const char* name_of(Replacement replacement) noexcept {
    switch (replacement) {
        case Replacement::fifo:
            return "fifo";
        case Replacement::lru:
            return "lru";
        case Replacement::lfu:
            return "lfu";
        case Replacement::application:
            return "application";
    }
    return "unknown";
}

const char* name_of(Receipt::Survives failure) noexcept {
    switch (failure) {
        case Receipt::Survives::process:
            return "process";
        case Receipt::Survives::power:
            return "power";
        case Receipt::Survives::node:
            return "node";
    }
    return "unknown";
}

namespace tier {

namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Code::invalid_argument, "hierarchy: " + what);
}

void check_speed(const Target& target, const Speed& speed, const char* verb) {
    const bool is_given = speed.bytes_per_second > 0 && speed.latency_s > 0;
    if (is_given) return;
    refuse("target '" + target.name + "' says nothing of how fast it is to " + verb + "; give `" + verb +
           ": {bandwidth: 2 GB/s, latency: 80 us}`, or let `pmemcpy profile` measure it");
}

void check_measured(const Target& target) {
    const Measured& m = *target.measured;
    const auto is_whole = [](const Speed& speed) {
        return speed.bytes_per_second > 0 && speed.latency_s > 0;
    };
    if (m.at.empty() || m.file_system.empty() || m.processes == 0 || !is_whole(m.write) || !is_whole(m.read))
        refuse(
            "target '" + target.name +
            "' has a `measured` that is not whole; take it out, or let `pmemcpy profile --again` measure it");
}

void check_share(const Target& target, bool is_pool) {
    if (target.share < 1 || target.share > most_share)
        refuse("target '" + target.name + "' has the share " + std::to_string(target.share) +
               "; it is a whole number from 1 to " + std::to_string(most_share));
    if (is_pool && (target.share != 1 || target.together_bytes != 0))
        refuse(
            "the first target is the pool itself, which no other pool uses: it has no `share` and no "
            "`together`");
}

void check_names(const Hierarchy& h) {
    for (std::size_t i = 0; i < h.targets.size(); ++i) {
        const Target& target = h.targets[i];
        if (target.name.empty()) refuse("target " + std::to_string(i + 1) + " has no name");
        if (target.path.empty() != (i == 0)) {
            refuse(i == 0 ? "the first target is the pool itself, so it has no path, and '" + target.name +
                                "' has one"
                          : "target '" + target.name +
                                "' has no path; give the directory that blocks are to lie in");
        }
        for (std::size_t k = 0; k < i; ++k) {
            if (h.targets[k].name == target.name) refuse("two targets have the name '" + target.name + "'");
            if (i > 0 && h.targets[k].path == target.path)
                refuse("targets '" + h.targets[k].name + "' and '" + target.name + "' have one path, " +
                       target.path);
        }
        if (i == 0 && target.limited)
            refuse("the first target is the pool itself, which cannot be `limited`");
        if (i > 0 && target.path.front() != '/')
            refuse("target '" + target.name + "' has the path '" + target.path +
                   "', which means something else in each directory; begin it with a slash");
    }
}

void check_rules(const Hierarchy& h) {
    for (const Rule& rule : h.rules) {
        if (rule.match.empty()) refuse("a rule has no `match`, so it is for no id; `**` is for all");
        const Glob valid(rule.match);
        if (!rule.pin.empty()) level_of(h, rule.pin);
        for (const std::string& name : rule.prefer) level_of(h, name);
        if (!rule.pin.empty() && !rule.prefer.empty())
            refuse("the rule for '" + rule.match + "' has both `pin` and `prefer`; a pin leaves no choice");
        if (rule.first_rank && rule.last_rank && *rule.first_rank > *rule.last_rank)
            refuse("the rule for '" + rule.match + "' begins at a higher rank than it ends");
        if (rule.never_evict && rule.drop_after_flush)
            refuse("the rule for '" + rule.match + "' has both `never_evict` and `drop_after_flush`");
        if (rule.mode == Buffering::scratch && rule.drop_after_flush)
            refuse("the rule for '" + rule.match +
                   "' has both `drop_after_flush` and the mode scratch, which is never flushed");
        if (rule.mode == Buffering::bypass && !rule.pin.empty())
            refuse("the rule for '" + rule.match +
                   "' has both `pin` and the mode bypass, which is a pin to the flush target");
    }
}

void check_flushing(const Hierarchy& h) {
    const bool is_used =
        !h.flush.to.empty() || !h.flush.command.empty() || !h.flush.as.empty() ||
        std::any_of(h.rules.begin(), h.rules.end(), [](const Rule& rule) {
            return rule.drop_after_flush || is_flushed_by_itself(rule.mode.value_or(Buffering::none));
        });
    if (is_used && flush_level(h) == 0)
        refuse("there is nothing to flush to: a target below the pool is needed");
    if (h.flush.on.empty()) refuse("flush: `on` names no trigger; there are period, store, close, exit");
    if (!(h.flush.period_s > 0)) refuse("flush: `every` is a time above zero, as 5 s");
    if (!(h.flush.bytes_per_second >= 0)) refuse("flush: `bandwidth` is above zero, as 500 MB/s");
    if (h.flush.threads > most_threads)
        refuse("flush: `threads` is a number from 1 to " + std::to_string(most_threads) +
               ", or 0 for as many as the target's profile says");
    if (!h.flush.command.empty()) check_command(h.flush.command);
    constexpr std::array<std::string_view, 4> formats = {"", "hdf5", "netcdf", "zarr"};
    if (std::find(formats.begin(), formats.end(), h.flush.as) == formats.end())
        refuse("flush: `as` is hdf5, netcdf or zarr, and not '" + h.flush.as + "'");
    constexpr double longest_s = 1e6;
    if (!(h.flush.command_timeout_s > 0 && h.flush.command_timeout_s <= longest_s))
        refuse("flush: `command_timeout` is a time above zero, as 60 s, and below 12 days");
    const Watermarks& w = h.watermarks;
    if (!(w.low > 0 && w.low <= w.high && w.high <= 1))
        refuse("watermarks: 0 < low <= high <= 1 is needed, as {high: 0.9, low: 0.75}");
}

}  // namespace

void check(const Hierarchy& h) {
    if (h.targets.empty()) refuse("it has no targets; the first is the pool itself");
    if (h.targets.size() > most_targets)
        refuse("it has " + std::to_string(h.targets.size()) + " targets, and at most " +
               std::to_string(most_targets) + " are possible");
    check_names(h);
    for (std::size_t i = 0; i < h.targets.size(); ++i) {
        check_speed(h.targets[i], h.targets[i].write, "write");
        check_speed(h.targets[i], h.targets[i].read, "read");
        if (h.targets[i].measured) check_measured(h.targets[i]);
        check_share(h.targets[i], i == 0);
        if (i == 0) continue;
        const Target& above = h.targets[i - 1];
        if (h.targets[i].write.bytes_per_second > above.write.bytes_per_second) {
            refuse("target '" + h.targets[i].name + "' is faster to write than '" + above.name +
                   "' above it; the fastest target comes first");
        }
    }
    if (h.granularity_bytes == 0) refuse("a granularity of 0 bytes leaves nothing to count in");
    if (!(h.half_life_s > 0)) refuse("`half_life` is a time above zero, as 60 s");
    check_rules(h);
    check_flushing(h);
}

std::size_t level_of(const Hierarchy& h, std::string_view target) {
    std::string names;
    for (std::size_t i = 0; i < h.targets.size(); ++i) {
        if (h.targets[i].name == target) return i;
        names += (i == 0 ? "" : ", ") + h.targets[i].name;
    }
    throw Error(Code::invalid_argument,
                "there is no target '" + std::string(target) + "'; there are " + names);
}

TargetKind parse_kind(std::string_view text) {
    for (const TargetKind kind : kinds) {
        if (text == name_of(kind)) return kind;
    }
    throw_unknown("kind of target", text, kinds);
}

Trigger parse_trigger(std::string_view text) {
    for (const Trigger trigger : triggers) {
        if (text == name_of(trigger)) return trigger;
    }
    throw_unknown("trigger", text, triggers);
}

Promotion parse_promotion(std::string_view text) {
    for (const Promotion promotion : promotions) {
        if (text == name_of(promotion)) return promotion;
    }
    throw_unknown("promotion", text, promotions);
}

Replacement parse_replacement(std::string_view text) {
    for (const Replacement replacement : replacements) {
        if (text == name_of(replacement)) return replacement;
    }
    throw_unknown("replacement", text, replacements);
}

void set_mode(Hierarchy& h, std::string_view match, Buffering mode) {
    if (match == "/") {
        h.mode = mode;
        return;
    }
    const auto is_narrow = [](const Rule& rule) { return rule.box || rule.first_rank || rule.last_rank; };
    Rule fresh;
    for (auto rule = h.rules.begin(); rule != h.rules.end(); ++rule) {
        if (is_narrow(*rule) || (rule->match != match && !Glob(rule->match).matches(match))) continue;
        fresh = *rule;
        if (rule->match == match) h.rules.erase(rule);
        break;
    }
    fresh.match = std::string(match);
    fresh.mode = mode;
    h.rules.insert(h.rules.begin(), std::move(fresh));
}

bool is_flushed_by_itself(Buffering mode) { return mode != Buffering::none && mode != Buffering::scratch; }

std::size_t flush_level(const Hierarchy& hierarchy) {
    return hierarchy.flush.to.empty() ? hierarchy.targets.size() - 1
                                      : level_of(hierarchy, hierarchy.flush.to);
}

Policy parse_policy(std::string_view text) {
    for (const Policy policy : policies) {
        if (text == name_of(policy)) return policy;
    }
    throw_unknown("policy", text, policies);
}

}  // namespace tier
}  // namespace pmemcpy
