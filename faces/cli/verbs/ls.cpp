#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <map>
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
#include "cli/pool/pools.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/size.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string pool;
    std::vector<std::string> words;
    std::string sort = "name";
    bool is_long = false;
    bool with_values = false;
    bool with_groups = false;
    bool with_notes = false;
    bool reverse = false;
};

/// In the order in which things came into the pool; of an import that is the order of the file.
void sort_by_creation(const PMEM& pmem, std::vector<Info>& infos) {
    std::map<std::string, std::uint64_t> created;
    for (const Info& info : infos) {
        try {
            created[info.id] = pmem.creation(info.id).created_ns;
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;
        }
    }
    std::stable_sort(infos.begin(), infos.end(),
                     [&](const Info& a, const Info& b) { return created[a.id] < created[b.id]; });
}

/// The largest and the newest first, as ls(1) has it; what is equal stays sorted by name.
void sort_by(const std::string& key, const PMEM& pmem, std::vector<Info>& infos) {
    if (key == "created") return sort_by_creation(pmem, infos);
    if (key == "size") {
        const auto size = [](const Info& info) { return info.kind == VariableKind::group ? 0 : info.bytes; };
        std::stable_sort(infos.begin(), infos.end(),
                         [&](const Info& a, const Info& b) { return size(a) > size(b); });
    } else if (key == "time") {
        std::stable_sort(infos.begin(), infos.end(),
                         [](const Info& a, const Info& b) { return a.written_ns > b.written_ns; });
    }
}

struct Row {
    std::string id;
    std::vector<Attribute> attributes;
};

/// Others may erase what was just listed; then there is nothing to tell about it.
std::vector<Row> rows_of(const PMEM& pmem, const std::vector<std::string>& ids, bool with_notes) {
    std::vector<Row> rows;
    for (const std::string& id : ids) {
        try {
            rows.push_back({id, attributes_of(pmem, id, with_notes)});
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;
        }
    }
    return rows;
}

Json row_json(const Row& row) {
    Json values = Json::object();
    for (const Attribute& attribute : row.attributes) values[attribute.name] = attribute.json;
    return {{"id", row.id}, {"values", std::move(values)}};
}

/// A column for each attribute that any of them has.
void print_values(const std::vector<Row>& rows) {
    std::set<std::string> names;
    for (const Row& row : rows) {
        for (const Attribute& attribute : row.attributes) names.insert(attribute.name);
    }
    std::vector<Table::Column> columns = {{"id"}};
    for (const std::string& name : names) columns.push_back({name});
    Table table(columns);
    for (const Row& row : rows) {
        std::vector<std::string> cells = {row.id};
        for (const std::string& name : names) {
            const auto found =
                std::find_if(row.attributes.begin(), row.attributes.end(),
                             [&](const Attribute& attribute) { return attribute.name == name; });
            cells.push_back(found == row.attributes.end() ? "-" : found->text);
        }
        table.add(std::move(cells));
    }
    if (!table.empty()) fmt::print("{}", table.text());
}

/// What is in one pool, in the order that is wanted.
std::vector<std::string> ids_of(const PMEM& pmem, const Arguments& arguments, bool with_words) {
    Listed found =
        listed(pmem, with_words ? arguments.words : std::vector<std::string>(), arguments.with_groups);
    for (const std::string& word : found.nothing)
        note("nothing in {} begins with or matches '{}'", arguments.pool, printable(word));
    if (!found.nothing.empty() && found.ids.empty())
        throw Error(Code::not_found, "nothing to list; `pmemcpy ls " + arguments.pool + "` lists all");
    return std::move(found.ids);
}

Json list_json(const PMEM& pmem, const std::vector<std::string>& ids, const std::vector<Info>& infos,
               const Arguments& arguments) {
    Json list = Json::array();
    if (arguments.with_values) {
        for (const Row& row : rows_of(pmem, ids, arguments.with_notes)) list.push_back(row_json(row));
    } else if (arguments.is_long) {
        for (const Info& info : infos) list.push_back(to_json(info));
    } else {
        list = ids;
    }
    return list;
}

