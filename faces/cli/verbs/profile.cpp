#include <fmt/core.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <pmemcpy/profile.hpp>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/terminal/duration.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/sink.hpp"
#include "cli/terminal/size.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::vector<std::string> directories;
    std::optional<std::string> output;
    std::optional<std::string> check;
    std::optional<std::string> again;
    bool list = false;
    std::string time;
    std::string size = "256MiB";
    std::string least = "1GiB";
    ProfileOptions options;
    std::uint64_t processes = 0;
};

std::string latency_text(double seconds) {
    if (seconds < 1e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
    if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
    return fmt::format("{:.3g} ms", seconds * 1e3);
}

std::string bandwidth_text(const Speed& speed) {
    return human_size(static_cast<std::uint64_t>(speed.bytes_per_second)) + "/s";
}

Json speed_json(const Speed& speed) {
    return {{"bytes_per_second", speed.bytes_per_second}, {"latency_s", speed.latency_s}};
}

Json target_json(const Target& target) {
    Json json = {{"name", target.name},
                 {"kind", name_of(target.kind)},
                 {"path", target.path},
                 {"capacity_bytes", target.capacity_bytes},
                 {"write", speed_json(target.write)},
                 {"read", speed_json(target.read)},
                 {"measured", nullptr}};
    if (const auto& m = target.measured) {
        json["measured"] = {{"at", m->at},
                            {"time_s", m->time_s},
                            {"file_system", m->file_system},
                            {"device", m->device},
                            {"size_bytes", m->size_bytes},
                            {"durability", name_of(m->durability)},
                            {"is_direct", m->is_direct},
                            {"processes", m->processes},
                            {"write", speed_json(m->write)},
                            {"read", speed_json(m->read)}};
    }
    return json;
}

std::string table_of(const Hierarchy& hierarchy) {
    using Align = Table::Align;
    Table table({{},
                 {},
                 {"", Align::right},
                 {"", Align::right},
                 {"", Align::right},
                 {"", Align::right},
                 {"", Align::right},
                 {"", Align::right},
                 {}});
    table.add({"target", "kind", "capacity", "write", "small", "read", "small", "together", "where"});
    for (const Target& target : hierarchy.targets) {
        const auto& m = target.measured;
        const std::string together =
            m && m->processes > 1
                ? fmt::format("{} x {}, {}", m->processes, bandwidth_text(m->write), bandwidth_text(m->read))
                : "";
        table.add({target.name, name_of(target.kind), human_size(target.capacity_bytes),
                   bandwidth_text(target.write), latency_text(target.write.latency_s),
                   bandwidth_text(target.read), latency_text(target.read.latency_s), together,
                   target.path.empty() && m ? m->at : target.path});
    }
    return table.text();
}

void print_set_aside(const Profile& profile) {
    for (const SetAside& each : profile.set_aside) note("{}", each.why);
}

/// Whole or not at all: a hierarchy that a person has worked on is not lost because the disk is full.
void write_file(const std::string& path, const std::string& text) {
    const std::string unfinished = path + ".new";
    Sink sink(unfinished);
    sink.write(text);
    sink.finish();
    std::filesystem::rename(unfinished, path);
}

int list(const Arguments& arguments, bool json) {
    const std::vector<Place> places = find_places(arguments.options);
    if (json) {
        Json all = Json::array();
        for (const Place& place : places) {
            all.push_back({{"path", place.path},
                           {"kind", name_of(place.kind)},
                           {"file_system", place.file_system},
                           {"device", place.device},
                           {"medium", place.medium},
                           {"size_bytes", place.size_bytes},
                           {"free_bytes", place.free_bytes},
                           {"hindrance", place.hindrance}});
        }
        fmt::print("{}\n", dump(all));
        return exit_ok;
    }
    Table table({{}, {}, {}, {}, {"", Table::Align::right}, {}});
    table.add({"place", "kind", "file system", "medium", "free", ""});
    for (const Place& place : places) {
        table.add({place.path, name_of(place.kind), place.file_system, place.medium,
                   human_size(place.free_bytes), place.hindrance});
    }
    fmt::print("{}", table.text());
    return exit_ok;
}

class Shown {
public:
    void operator()(const ProfileProgress& progress) {
        bar_.show(static_cast<std::uint64_t>(progress.seconds),
                  static_cast<std::uint64_t>(std::ceil(progress.of_seconds)));
    }

private:
    Progress bar_{"profile", Unit::seconds};
};

int check(const Arguments& arguments, bool json) {
    const Hierarchy hierarchy = read_hierarchy(*arguments.check);
    std::vector<Fit> fits;
    {
        Shown shown;
        fits = check_profile(hierarchy, arguments.options, std::ref(shown));
    }
    bool all_fit = true;
    Json all = Json::array();
    Table table({{}, {}, {}});
    for (const Fit& fit : fits) {
        all_fit = all_fit && fit.state == Fit::State::fits;
        all.push_back({{"target", fit.target}, {"state", name_of(fit.state)}, {"why", fit.why}});
        table.add({fit.target, name_of(fit.state), fit.why});
    }
    fmt::print("{}", json ? dump(all) + "\n" : table.text());
    return all_fit ? exit_ok : exit_different;
}

int measure(const Arguments& arguments, bool json) {
    // Who has worked on a file, loses nothing by a slip.
    if (arguments.output && std::filesystem::exists(*arguments.output))
        throw Error(
            Code::already_exists,
            *arguments.output + " is there already; --again measures what it says anew, or remove it");
    Profile found;
    {
        Shown shown;
        found = arguments.again
                    ? profile_again(read_hierarchy(*arguments.again), arguments.options, std::ref(shown))
                    : profile(arguments.directories, arguments.options, std::ref(shown));
    }
    print_set_aside(found);
    const std::string yaml = to_yaml(found.hierarchy);
    const auto into = arguments.output ? arguments.output : arguments.again;
    if (into) write_file(*into, yaml);
    if (json) {
        Json targets = Json::array();
        for (const Target& target : found.hierarchy.targets) targets.push_back(target_json(target));
        Json aside = Json::array();
        for (const SetAside& each : found.set_aside)
            aside.push_back({{"path", each.path}, {"why", each.why}});
        fmt::print("{}\n", dump({{"targets", std::move(targets)}, {"set_aside", std::move(aside)}}));
    } else {
        fmt::print("{}", into ? table_of(found.hierarchy) : yaml);
    }
    return exit_ok;
}

int run(Arguments arguments, bool json) {
    const int ways = (arguments.list ? 1 : 0) + (arguments.check ? 1 : 0) + (arguments.again ? 1 : 0);
    const bool is_about_a_file = arguments.check || arguments.again;
    if (ways > 1) throw Error(Code::invalid_argument, "one of --list, --check and --again at a time");
    if ((is_about_a_file || arguments.list) && !arguments.directories.empty())
        throw Error(Code::invalid_argument,
                    "directories are given to be measured, without --list, --check or --again");
    if (arguments.output && (arguments.check || arguments.list))
        throw Error(Code::invalid_argument, "--list and --check write no file");
    ProfileOptions& options = arguments.options;
    if (!arguments.time.empty())
        options.seconds = std::chrono::duration<double>(parse_duration(arguments.time)).count();
    options.bytes = parse_size(arguments.size);
    options.least_free_bytes = parse_size(arguments.least);
    if (arguments.processes > 256)
        throw Error(Code::invalid_argument, "at most 256 processes are measured at once");
    options.processes = static_cast<unsigned>(arguments.processes);
    if (arguments.list) return list(arguments, json);
    return arguments.check ? check(arguments, json) : measure(arguments, json);
}

}  // namespace

