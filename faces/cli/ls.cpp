#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "describe.hpp"
#include "element.hpp"
#include "exit_code.hpp"
#include "invocation.hpp"
#include "open.hpp"
#include "size.hpp"
#include "table.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string pool;
    std::string prefix;
    bool is_long = false;
    bool with_groups = false;
};

/// Others may erase what was just listed; then there is nothing to tell about it.
std::vector<Info> existing(const PMEM& pmem, const std::vector<std::string>& ids) {
    std::vector<Info> infos;
    infos.reserve(ids.size());
    for (const std::string& id : ids) {
        try {
            infos.push_back(pmem.info(id));
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;
        }
    }
    return infos;
}

/// A struct's type tells all its members; a table has room for the first.
std::string short_type(const Type& type) {
    constexpr std::size_t longest = 28;
    const std::string name = type.name();
    return name.size() <= longest ? name : name.substr(0, longest - 3) + "...";
}

void print_table(const std::vector<Info>& infos) {
    using Align = Table::Align;
    Table table({{"kind"},
                 {"type"},
                 {"shape"},
                 {"blocks", Align::right},
                 {"size", Align::right},
                 {"written"},
                 {"id"}});
    for (const Info& info : infos) {
        const bool is_group = info.kind == VariableKind::group;
        table.add({name_of(info.kind), is_group ? "-" : short_type(info.type), shape_text(info),
                   info.kind == VariableKind::array ? std::to_string(info.blocks) : "-",
                   is_group ? "-" : human_size(info.bytes), human_time(info.written_ns), info.id});
    }
    if (!table.empty()) fmt::print("{}", table.text());
}

int ls(const Arguments& arguments, bool json) {
    const PMEM pmem = open_for_reading(arguments.pool);
    std::vector<std::string> ids = pmem.ids(arguments.prefix);
    if (arguments.with_groups) {
        const std::vector<std::string> groups = pmem.groups(arguments.prefix);
        ids.insert(ids.end(), groups.begin(), groups.end());
        std::sort(ids.begin(), ids.end());
    }
    if (json) {
        auto list = nlohmann::ordered_json::array();
        if (arguments.is_long) {
            for (const Info& info : existing(pmem, ids)) list.push_back(to_json(info));
        } else {
            for (const std::string& id : ids) list.push_back(id);
        }
        fmt::print("{}\n", dump(list));
    } else if (arguments.is_long) {
        print_table(existing(pmem, ids));
    } else {
        for (const std::string& id : ids) fmt::print("{}\n", id);
    }
    return exit_ok;
}

}  // namespace

void add_ls(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "ls", "List the variables in a pool")
        .needs("POOL", arguments->pool, "The pool")
        .takes("PREFIX", arguments->prefix, "Only ids that begin with this")
        .takes("-l,--long", arguments->is_long,
               "Kind, type, shape, blocks, size and time of the last write, too")
        .takes("-g,--groups", arguments->with_groups, "Groups, too")
        .takes_json()
        .runs([arguments](bool json) { return ls(*arguments, json); });
}

}  // namespace pmemcpy::cli