/// Of one pool what words list, or all; as JSON, which is to be printed, or printed at once.
Json list_pool(const std::string& path, const Arguments& arguments, bool with_words, bool json) {
    const PMEM pmem = open_for_reading(path);
    std::vector<std::string> ids = ids_of(pmem, arguments, with_words);
    std::vector<Info> infos;
    if (arguments.is_long || arguments.sort != "name") {
        infos = existing(pmem, ids);
        sort_by(arguments.sort, pmem, infos);
        ids.clear();
        for (const Info& info : infos) ids.push_back(info.id);
    }
    if (arguments.reverse) {
        std::reverse(infos.begin(), infos.end());
        std::reverse(ids.begin(), ids.end());
    }
    if (json) return list_json(pmem, ids, infos, arguments);
    if (arguments.with_values) {
        print_values(rows_of(pmem, ids, arguments.with_notes));
    } else if (arguments.is_long) {
        print_listing(infos);
    } else {
        for (const std::string& id : ids) fmt::print("{}\n", printable(id));
    }
    return {};
}

/// The pools that lie in a directory: how much of how much is in use.
int list_folder(const std::string& folder, bool json) {
    Json list = Json::array();
    Table table({{"used", Table::Align::right},
                 {"limit", Table::Align::right},
                 {"variables", Table::Align::right},
                 {"pool"}});
    const int status = look_into(pools_named({folder}), [&](const PoolOfMany& pool, const PMEM& pmem) {
        const PoolInfo info = pmem.info();
        list.push_back({{"pool", pool.path},
                        {"used_bytes", used_bytes(info)},
                        {"max_bytes", info.max_bytes},
                        {"variables", info.variables}});
        table.add({human_size(used_bytes(info)), human_size(info.max_bytes), std::to_string(info.variables),
                   pool.path});
        return true;
    });
    if (json)
        fmt::print("{}\n", dump(list));
    else if (!table.empty())
        fmt::print("{}", table.text());
    return status;
}

/// Words behind the first that are pools themselves, and not ids: then each is listed.
bool are_pools(const Arguments& arguments) {
    if (arguments.words.empty() || !std::all_of(arguments.words.begin(), arguments.words.end(), is_place))
        return false;
    const PMEM pmem = open_for_reading(arguments.pool);
    return !listed(pmem, arguments.words, true).nothing.empty();
}

int list_pools(const Arguments& arguments, bool json) {
    std::vector<std::string> words = {arguments.pool};
    words.insert(words.end(), arguments.words.begin(), arguments.words.end());
    Json all = Json::object();
    bool is_first = true;
    int status = exit_ok;
    for (const PoolOfMany& pool : pools_named(words)) {
        try {
            if (!json) fmt::print("{}{}:\n", is_first ? "" : "\n", printable(pool.path));
            is_first = false;
            all[pool.path] = list_pool(pool.path, arguments, false, json);
        } catch (const Error& error) {
            note("{}", error.what());
            status = exit_code(error.kind());
        }
    }
    if (json) fmt::print("{}\n", dump(all));
    return status;
}

int ls(const Arguments& arguments, bool json) {
    if (arguments.is_long && arguments.with_values)
        throw Error(Code::invalid_argument, "ls --long --values: ask for one of the two");
    if (arguments.words.empty() && is_folder(arguments.pool)) return list_folder(arguments.pool, json);
    if (are_pools(arguments)) return list_pools(arguments, json);
    const Json list = list_pool(arguments.pool, arguments, true, json);
    if (json) fmt::print("{}\n", dump(list));
    return exit_ok;
}

}  // namespace

void add_ls(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "ls", "List the variables in a pool, one id a line, those in groups too")
        .needs("POOL", arguments->pool,
               "The pool; of a directory the pools in it are listed, with how much of how much is in use")
        .takes("WHAT", arguments->words,
               "Only ids that begin with this, or match it if it is a glob: `*`, `?` and `[a-z]` stay in a "
               "group, `**` goes "
               "into all; '*' lists the outermost only. More pools: each is listed")
        .takes("-l,--long", arguments->is_long,
               "Kind, type, shape, blocks, size and time of the last write, too")
        .takes("--values", arguments->with_values, "The values of their attributes, a column for each")
        .takes("-a,--all", arguments->with_notes,
               "With --values also `_exchange`, in which an import leaves what an export of the same format "
               "needs")
        .takes("-g,--groups", arguments->with_groups, "Groups, too")
        .takes_one_of("--sort", arguments->sort, {"name", "size", "time", "created"},
                      "By name, the largest first, the newest first, or as they were created, which of an "
                      "import is the "
                      "order in the file (default: name)")
        .takes("-r,--reverse", arguments->reverse, "The other way round")
        .takes_json()
        .runs([arguments](bool json) { return ls(*arguments, json); });
}

}  // namespace pmemcpy::cli