void add_profile(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "profile",
         "Measure the places of this node, and write a hierarchy of them for `pmemcpy tiers`")
        .takes("DIRECTORY", arguments->directories,
               "What to measure (default: every mount that could be a target)")
        .takes("-o,--output", arguments->output, "Write the hierarchy to this new file, and print a table")
        .takes("--list", arguments->list,
               "Only list the mounts, and what hinders those that can be no target")
        .takes("--check", arguments->check,
               "Say which targets of this hierarchy no longer are what was measured")
        .takes("--again", arguments->again,
               "Measure those anew, and change nothing else in the file but its comments, which are lost")
        .takes("--pool", arguments->options.pool,
               "Directory where the pool is or will be (default: the fastest place)")
        .takes("--time", arguments->time, "At most so long, all together (default: 20s)")
        .takes("--size", arguments->size, "Take so much of each place at most (default: 256MiB)")
        .takes("--processes", arguments->processes,
               "Measured besides one (default: one for each core, at most 8)")
        .takes("--reserve", arguments->options.reserve,
               "Part of what is free that is left to others (default: 0.1)")
        .takes("--least", arguments->least, "Mounts with less room are no places (default: 1GiB)")
        .takes("--factor", arguments->options.factor, "Figures that differ by less are the same (default: 2)")
        .takes_json()
        .tells(
            "Large and small accesses, writing and reading, by one process and by several, past the page "
            "cache where that is "
            "possible; docs/profile.md says how. No file system is filled: at most an eighth of what is free "
            "is taken, and "
            "nothing is left behind.\n"
            "\n"
            "--check ends with status 1 if a target does not fit.\n")
        .answers_with_one()
        .runs([arguments](bool json) { return run(*arguments, json); });
}

}  // namespace pmemcpy::cli
