#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <pmemcpy/tiers.hpp>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/size.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string to;
    std::string from;
    std::optional<std::string> hierarchy;
    std::optional<std::string> size;
};

int rebuild(const Arguments& arguments, bool json) {
    RebuildOptions options;
    if (arguments.hierarchy) options.hierarchy = read_hierarchy(*arguments.hierarchy);
    if (arguments.size) options.max_bytes = parse_size(*arguments.size);
    Rebuilt result;
    {
        Progress progress("rebuild");
        options.progress = [&](const FlushProgress& p) { progress.show(p.bytes, p.of_bytes); };
        result = pmemcpy::rebuild(arguments.from, arguments.to, options);
    }
    if (json) {
        auto list = nlohmann::ordered_json::array();
        for (const Damage& damage : result.damages) list.push_back(to_json(damage));
        fmt::print("{}\n", dump({{"lost", result.lost},
                                 {"written_ns", result.written_ns},
                                 {"variables", result.variables},
                                 {"blocks", result.blocks},
                                 {"bytes", result.bytes},
                                 {"hierarchy_trouble", result.hierarchy_trouble},
                                 {"damage", list}}));
    } else {
        for (const Damage& damage : result.damages) fmt::print("{}\n", damage_text(damage));
        fmt::print("made {} of what was flushed of {}: {}, {} in {}; {}\n", printable(arguments.to),
                   printable(result.lost), counted(result.variables, "variable"), human_size(result.bytes),
                   counted(result.blocks, "block"), counted(result.damages.size(), "damage"));
        if (!result.hierarchy_trouble.empty()) note("{}", printable(result.hierarchy_trouble));
    }
    return result.damages.empty() ? exit_ok : exit_damage;
}

}  // namespace

void add_rebuild(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "rebuild", "Make a pool again, which was lost, of what was flushed of it")
        .needs("NEW", arguments->to, "Where the pool is to be")
        .needs("FROM", arguments->from,
               "The flush target's directory, or the one of the lost pool in it, pmemcpy-...")
        .takes("--hierarchy", arguments->hierarchy,
               "A hierarchy as YAML for it; else the lost pool's, if its directories are there")
        .takes("--size", arguments->size, "How large it may grow; else as large as the lost one")
        .takes_json()
        .tells("What is missing or damaged there is named, and the rest is in the new pool.\n")
        .runs([arguments](bool json) { return rebuild(*arguments, json); });
}

}  // namespace pmemcpy::cli
