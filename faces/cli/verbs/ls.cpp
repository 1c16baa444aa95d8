#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/listing.hpp"
#include "cli/pool/names.hpp"
#include "cli/pool/open.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string pool;
    std::vector<std::string> words;
    std::string sort = "name";
    bool is_long = false;
    bool with_groups = false;
    bool reverse = false;
};

/// The largest and the newest first, as ls(1) has it; what is equal stays sorted by name.
void sort_by(const std::string& key, std::vector<Info>& infos) {
    if (key == "size") {
        const auto size = [](const Info& info) { return info.kind == VariableKind::group ? 0 : info.bytes; };
        std::stable_sort(infos.begin(), infos.end(),
                         [&](const Info& a, const Info& b) { return size(a) > size(b); });
    } else if (key == "time") {
        std::stable_sort(infos.begin(), infos.end(),
                         [](const Info& a, const Info& b) { return a.written_ns > b.written_ns; });
    }
}

void print_ids(const std::vector<std::string>& ids, bool json) {
    if (json) {
        fmt::print("{}\n", dump(ids));
    } else {
        for (const std::string& id : ids) fmt::print("{}\n", id);
    }
}

int ls(const Arguments& arguments, bool json) {
    const PMEM pmem = open_for_reading(arguments.pool);
    std::vector<std::string> ids = listed(pmem, arguments.words, arguments.with_groups);
    if (!arguments.is_long && arguments.sort == "name") {
        if (arguments.reverse) std::reverse(ids.begin(), ids.end());
        print_ids(ids, json);
        return exit_ok;
    }
    std::vector<Info> infos = existing(pmem, ids);
    sort_by(arguments.sort, infos);
    if (arguments.reverse) std::reverse(infos.begin(), infos.end());
    if (!arguments.is_long) {
        ids.clear();
        for (const Info& info : infos) ids.push_back(info.id);
        print_ids(ids, json);
    } else if (json) {
        auto list = nlohmann::ordered_json::array();
        for (const Info& info : infos) list.push_back(to_json(info));
        fmt::print("{}\n", dump(list));
    } else {
        print_listing(infos);
    }
    return exit_ok;
}

}  // namespace

void add_ls(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "ls", "List the variables in a pool, one id a line, those in groups too")
        .needs("POOL", arguments->pool, "The pool")
        .takes("WHAT", arguments->words,
               "Only ids that begin with this, or match it if it is a glob: `*`, `?` and `[a-z]` stay in a "
               "group, `**` goes "
               "into all; '*' lists the outermost only")
        .takes("-l,--long", arguments->is_long,
               "Kind, type, shape, blocks, size and time of the last write, too")
        .takes("-g,--groups", arguments->with_groups, "Groups, too")
        .takes_one_of("--sort", arguments->sort, {"name", "size", "time"},
                      "By name, the largest first, or the newest first (default: name)")
        .takes("-r,--reverse", arguments->reverse, "The other way round")
        .takes_json()
        .runs([arguments](bool json) { return ls(*arguments, json); });
}

}  // namespace pmemcpy::cli
