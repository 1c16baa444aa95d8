#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <sstream>

#include "cli/call/exit_code.hpp"
#include "cli/call/interrupt.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/terminal/duration.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/screen.hpp"
#include "cli/terminal/size.hpp"
#include "cli/terminal/table.hpp"
#include "cli/watch/followed.hpp"
#include "cli/watch/processes.hpp"
#include "cli/watch/traffic.hpp"

namespace pmemcpy::cli {

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr int bar_width = 40;

struct Arguments {
    std::string pool;
    std::optional<std::string> interval;
    bool once = false;
};

/// The pool and its processes at one moment.
struct Look {
    PoolInfo pool;
    std::vector<Process> processes;
    Traffic traffic;
    Clock::time_point at = Clock::now();
};

Look look(const PMEM& pmem, const std::string& path) {
    return {pmem.info(), processes_at(path), look_at_traffic(pmem), Clock::now()};
}

double seconds_between(const Look& before, const Look& now) {
    return std::max(std::chrono::duration<double>(now.at - before.at).count(), 1e-3);
}

/// How fast a number of bytes changes: "+1.00 MiB/s"; "-" before there are two looks.
std::string change_text(std::uint64_t before, std::uint64_t now, double seconds) {
    const std::uint64_t difference = now > before ? now - before : before - now;
    const auto per_second = static_cast<std::uint64_t>(static_cast<double>(difference) / seconds);
    return fmt::format("{}{}/s", now < before ? "-" : "+", human_size(per_second));
}

std::string bar(double part) {
    const auto full = static_cast<int>(std::clamp(part, 0.0, 1.0) * bar_width);
    return fmt::format("[{:#<{}}{:.<{}}]", "", full, "", bar_width - full);
}

std::vector<std::string> lines(const Look& now, const std::optional<Look>& before) {
    const PoolInfo& pool = now.pool;
    const double seconds = before ? seconds_between(*before, now) : 1;
    const std::uint64_t used = used_bytes(pool);
    const auto writers = std::count_if(now.processes.begin(), now.processes.end(),
                                       [](const Process& process) { return process.is_writing; });
    const auto changes = [&](std::uint64_t PoolInfo::*bytes) {
        return before ? change_text(before->pool.*bytes, pool.*bytes, seconds) : std::string("-");
    };
    std::vector<std::string> all;
    all.push_back(fmt::format("{}   {}, durability {}", printable(pool.path), pool.layout,
                              pmemcpy::name_of(pool.durability)));
    std::string step =
        pool.committed_step == 0 ? "no step committed" : fmt::format("step {}", pool.committed_step);
    if (before && pool.committed_step >= before->pool.committed_step && pool.committed_step != 0) {
        step += fmt::format(" ({:.2g}/s)",
                            static_cast<double>(pool.committed_step - before->pool.committed_step) / seconds);
    }
    all.push_back(fmt::format("{}, {}   {}   attached: {} for writing, {} for reading",
                              counted(pool.variables, "variable"), counted(pool.groups, "group"), step,
                              writers, static_cast<std::ptrdiff_t>(now.processes.size()) - writers));
    all.push_back(fmt::format("{} {} of {} in use",
                              bar(static_cast<double>(used) / static_cast<double>(pool.max_bytes)),
                              human_size(used), human_size(pool.max_bytes)));
    Table space({{"space"}, {"size", Table::Align::right}, {"change", Table::Align::right}, {}});
    space.add({"data", human_size(pool.data_bytes), changes(&PoolInfo::data_bytes), ""});
    space.add({"metadata", human_size(pool.metadata_bytes), changes(&PoolInfo::metadata_bytes), ""});
    space.add(
        {"free", human_size(pool.free_bytes), changes(&PoolInfo::free_bytes), "allocated, in nobody's use"});
    space.add({"tables", human_size(table_bytes(pool)), "-", "keep account of the rest"});
    space.add({"retired", std::to_string(pool.retired_records), "",
               "records kept by pins, or until the next sync"});
    Table processes(
        {{"pid", Table::Align::right}, {"user"}, {"open for"}, {"memory", Table::Align::right}, {"command"}});
    for (const Process& process : now.processes) {
        const std::string mode = process.is_writing ? "writing" : "reading";
        processes.add({std::to_string(process.pid), process.user,
                       mode + (process.is_stopped ? ", STOPPED" : ""), human_size(process.resident_bytes),
                       process.command});
    }
    const auto add = [&all](const std::string& paragraph) {
        std::istringstream text(paragraph);
        for (std::string line; std::getline(text, line);) all.push_back(line);
        all.emplace_back();
    };
    add(space.text());
    const auto traffic = lines_of(now.traffic, before ? &before->traffic : nullptr, seconds);
    all.insert(all.end(), traffic.begin(), traffic.end());
    if (!traffic.empty()) all.emplace_back();
    if (!processes.empty()) add(processes.text());
    if (std::any_of(now.processes.begin(), now.processes.end(),
                    [](const Process& p) { return p.is_writing && p.is_stopped; }))
        add("A writer is stopped (kill -CONT continues it, kill -KILL ends it): what others erase or rename "
            "may wait for it.\n");
    all.pop_back();
    return all;
}

Json to_json(const Look& now) {
    const PoolInfo& pool = now.pool;
    Json processes = Json::array();
    for (const Process& process : now.processes) {
        processes.push_back({{"pid", process.pid},
                             {"user", process.user},
                             {"mode", process.is_writing ? "write" : "read"},
                             {"stopped", process.is_stopped},
                             {"resident_bytes", process.resident_bytes},
                             {"command", process.command}});
    }
    return {{"pool", pool.path},
            {"layout", pool.layout},
            {"durability", pmemcpy::name_of(pool.durability)},
            {"committed_step", pool.committed_step},
            {"variables", pool.variables},
            {"groups", pool.groups},
            {"max_bytes", pool.max_bytes},
            {"allocated_bytes", pool.allocated_bytes},
            {"used_bytes", used_bytes(pool)},
            {"free_bytes", pool.free_bytes},
            {"data_bytes", pool.data_bytes},
            {"metadata_bytes", pool.metadata_bytes},
            {"table_bytes", table_bytes(pool)},
            {"retired_records", pool.retired_records},
            {"targets", targets_json(now.traffic)},
            {"counters", counters_json(now.traffic)},
            {"processes", processes}};
}

int refresh(Followed& pool, const std::string& path, std::chrono::nanoseconds interval) {
    const Interrupts interrupts;
    Screen screen;
    std::optional<Look> before;
    while (!interrupts.came()) {
        if (pool.look() != Followed::Fate::same) before.reset();
        if (pool.is_there()) {
            Look now = look(pool.pmem(), path);
            std::vector<std::string> all = lines(now, before);
            all[0] += fmt::format(
                "   {}   q: quit",
                human_time(static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() /
                                                      std::chrono::nanoseconds(1))));
            screen.draw(all);
            before = std::move(now);
        } else {
            screen.draw({printable(path) + " is gone; waiting for another one in its place   q: quit"});
        }
        if (interrupts.sleep(interval, screen.keys())) {
            const char key = Screen::key();
            if (key == 'q' || key == '\0') return exit_ok;
        }
    }
    return interrupts.exit_status();
}

