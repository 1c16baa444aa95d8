#include <fmt/core.h>

#include <memory>
#include <pmemcpy/caching.hpp>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string pool;
    bool yaml = false;
    bool heat = false;
};

void print_heat(const PMEM& pmem, bool json) {
    Json list = Json::array();
    Table table({{"variable"},
                 {"score", Table::Align::right},
                 {"reads per block", Table::Align::right},
                 {"blocks", Table::Align::right},
                 {"below the pool"}});
    for (const VariableHeat& each : heat_of(pmem)) {
        list.push_back({{"id", each.id},
                        {"score", each.score},
                        {"reads", each.reads},
                        {"blocks", each.blocks},
                        {"bytes", each.bytes},
                        {"bytes_below", each.bytes_below}});
        const double below =
            each.bytes == 0 ? 0 : static_cast<double>(each.bytes_below) / static_cast<double>(each.bytes);
        table.add({each.id, std::to_string(each.score), fmt::format("{:.2f}", each.reads),
                   std::to_string(each.blocks), fmt::format("{:.0f} %", 100 * below)});
    }
    if (json) {
        fmt::print("{}\n", dump(list));
    } else if (!table.empty()) {
        fmt::print("{}", table.text());
    }
}

void print_json(const Advice& advice) {
    Json proposals = Json::array();
    for (const Proposal& each : advice.proposals) {
        proposals.push_back(
            {{"key", each.key}, {"now", each.now}, {"proposed", each.proposed}, {"reason", each.reason}});
    }
    fmt::print("{}\n", dump({{"proposals", std::move(proposals)}, {"unknown", advice.unknown}}));
}

void print_text(const Advice& advice) {
    for (const Proposal& each : advice.proposals) {
        fmt::print("{}: {}   # now {}\n    {}\n", each.key, each.proposed, each.now, printable(each.reason));
    }
    if (advice.proposals.empty()) fmt::print("nothing to propose\n");
    for (const std::string& what : advice.unknown) fmt::print("It cannot be told {}.\n", printable(what));
}

int advise_on(const Arguments& arguments, bool json) {
    if (arguments.heat && arguments.yaml)
        throw Error(Code::invalid_argument,
                    "either --yaml prints the hierarchy, or --heat what is read how often");
    const PMEM pmem = open_for_reading(arguments.pool);
    if (arguments.heat) {
        print_heat(pmem, json);
        return exit_ok;
    }
    const Advice advice = advise(pmem);
    if (arguments.yaml) {
        fmt::print("{}", to_yaml(advice.hierarchy));
    } else if (json) {
        print_json(advice);
    } else {
        print_text(advice);
    }
    return exit_ok;
}

}  // namespace

void add_advise(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "advise", "Propose a better hierarchy from what was counted in a run")
        .needs("POOL", arguments->pool, "The pool, which has a hierarchy")
        .takes("--yaml", arguments->yaml,
               "Print the hierarchy with all proposals followed, for `pmemcpy tiers`")
        .takes("--heat", arguments->heat, "Print how often each variable was read instead")
        .takes_json("Print JSON", "--yaml")
        .tells(
            "Each proposal comes with the numbers that it follows from; what they do not tell is said. They "
            "were counted by all "
            "processes that had the pool open for writing since it got its hierarchy, and are kept beside it "
            "in POOL.heat.\n"
            "\n"
            "`pmemcpy advise POOL --yaml > better.yaml` and `pmemcpy tiers POOL better.yaml` try it, and "
            "begin to count anew.\n")
        .runs([arguments](bool json) { return advise_on(*arguments, json); });
}

}  // namespace pmemcpy::cli
