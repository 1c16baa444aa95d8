#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <pmemcpy/operations.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/size.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;
using Progress = OperationState::Progress;

struct Arguments {
    std::string action;
    std::string pool;
    std::vector<std::string> rest;
    std::optional<std::uint64_t> seconds;
    std::optional<std::string> memory;
    std::optional<std::uint64_t> bins;
    std::optional<std::string> codec;
};

std::vector<std::string> names_in(const Arguments& arguments) {
    return {arguments.rest.begin() + 1, arguments.rest.end()};
}

Hint hint_in(const PMEM& pmem, const Arguments& arguments) {
    Hint hint;
    hint.mask = operation_mask(pmem, names_in(arguments));
    if (arguments.bins) {
        if (*arguments.bins > UINT32_MAX)
            throw Error(Code::invalid_argument, "--bins: a histogram has at most 1048576");
        hint.bins = static_cast<std::uint32_t>(*arguments.bins);
    }
    if (arguments.codec) hint.codec = parse_codec(*arguments.codec);
    return hint;
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
    return text;
}

Json to_json(const PMEM& pmem, const OperationState& state) {
    return {{"id", state.id},
            {"operations", operation_names(pmem, state.hint.mask)},
            {"progress", name_of(state.progress)},
            {"trouble", state.trouble}};
}

int list(const Arguments& arguments, bool json) {
    const PMEM pmem = open_for_reading(arguments.pool);
    const std::vector<OperationInfo> functions = registered_operations(pmem);
    const std::vector<OperationState> states = operation_states(pmem);
    if (json) {
        Json all = {{"functions", Json::array()}, {"hints", Json::array()}};
        for (const OperationInfo& one : functions) {
            all["functions"].push_back({{"name", one.name},
                                        {"bit", operation::first_registered + one.number},
                                        {"library", one.in_process ? Json(nullptr) : Json(one.library)},
                                        {"seconds", one.limits.seconds},
                                        {"bytes", one.limits.bytes},
                                        {"trouble", one.trouble}});
        }
        for (const OperationState& state : states) all["hints"].push_back(to_json(pmem, state));
        fmt::print("{}\n", dump(all));
        return exit_ok;
    }
    Table registered({{"function"}, {"bit", Table::Align::right}, {"called in"}});
    for (const OperationInfo& one : functions) {
        registered.add({one.name, std::to_string(operation::first_registered + one.number),
                        one.in_process ? "the process that has it" : "a process of its own"});
    }
    if (!registered.empty()) fmt::print("{}", registered.text());
    Table hinted({{"variable"}, {"operations"}, {"progress"}});
    for (const OperationState& state : states) {
        hinted.add({state.id, joined(operation_names(pmem, state.hint.mask)), name_of(state.progress)});
    }
    if (!hinted.empty()) fmt::print("{}", hinted.text());
    for (const OperationInfo& one : functions) {
        if (!one.trouble.empty() && !one.in_process) note("{}", printable(one.trouble));
    }
    for (const OperationState& state : states) {
        if (!state.trouble.empty()) note("{}: {}", printable(state.id), printable(state.trouble));
    }
    return exit_ok;
}

int add(const Arguments& arguments, bool json) {
    PMEM pmem = open_for_writing(arguments.pool);
    OperationLimits limits;
    if (arguments.seconds) limits.seconds = static_cast<double>(*arguments.seconds);
    if (arguments.memory) limits.bytes = parse_size(*arguments.memory);
    const std::uint32_t mask = add_operation(pmem, arguments.rest[0], arguments.rest[1], limits);
    if (json) {
        fmt::print("{}\n", dump({{"name", arguments.rest[0]}, {"mask", mask}}));
    } else {
        fmt::print("{} is registered; its mask is {:#x}\n", arguments.rest[0], mask);
    }
    return exit_ok;
}

int remove(const Arguments& arguments, bool json) {
    PMEM pmem = open_for_writing(arguments.pool);
    remove_operation(pmem, arguments.rest[0]);
    if (json) fmt::print("{}\n", dump({{"removed", arguments.rest[0]}}));
    return exit_ok;
}

int run(const Arguments& arguments, bool json) {
    PMEM pmem = open_for_writing(arguments.pool);
    const auto made = run_operations(pmem, arguments.rest[0], hint_in(pmem, arguments));
    if (json) {
        fmt::print("{}\n", dump({{"made", made}}));
    } else {
        for (const std::string& id : made) fmt::print("{}\n", printable(id));
    }
    return exit_ok;
}

