#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/attributes.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/listing.hpp"
#include "cli/pool/names.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

struct Arguments {
    std::string pool;
    std::vector<std::string> words;
    std::string sort = "name";
    bool is_long = false;
    bool with_values = false;
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

struct Row {
    std::string id;
    std::vector<Attribute> attributes;
};

/// Others may erase what was just listed; then there is nothing to tell about it.
std::vector<Row> rows_of(const PMEM& pmem, const std::vector<std::string>& ids) {
    std::vector<Row> rows;
    for (const std::string& id : ids) {
        try {
            rows.push_back({id, attributes_of(pmem, id)});
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;
        }
    }
    return rows;
}

nlohmann::ordered_json row_json(const Row& row) {
    auto values = nlohmann::ordered_json::object();
    for (const Attribute& attribute : row.attributes) values[attribute.name] = attribute.json;
    return {{"id", row.id}, {"values", std::move(values)}};
}

/// A column for each attribute that any of them has.
void print_values(const PMEM& pmem, const std::vector<std::string>& ids, bool json) {
    const std::vector<Row> rows = rows_of(pmem, ids);
    if (json) {
        auto list = nlohmann::ordered_json::array();
        for (const Row& row : rows) list.push_back(row_json(row));
        fmt::print("{}\n", dump(list));
        return;
    }
    std::set<std::string> names;
    for (const Row& row : rows) {
        for (const Attribute& attribute : row.attributes) names.insert(attribute.name);
    }
    std::vector<Table::Column> columns = {{"id"}};
    for (const std::string& name : names) columns.push_back({printable(name)});
    Table table(columns);
    for (const Row& row : rows) {
        std::vector<std::string> cells = {printable(row.id)};
        for (const std::string& name : names) {
            const auto found =
                std::find_if(row.attributes.begin(), row.attributes.end(),
                             [&](const Attribute& attribute) { return attribute.name == name; });
            cells.push_back(found == row.attributes.end() ? "-" : printable(found->text));
        }
        table.add(std::move(cells));
    }
    if (!table.empty()) fmt::print("{}", table.text());
}

int ls(const Arguments& arguments, bool json) {
    if (arguments.is_long && arguments.with_values)
        throw Error(Code::invalid_argument, "ls --long --values: ask for one of the two");
    const PMEM pmem = open_for_reading(arguments.pool);
    std::vector<std::string> ids = listed(pmem, arguments.words, arguments.with_groups);
    if (!arguments.is_long && arguments.sort == "name") {
        if (arguments.reverse) std::reverse(ids.begin(), ids.end());
        arguments.with_values ? print_values(pmem, ids, json) : print_ids(ids, json);
        return exit_ok;
    }
    std::vector<Info> infos = existing(pmem, ids);
    sort_by(arguments.sort, infos);
    if (arguments.reverse) std::reverse(infos.begin(), infos.end());
    if (!arguments.is_long) {
        ids.clear();
        for (const Info& info : infos) ids.push_back(info.id);
        arguments.with_values ? print_values(pmem, ids, json) : print_ids(ids, json);
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
        .takes("--values", arguments->with_values, "The values of their attributes, a column for each")
        .takes("-g,--groups", arguments->with_groups, "Groups, too")
        .takes_one_of("--sort", arguments->sort, {"name", "size", "time"},
                      "By name, the largest first, or the newest first (default: name)")
        .takes("-r,--reverse", arguments->reverse, "The other way round")
        .takes_json()
        .runs([arguments](bool json) { return ls(*arguments, json); });
}

}  // namespace pmemcpy::cli
