#include <fmt/core.h>

#include <memory>
#include <pmemcpy/repair.hpp>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/size.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string from;
    std::string to;
};

int repair(const Arguments& arguments, bool json) {
    const Repair result = pmemcpy::repair(arguments.from, arguments.to);
    for (const std::string& file : result.private_files) {
        note("{} holds private objects, which are not in {}: it finds them when it has the place of {}",
             printable(file), printable(arguments.to), printable(arguments.from));
    }
    if (json) {
        auto list = nlohmann::ordered_json::array();
        for (const Damage& damage : result.damages) list.push_back(to_json(damage));
        fmt::print("{}\n", dump({{"variables", result.variables},
                                 {"unreadable_bytes", result.unreadable_bytes},
                                 {"damage", list},
                                 {"private_files", result.private_files}}));
    } else {
        for (const Damage& damage : result.damages) fmt::print("{}\n", damage_text(damage));
        fmt::print("made {}: {}; {}, {} could not be read\n", printable(arguments.to),
                   counted(result.variables, "variable"), counted(result.damages.size(), "damage"),
                   human_size(result.unreadable_bytes));
    }
    return result.damages.empty() && result.unreadable_bytes == 0 ? exit_ok : exit_damage;
}

}  // namespace

void add_repair(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "repair", "Make a new pool of what is whole in a damaged one")
        .needs("OLD", arguments->from, "The damaged pool, which is only read")
        .needs("NEW", arguments->to, "Where the new one is to be")
        .takes_json()
        .runs([arguments](bool json) { return repair(*arguments, json); });
}

}  // namespace pmemcpy::cli