int set(const Arguments& arguments, bool json) {
    PMEM pmem = open_for_writing(arguments.pool);
    hint(pmem, arguments.rest[0], hint_in(pmem, arguments));
    wait_for_operations(pmem);
    const OperationState state = operation_state(pmem, arguments.rest[0]);
    if (json) fmt::print("{}\n", dump(to_json(pmem, state)));
    if (state.progress != Progress::failed) return exit_ok;
    if (!json) note("{}: {}", printable(state.id), printable(state.trouble));
    return exit_damage;
}

int wait(const Arguments& arguments, bool json) {
    PMEM pmem = open_for_writing(arguments.pool);
    wait_for_operations(pmem);
    Json all = Json::array();
    int status = exit_ok;
    for (const OperationState& state : operation_states(pmem)) {
        all.push_back(to_json(pmem, state));
        if (state.progress == Progress::failed) status = exit_damage;
        if (state.progress == Progress::failed && !json)
            note("{}: {}", printable(state.id), printable(state.trouble));
    }
    if (json) fmt::print("{}\n", dump(all));
    return status;
}

struct Action {
    std::string_view name;
    int (*act)(const Arguments&, bool);
    std::size_t least;
    std::size_t most;
    const char* wants;
};

constexpr std::size_t any = SIZE_MAX;
constexpr std::array<Action, 6> actions = {{{"add", add, 2, 2, "NAME FILE"},
                                            {"hint", set, 1, any, "ID [OPERATION...]"},
                                            {"list", list, 0, 0, "nothing else"},
                                            {"remove", remove, 1, 1, "NAME"},
                                            {"run", run, 2, any, "ID OPERATION..."},
                                            {"wait", wait, 0, 0, "nothing else"}}};

/// An option that the action does not know is a mistake about what will happen.
void check_options(const Arguments& arguments) {
    const auto refuse = [&](bool is_given, const char* what) {
        if (is_given)
            throw Error(Code::invalid_argument, fmt::format("op {} takes no {}", arguments.action, what));
    };
    const bool operates = arguments.action == "run" || arguments.action == "hint";
    refuse(!operates && arguments.bins, "--bins");
    refuse(!operates && arguments.codec, "--codec");
    refuse(arguments.action != "add" && arguments.seconds, "--seconds");
    refuse(arguments.action != "add" && arguments.memory, "--memory");
}

int op(const Arguments& arguments, bool json) {
    for (const Action& action : actions) {
        if (action.name != arguments.action) continue;
        check_options(arguments);
        const std::size_t given = arguments.rest.size();
        if (given < action.least || given > action.most)
            throw Error(Code::invalid_argument,
                        fmt::format("op {} POOL wants {}", action.name, action.wants));
        return action.act(arguments, json);
    }
    throw Error(Code::invalid_argument,
                fmt::format("there is no `op {}`; there are add, hint, list, remove, run and wait",
                            arguments.action));
}

}  // namespace

void add_op(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "op", "Have operations done with what is stored, and register one's own")
        .needs("add|hint|list|remove|run|wait", arguments->action, "What to do")
        .needs("POOL", arguments->pool, "The pool")
        .takes("ARGUMENT", arguments->rest, "See below")
        .takes("--seconds", arguments->seconds, "With add: how long a call may take (60)")
        .takes("--memory", arguments->memory,
               "With add: how much it may take beside its input (256 MiB and four times the input)")
        .takes("--bins", arguments->bins, "With hint and run: of a histogram (64)")
        .takes("--codec", arguments->codec, "With hint and run: to compress with (lz4)")
        .takes_json()
        .tells(
            "  pmemcpy op hint POOL ID sort compress    whenever something is stored into ID; no operation: "
            "none "
            "any more\n"
            "  pmemcpy op run POOL ID max histogram     now, once\n"
            "  pmemcpy op add POOL NAME f.cpp           a function; from a source file, or a shared library\n"
            "  pmemcpy op remove POOL NAME\n"
            "  pmemcpy op list POOL                     the functions, and how far it is with each variable\n"
            "  pmemcpy op wait POOL                     do what is not done yet\n"
            "\n"
            "Operations: decompress, min, max, sum, histogram, deduplicate, sort, functions by their names, "
            "compress, "
            "persist; they are done in this order. "
            "Who has the pool open does them in the background. docs/operations.md has more.\n")
        .runs([arguments](bool json) { return op(*arguments, json); });
}

}  // namespace pmemcpy::cli
