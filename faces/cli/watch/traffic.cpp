#include "cli/watch/traffic.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <sstream>

#include "cli/pool/describe.hpp"
#include "cli/terminal/size.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int traffic_bar_width = 20;

std::string bar(std::uint64_t used, std::uint64_t capacity) {
    if (capacity == 0) return "";
    const double part = std::min(static_cast<double>(used) / static_cast<double>(capacity), 1.0);
    const auto full = static_cast<int>(part * traffic_bar_width);
    return fmt::format("[{:#<{}}{:.<{}}]", "", full, "", traffic_bar_width - full);
}

// Counting may have begun anew in between.
std::string rate(std::uint64_t before, std::uint64_t now, double seconds) {
    const std::uint64_t more = now - std::min(now, before);
    return human_size(static_cast<std::uint64_t>(static_cast<double>(more) / seconds)) + "/s";
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "-"
                      : fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

const TargetTraffic* traffic_of(const Traffic& traffic, const std::string& target) {
    if (!traffic.counters) return nullptr;
    for (const TargetTraffic& each : traffic.counters->targets) {
        if (each.target == target) return &each;
    }
    return nullptr;
}

}  // namespace

Traffic look_at_traffic(const PMEM& pmem) {
    if (!hierarchy_of(pmem)) return {};
    return {targets(pmem), pool_counters(pmem)};
}

std::vector<std::string> lines_of(const Traffic& now, const Traffic* before, double seconds) {
    std::vector<std::string> all;
    if (now.targets.empty()) return all;
    using Align = Table::Align;
    Table table({{"target"},
                 {"used", Align::right},
                 {"of", Align::right},
                 {""},
                 {"read", Align::right},
                 {"stored", Align::right},
                 {"moved in", Align::right},
                 {"moved out", Align::right},
                 {""}});
    for (const TargetInfo& info : now.targets) {
        const TargetTraffic* its = traffic_of(now, info.target.name);
        const TargetTraffic* was = before != nullptr ? traffic_of(*before, info.target.name) : nullptr;
        const auto text = [&](std::uint64_t TargetTraffic::*bytes) {
            if (its == nullptr) return std::string("-");
            return was == nullptr ? human_size(its->*bytes) : rate(was->*bytes, its->*bytes, seconds);
        };
        table.add({info.target.name, human_size(info.used_bytes), human_size(info.capacity_bytes),
                   bar(info.used_bytes, info.capacity_bytes), text(&TargetTraffic::read_bytes),
                   text(&TargetTraffic::stored_bytes), text(&TargetTraffic::moved_in_bytes),
                   text(&TargetTraffic::moved_out_bytes), info.trouble.empty() ? "" : "set aside"});
    }
    std::istringstream text(table.text());
    for (std::string line; std::getline(text, line);) all.push_back(line);
    if (!now.counters) {
        all.emplace_back(
            "nothing is counted: nobody has the pool open for writing, or had since it has a hierarchy");
        return all;
    }
    const PoolCounters& c = *now.counters;
    all.push_back(fmt::format(
        "{} of {} reads were in the pool; {} brought up, {} ahead of reads: {} used, {} wasted",
        percent(c.hits, c.hits + c.misses), c.hits + c.misses, counted(c.brought_up + c.read_ahead, "block"),
        c.read_ahead, c.ahead_used, c.ahead_wasted));
    all.push_back(fmt::format("{} waited for room, {:.1f} s; {} flushed", counted(c.waits, "store"),
                              c.waited_s, human_size(c.flushed_bytes)));
    return all;
}

Json targets_json(const Traffic& now) {
    Json list = Json::array();
    for (const TargetInfo& info : now.targets) {
        Json each = {{"name", info.target.name},
                     {"used_bytes", info.used_bytes},
                     {"capacity_bytes", info.capacity_bytes},
                     {"trouble", info.trouble}};
        if (const TargetTraffic* its = traffic_of(now, info.target.name)) {
            each.update({{"reads", its->reads},
                         {"read_bytes", its->read_bytes},
                         {"stored_bytes", its->stored_bytes},
                         {"moved_in_bytes", its->moved_in_bytes},
                         {"moved_out_bytes", its->moved_out_bytes},
                         {"blocks_out", its->blocks_out}});
        }
        list.push_back(std::move(each));
    }
    return list;
}

Json counters_json(const Traffic& now) {
    if (!now.counters) return nullptr;
    const PoolCounters& c = *now.counters;
    return {{"since_ns", c.since_ns},
            {"loads", c.loads},
            {"loads_spread", c.loads_spread},
            {"hits", c.hits},
            {"misses", c.misses},
            {"returned", c.returned},
            {"brought_up", c.brought_up},
            {"read_ahead", c.read_ahead},
            {"ahead_used", c.ahead_used},
            {"ahead_wasted", c.ahead_wasted},
            {"waits", c.waits},
            {"waited_s", c.waited_s},
            {"flushed_bytes", c.flushed_bytes}};
}

}  // namespace pmemcpy::cli
