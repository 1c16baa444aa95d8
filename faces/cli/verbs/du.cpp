#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/hierarchy.hpp"
#include "cli/pool/names.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/size.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string pool;
    std::vector<std::string> words;
    std::optional<std::uint64_t> depth;
    std::string sort = "tree";
    bool summarize = false;
    bool in_bytes = false;
};

/// What one line tells of.
struct Space {
    std::string id;
    bool is_group = false;
    std::uint64_t stored_bytes = 0;  // what its blocks and values take
    std::uint64_t elements_bytes =
        0;  // what they would take uncompressed: of an array with older blocks more than its size

    void add(const Space& other) {
        stored_bytes += other.stored_bytes;
        elements_bytes += other.elements_bytes;
    }
    bool is_compressed() const { return stored_bytes < elements_bytes && stored_bytes > 0; }
    double ratio() const { return static_cast<double>(elements_bytes) / static_cast<double>(stored_bytes); }
};

Space space_of(const PMEM& pmem, const Info& info) {
    Space space{info.id, false, info.stored_bytes, info.stored_bytes};
    if (info.kind != VariableKind::array) return space;
    try {
        space.stored_bytes = space.elements_bytes = 0;
        for (const BlockInfo& block : pmem.blocks(info.id)) {
            space.stored_bytes += block.stored_bytes;
            space.elements_bytes += block.bytes;
        }
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;  // erased just now
    }
    return space;
}

/// Adds the line of a branch behind those of what is in it, as du(1) has them; returns the branch's own.
Space measure(const PMEM& pmem, const Branch& branch, std::uint64_t depth, std::vector<Space>& lines) {
    Space sum{branch.id.empty() ? "/" : branch.id, branch.is_group(), 0, 0};
    if (!sum.is_group) sum = space_of(pmem, *branch.info);
    for (const Branch& inner : branch.inside) {
        std::vector<Space> deeper;
        sum.add(measure(pmem, inner, depth == 0 ? 0 : depth - 1, depth == 0 ? deeper : lines));
    }
    lines.push_back(sum);
    return sum;
}

std::vector<Space> measure(const PMEM& pmem, const Arguments& arguments) {
    std::vector<std::string> ids = {""};
    if (!arguments.words.empty()) ids = outermost(named(pmem, arguments.words, true));
    Progress progress("du", Unit::variables);
    std::vector<Space> lines;
    for (const std::string& id : ids) {
        const Branch branch = hierarchy(pmem, id, progress);
        measure(pmem, branch, arguments.summarize ? 0 : arguments.depth.value_or(UINT64_MAX), lines);
    }
    if (arguments.sort == "name") {
        std::stable_sort(lines.begin(), lines.end(),
                         [](const Space& a, const Space& b) { return a.id < b.id; });
    } else if (arguments.sort == "size") {
        std::stable_sort(lines.begin(), lines.end(),
                         [](const Space& a, const Space& b) { return a.stored_bytes > b.stored_bytes; });
    }
    return lines;
}

Json lines_json(const std::vector<Space>& lines) {
    Json list = Json::array();
    for (const Space& line : lines) {
        Json entry = {{"id", line.id},
                      {"is_group", line.is_group},
                      {"stored_bytes", line.stored_bytes},
                      {"uncompressed_bytes", line.elements_bytes}};
        if (line.is_compressed()) entry["ratio"] = line.ratio();
        list.push_back(entry);
    }
    return list;
}

void print_lines(const std::vector<Space>& lines, bool in_bytes) {
    const auto size = [&](std::uint64_t bytes) {
        return in_bytes ? std::to_string(bytes) : human_size(bytes);
    };
    using Align = Table::Align;
    Table table({{"stored", Align::right}, {"uncompressed", Align::right}, {"ratio", Align::right}, {"id"}});
    for (const Space& line : lines) {
        table.add({size(line.stored_bytes), size(line.elements_bytes),
                   line.is_compressed() ? fmt::format("{:.2f}", line.ratio()) : "-",
                   line.id + (line.is_group && line.id != "/" ? "/" : "")});
    }
    fmt::print("{}", table.text());
}

int du(const Arguments& arguments, bool json) {
    if (arguments.summarize && arguments.depth) {
        throw Error(Code::invalid_argument, "du -s is du -d 0: ask for one of the two");
    }
    const PMEM pmem = open_for_reading(arguments.pool);
    const std::vector<Space> lines = measure(pmem, arguments);
    const PoolInfo pool = pmem.info();
    if (json) {
        const Json answer = {{"entries", lines_json(lines)},
                             {"data_bytes", pool.data_bytes},
                             {"metadata_bytes", pool.metadata_bytes},
                             {"free_bytes", pool.free_bytes},
                             {"allocated_bytes", pool.allocated_bytes}};
        fmt::print("{}\n", dump(answer));
        return exit_ok;
    }
    print_lines(lines, arguments.in_bytes);
    if (arguments.words.empty() && !arguments.in_bytes) {
        fmt::print(
            "the pool: {} allocated: {} data, {} metadata, {} free, the rest tables and room in chunks "
            "begun\n",
            human_size(pool.allocated_bytes), human_size(pool.data_bytes), human_size(pool.metadata_bytes),
            human_size(pool.free_bytes));
    }
    return exit_ok;
}

}  // namespace

void add_du(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "du", "Tell how much space variables and groups take")
        .needs("POOL", arguments->pool, "The pool")
        .takes("WHAT", arguments->words,
               "Only these variables and groups: ids, or globs as of ls (default: the pool, /)")
        .takes("-s,--summarize", arguments->summarize, "One line for each WHAT")
        .takes("-d,--depth", arguments->depth,
               "No lines for what lies deeper in groups; it counts all the same")
        .takes("-b,--bytes", arguments->in_bytes, "Bytes, and nothing but the list")
        .takes_one_of("--sort", arguments->sort, {"tree", "name", "size"},
                      "What is in a group before the group, by name, or the largest first (default: tree)")
        .takes_json()
        .tells(
            "What counts is the bytes of values and of blocks as they are stored, with older blocks that "
            "newer ones cover "
            "only in part (`pmemcpy compact` frees those of which nothing is left to see). Ids, attributes, "
            "records, "
            "versions that wait to be freed and what space is rounded up to do not count; of them all, the "
            "line about the "
            "pool tells. The ratio is that of compression: of what is uncompressed to what is stored.\n")
        .runs([arguments](bool json) { return du(*arguments, json); });
}

}  // namespace pmemcpy::cli