int top(const Arguments& arguments, bool json) {
    if (arguments.once && arguments.interval)
        throw Error(Code::invalid_argument, "top --once looks once: it has no --interval");
    const auto interval = parse_interval(arguments.interval.value_or("2s"));
    Followed pool(arguments.pool);
    if (!arguments.once && !json && isatty(STDOUT_FILENO) == 1)
        return refresh(pool, arguments.pool, interval);
    const Look now = look(pool.pmem(), arguments.pool);
    if (json) {
        fmt::print("{}\n", dump(to_json(now)));
    } else {
        for (const std::string& line : lines(now, std::nullopt)) fmt::print("{}\n", line);
    }
    return exit_ok;
}

}  // namespace

void add_top(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "top", "Show who has a pool open, and how its space is used")
        .needs("POOL", arguments->pool, "The pool")
        .takes("--interval", arguments->interval, "How often to look, for example 500ms (default: 2s)")
        .takes("--once", arguments->once, "Look once; so it is too where stdout is no terminal")
        .takes_json("Print JSON, once")
        .tells(
            "On a terminal it is drawn anew until q or ^C. Who has the pool open is what /proc tells: the "
            "processes of "
            "this machine, and those of other users only to root. Processes that read leave no other trace.\n"
            "\n"
            "In use is what is allocated and not free. Retired records are those that a view or a load of "
            "somebody "
            "has pinned, and on page media those that wait for a sync.\n"
            "\n"
            "Of a pool with a hierarchy its targets are shown, too: what is read, stored and moved, per "
            "second; at the first look, "
            "and with --once, since it got the hierarchy. Who only reads the pool is not counted.\n")
        .runs([arguments](bool json) { return top(*arguments, json); });
}

}  // namespace pmemcpy::cli
