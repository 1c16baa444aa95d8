#include <fmt/core.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <pmemcpy/tiers.hpp>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/size.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string pool;
    std::optional<std::string> file;
    bool yaml = false;
    bool remove = false;
    std::optional<std::string> mode;
};

Json triggers_json(const Hierarchy& hierarchy) {
    Json list = Json::array();
    for (const Trigger trigger : hierarchy.flush.on) list.push_back(name_of(trigger));
    return list;
}

Json others_json(const TargetInfo& info) {
    Json list = Json::array();
    for (const TargetUser& other : info.others) {
        list.push_back({{"pool", other.pool},
                        {"used_bytes", other.used_bytes},
                        {"share", other.share},
                        {"is_open", other.is_open},
                        {"needs_room", other.needs_room},
                        {"is_writing", other.is_writing}});
    }
    return list;
}

// "/scratch/b.pmem has 3.0 GiB there too, share 2, writing"
std::string other_text(const TargetUser& other) {
    std::string text = fmt::format("{} has {} there too, share {}",
                                   other.pool.empty() ? "a pool of somebody else" : printable(other.pool),
                                   human_size(other.used_bytes), other.share);
    if (!other.is_open) text += ", not open";
    if (other.needs_room) text += ", needs room";
    if (other.is_writing) text += ", writing";
    return text;
}

void print_others(const PMEM& pmem) {
    for (const TargetInfo& info : targets(pmem)) {
        if (info.others.empty()) continue;
        fmt::print("{} is shared", printable(info.target.name));
        if (info.part_bytes > 0)
            fmt::print(": {} of {} are this pool's part, by the share {}", human_size(info.part_bytes),
                       human_size(info.together_bytes), info.target.share);
        fmt::print("\n");
        for (const TargetUser& other : info.others) fmt::print("  {}\n", other_text(other));
    }
}

void print_json(const PMEM& pmem) {
    Json list = Json::array();
    for (const TargetInfo& info : targets(pmem)) {
        list.push_back({{"name", info.target.name},
                        {"kind", name_of(info.target.kind)},
                        {"path", info.target.path},
                        {"used_bytes", info.used_bytes},
                        {"capacity_bytes", info.capacity_bytes},
                        {"trouble", info.trouble},
                        {"share", info.target.share},
                        {"together_bytes", info.together_bytes},
                        {"part_bytes", info.part_bytes},
                        {"others", others_json(info)},
                        {"command_trouble", info.command_trouble}});
    }
    const auto hierarchy = hierarchy_of(pmem);
    const FlushProgress left = hierarchy ? unflushed(pmem) : FlushProgress{};
    const FlushProgress here = hierarchy ? unstaged(pmem) : FlushProgress{};
    fmt::print("{}\n", dump({{"policy", hierarchy ? Json(name_of(hierarchy->policy)) : Json(nullptr)},
                             {"mode", hierarchy ? Json(name_of(hierarchy->mode)) : Json(nullptr)},
                             {"flush_on", hierarchy ? triggers_json(*hierarchy) : Json(nullptr)},
                             {"unflushed_blocks", left.of_blocks},
                             {"unflushed_bytes", left.of_bytes},
                             {"requests", hierarchy ? requests(pmem) : 0},
                             {"unstaged_files", here.of_blocks},
                             {"unstaged_bytes", here.of_bytes},
                             {"targets", std::move(list)}}));
}

void print_table(const PMEM& pmem) {
    Table table({{}, {}, {}, {}, {}});
    table.add({"target", "kind", "used", "of", "where"});
    for (const TargetInfo& info : targets(pmem)) {
        const std::string where = info.target.path.empty() ? "the pool" : info.target.path;
        table.add({info.target.name, name_of(info.target.kind), human_size(info.used_bytes),
                   info.capacity_bytes == 0 ? "?" : human_size(info.capacity_bytes),
                   info.trouble.empty() ? where : where + " (set aside)"});
    }
    fmt::print("{}", table.text());
    print_others(pmem);
    if (hierarchy_of(pmem)) {
        const FlushProgress left = unflushed(pmem);
        if (left.of_blocks > 0)
            fmt::print("not flushed yet: {} in {}; `pmemcpy drain` waits for it\n", human_size(left.of_bytes),
                       counted(left.of_blocks, "block"));
        if (const std::uint64_t waiting = requests(pmem); waiting > 0)
            fmt::print("to be done in the background: {}\n", counted(waiting, "request"));
        const FlushProgress here = unstaged(pmem);
        if (here.of_blocks > 0)
            fmt::print("not handed to the command of `flush` yet: {} in {}\n", human_size(here.of_bytes),
                       counted(here.of_blocks, "file"));
    }
    for (const TargetInfo& info : targets(pmem)) {
        if (!info.trouble.empty()) note("{}", info.trouble);
        if (!info.command_trouble.empty()) note("{}", printable(info.command_trouble));
    }
}

