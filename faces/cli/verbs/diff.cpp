#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/diff/diff_variable.hpp"
#include "cli/diff/findings.hpp"
#include "cli/pool/names.hpp"
#include "cli/pool/open.hpp"
#include "cli/pool/place.hpp"
#include "cli/terminal/progress.hpp"

namespace pmemcpy::cli {

namespace {

constexpr std::string_view pool_id = "/";

struct Arguments {
    std::string a;
    std::string b;
    double relative = 0;
    double absolute = 0;
    std::uint64_t limit = 10;
    bool nan_differs = false;
    bool quiet = false;
};

Criteria criteria_of(const Arguments& arguments) {
    for (const double tolerance : {arguments.relative, arguments.absolute}) {
        if (std::isnan(tolerance) || tolerance < 0)
            throw Error(Code::invalid_argument,
                        fmt::format("diff: a tolerance of {} makes no sense; it is at least 0", tolerance));
    }
    return {{arguments.relative, arguments.absolute, arguments.nan_differs}, arguments.limit};
}

std::string id_of(const Place& place) {
    std::string id = place.id;
    while (!id.empty() && id.back() == '/') id.pop_back();
    return id.empty() ? std::string(pool_id) : id;
}

bool is_same_pool(const std::string& a, const std::string& b) {
    std::error_code ignored;
    return a == b || std::filesystem::equivalent(a, b, ignored);
}

bool is_group(const Compared& side) {
    return side.id == pool_id || side.pmem.info(side.id).kind == VariableKind::group;
}

std::string inside(const Compared& side, const std::string& name) {
    return side.id == pool_id ? name : side.id + "/" + name;
}

/// What is in a group, by its name there.
std::set<std::string> names_in(const Compared& group) {
    const std::string prefix = inside(group, "");
    std::set<std::string> names;
    for (const std::string& id : group.pmem.ids(prefix)) names.insert(id.substr(prefix.size()));
    for (const std::string& id : group.pmem.groups(prefix)) names.insert(id.substr(prefix.size()));
    return names;
}

/// Tells what is in one group and not in the other; of a group that is not, nothing more.
void tell_of_more(const std::set<std::string>& names, const std::set<std::string>& others,
                  const Compared& side, Findings& findings) {
    std::vector<std::string> more;
    std::ranges::set_difference(names, others, std::back_inserter(more));
    for (const std::string& name : outermost(more))
        findings.add(name, "only_in", {{"only_in", side.label}}, "only in " + side.label);
}

/// Two of one name, with what is known of them, so that it is known how much there is to compare.
struct Common {
    Pair pair;
    Info a;
    Info b;
};

void compare_all(const std::vector<Common>& all, const Criteria& criteria, Findings& findings,
                 Progress& progress) {
    std::uint64_t all_bytes = 0;
    std::uint64_t done_bytes = 0;
    for (const Common& common : all) all_bytes += common.a.bytes;
    for (const Common& common : all) {
        if (findings.is_enough()) return;
        compare_variables(common.pair, common.a, common.b, criteria, findings, [&](std::uint64_t bytes) {
            done_bytes += bytes;
            progress.show(done_bytes, all_bytes);
        });
    }
}

void compare_groups(const Pair& pair, const Criteria& criteria, Findings& findings, Progress& progress) {
    const std::set<std::string> in_a = names_in(pair.a);
    const std::set<std::string> in_b = names_in(pair.b);
    tell_of_more(in_a, in_b, pair.a, findings);
    tell_of_more(in_b, in_a, pair.b, findings);
    compare_attributes(pair, criteria, findings);
    if (findings.is_enough()) return;
    std::vector<Common> all;
    for (const std::string& name : in_a) {
        if (!in_b.contains(name)) continue;
        const Pair inner{name,
                         {pair.a.label, pair.a.pmem, inside(pair.a, name)},
                         {pair.b.label, pair.b.pmem, inside(pair.b, name)}};
        all.push_back({inner, inner.a.pmem.info(inner.a.id), inner.b.pmem.info(inner.b.id)});
    }
    compare_all(all, criteria, findings, progress);
}

int diff(const Arguments& arguments, bool json) {
    const Criteria criteria = criteria_of(arguments);
    const Place place_a = parse_place(arguments.a);
    const Place place_b = parse_place(arguments.b);
    const PMEM pool_a = open_for_reading(place_a.pool);
    std::optional<PMEM> pool_b;  // none if that is the same one, which a process need not open twice
    if (!is_same_pool(place_a.pool, place_b.pool)) pool_b = open_for_reading(place_b.pool);
    const Compared a{arguments.a, pool_a, id_of(place_a)};
    const Compared b{arguments.b, pool_b ? *pool_b : pool_a, id_of(place_b)};
    const Pair pair{a.id == b.id ? a.id : a.id + " and " + b.id, a, b};

    Progress progress("diff");
    using Form = Findings::Form;
    Findings findings(arguments.quiet ? Form::quiet : json ? Form::json : Form::text, progress);
    if (is_group(a) && is_group(b)) {
        compare_groups(pair, criteria, findings, progress);
    } else if (is_group(a) || is_group(b)) {
        const auto kind = [](const Compared& side) { return is_group(side) ? "a group" : "a variable"; };
        findings.add(pair.name, "kind", {{"a", kind(a)}, {"b", kind(b)}},
                     fmt::format("{} and {}", kind(a), kind(b)));
    } else {
        compare_all({{pair, a.pmem.info(a.id), b.pmem.info(b.id)}}, criteria, findings, progress);
    }
    progress.hide();
    findings.finish();
    return findings.any() ? exit_different : exit_ok;
}

}  // namespace

void add_diff(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "diff", "Tell where two pools, groups or variables differ")
        .needs("A", arguments->a, "POOL, or POOL:ID for a group or variable in it")
        .needs("B", arguments->b, "The same")
        .takes("--rtol", arguments->relative,
               "How far apart equal numbers may be, relative to the larger one (default: 0)")
        .takes("--atol", arguments->absolute, "How far apart equal numbers may be, besides (default: 0)")
        .takes("--nan-differs", arguments->nan_differs, "NaN differs from NaN; else it is the same")
        .takes("--limit", arguments->limit, "How many places to list where an array differs (default: 10)")
        .takes("-q,--quiet", arguments->quiet,
               "No output, only the exit status; stops at the first difference")
        .takes_json("Print JSON", "--quiet")
        .answers_with_one()
        .tells(
            "Compared are ids, kinds, types, shapes, attributes and values. How something is stored is no "
            "difference: in "
            "which order, blocks, codec or step, when and by whom. Two numbers are equal if they are no "
            "farther apart than "
            "atol + rtol * the larger of their magnitudes; for complex numbers it is the distance that "
            "counts. Text, "
            "times and enumerations must be the same. Elements that nobody has stored are equal to each "
            "other.\n"
            "\n"
            "What is a path as a whole is a pool, also with colons in it; else the pool is the longest part "
            "before a colon "
            "that is one.\n"
            "\n"
            "The exit status is 0 if nothing differs, 1 if something does, and 2 or more for trouble; what "
            "is not found is "
            "2 here.\n")
        .runs([arguments](bool json) { return diff(*arguments, json); });
}

}  // namespace pmemcpy::cli