// "checkpoint/**=write-through"; an id may have such a sign itself, a mode has none.
void set_mode_from(const Arguments& arguments) {
    const auto sign = arguments.mode->rfind('=');
    if (sign == std::string::npos || sign == 0)
        throw Error(Code::invalid_argument,
                    "'" + *arguments.mode + "' is not of the form ID=MODE, as 'checkpoint/**=write-through'");
    const Buffering mode = parse_buffering(std::string_view(*arguments.mode).substr(sign + 1));
    PMEM pmem = open_for_writing(arguments.pool);
    set_mode(pmem, std::string_view(*arguments.mode).substr(0, sign), mode);
}

int tiers(const Arguments& arguments, bool json) {
    if (int{arguments.file.has_value()} + int{arguments.remove} + int{arguments.mode.has_value()} > 1)
        throw Error(
            Code::invalid_argument,
            "either a FILE gives the pool a hierarchy, or --mode changes it, or --remove takes it away");
    if (arguments.mode) {
        set_mode_from(arguments);
        return exit_ok;
    }
    if (arguments.file || arguments.remove) {
        // Read before the pool is opened: who mistypes a path changes nothing.
        const auto hierarchy =
            arguments.file ? std::make_optional(read_hierarchy(*arguments.file)) : std::nullopt;
        PMEM pmem = open_for_writing(arguments.pool);
        if (hierarchy) set_hierarchy(pmem, *hierarchy);
        if (!hierarchy) remove_hierarchy(pmem);
        return exit_ok;
    }
    const PMEM pmem = open_for_reading(arguments.pool);
    if (arguments.yaml) {
        const auto hierarchy = hierarchy_of(pmem);
        if (!hierarchy) throw Error(Code::not_found, arguments.pool + " has no hierarchy");
        fmt::print("{}", to_yaml(*hierarchy));
    } else if (json) {
        print_json(pmem);
    } else {
        print_table(pmem);
    }
    return exit_ok;
}

struct Staging {
    std::string pool;
    std::string id;
    std::string target;
};

int stage(const Staging& arguments, bool json) {
    PMEM pmem = open_for_writing(arguments.pool);
    std::uint64_t bytes = 0;
    {
        Progress progress("stage");
        bytes = move(pmem, arguments.id, arguments.target, [&](const FlushProgress& p) {
            progress.show(p.bytes, p.of_bytes);
            return true;
        });
    }
    if (json) {
        fmt::print("{}\n", dump({{"moved_bytes", bytes}}));
    } else {
        fmt::print("{} moved to {}\n", human_size(bytes), arguments.target);
    }
    return exit_ok;
}

struct Draining {
    std::string pool;
    std::string id = "/";
    bool later = false;
};

int drain_later(PMEM& pmem, const std::string& id, bool json) {
    request(pmem, Request::flush, id);
    const std::uint64_t waiting = requests(pmem);
    if (json) {
        fmt::print("{}\n", dump({{"requests", waiting}}));
    } else {
        fmt::print("asked; to be done in the background: {}\n", counted(waiting, "request"));
    }
    return exit_ok;
}

int drain(const Draining& arguments, bool json) {
    PMEM pmem = open_for_writing(arguments.pool);
    if (arguments.later) return drain_later(pmem, arguments.id, json);
    std::uint64_t bytes = 0;
    {
        Progress progress("drain");
        bytes = flush(pmem, arguments.id, [&](const FlushProgress& p) {
            progress.show(p.bytes, p.of_bytes);
            return true;
        });
    }
    if (json) {
        fmt::print("{}\n", dump({{"flushed_bytes", bytes}}));
    } else {
        fmt::print("{} flushed\n", human_size(bytes));
    }
    return exit_ok;
}

struct Asked {
    std::string pool;
    std::string id;
};

std::string when_flushed(const Receipt& receipt) {
    if (receipt.is_flushed) return receipt.is_staged ? "yes, and handed over" : "yes";
    if (receipt.mode == Buffering::scratch) return "never";
    if (receipt.flushed_in_s) return fmt::format("in {:.0f} s", std::ceil(*receipt.flushed_in_s));
    return receipt.waits_for ? fmt::format("on {}", name_of(*receipt.waits_for)) : "no";
}

int receipt(const Asked& arguments, bool json) {
    const PMEM pmem = open_for_reading(arguments.pool);
    const std::vector<Receipt> all = receipts(pmem, arguments.id);
    if (json) {
        Json list = Json::array();
        for (const Receipt& each : all) {
            list.push_back({{"box", to_string(each.box)},
                            {"target", each.target},
                            {"is_flushed", each.is_flushed},
                            {"is_staged", each.is_staged},
                            {"survives", name_of(each.survives)},
                            {"mode", name_of(each.mode)},
                            {"waits_for", each.waits_for ? Json(name_of(*each.waits_for)) : Json(nullptr)},
                            {"flushed_in_s", each.flushed_in_s ? Json(*each.flushed_in_s) : Json(nullptr)}});
        }
        fmt::print("{}\n", dump(list));
        return exit_ok;
    }
    Table table({{}, {}, {}, {}, {}});
    table.add({"block", "target", "mode", "flushed", "survives the loss of a"});
    for (const Receipt& each : all) {
        const char* failure =
            each.survives == Receipt::Survives::power ? "process, power" : name_of(each.survives);
        table.add({to_string(each.box), each.target, name_of(each.mode), when_flushed(each),
                   each.survives == Receipt::Survives::node ? "process, power, node" : failure});
    }
    fmt::print("{}", table.text());
    return exit_ok;
}

}  // namespace

void add_tiers(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "tiers", "Show the targets under a pool, or give it a hierarchy of them")
        .needs("POOL", arguments->pool, "The pool")
        .takes("FILE", arguments->file, "A hierarchy as YAML, for all who have the pool open")
        .takes("--yaml", arguments->yaml, "Print the pool's hierarchy as such a file")
        .takes("--mode", arguments->mode,
               "ID=MODE: another mode for all ids that a glob matches, / for the pool")
        .takes("--remove", arguments->remove, "Take the hierarchy away; all blocks must lie in the pool")
        .takes_json()
        .tells(
            "When the pool is full, its oldest blocks go to the next target. docs/tiers.md lists the keys of "
            "FILE, and the modes.\n")
        .runs([arguments](bool json) { return tiers(*arguments, json); });
}

void add_stage(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Staging>();
    Verb(command, invocation, "stage", "Move the blocks of a variable or group to a target")
        .needs("POOL", arguments->pool, "The pool")
        .needs("ID", arguments->id, "A variable or group; / is all")
        .needs("TARGET", arguments->target, "Name of the target, as `pmemcpy tiers POOL` lists it")
        .takes_json()
        .runs([arguments](bool json) { return stage(*arguments, json); });
}

void add_drain(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Draining>();
    Verb(command, invocation, "drain", "Copy to the flush target what it does not have yet, and wait for it")
        .needs("POOL", arguments->pool, "The pool")
        .takes("ID", arguments->id, "A variable or group; all, if it is left out")
        .takes("--later", arguments->later,
               "Only ask for it: whoever has the pool open and moves its blocks in the background does it, "
               "or the next who opens it")
        .takes_json()
        .runs([arguments](bool json) { return drain(*arguments, json); });
}

void add_receipt(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Asked>();
    Verb(command, invocation, "receipt", "Show where each block of an array is, and what it survives")
        .needs("POOL", arguments->pool, "The pool, which has a hierarchy")
        .needs("ID", arguments->id, "An array")
        .takes_json()
        .runs([arguments](bool json) { return receipt(*arguments, json); });
}

}  // namespace pmemcpy::cli
