#include <fmt/core.h>

#include <memory>
#include <pmemcpy/query.hpp>

#include "cli/array/print.hpp"
#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/listing.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/sink.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string pool;
    std::string query;
    bool is_long = false;
    bool boxes = false;
    bool load = false;
    bool explain = false;
};

/// What a terminal or a table shows: a text without its quotes.
std::string shown(const std::optional<Literal>& value) {
    if (!value) return "-";
    if (const auto* text = std::get_if<std::string>(&value->value())) return printable(*text);
    return value->text();
}

Json to_json(const std::optional<Literal>& value) {
    if (!value) return nullptr;
    return std::visit(
        [&](const auto& known) -> Json {
            using T = std::decay_t<decltype(known)>;
            if constexpr (std::is_same_v<T, Dimensions>)
                return cli::to_json(known);
            else if constexpr (std::is_same_v<T, Time>)
                return Json::parse(value->text());
            else
                return known;
        },
        value->value());
}

int print_counts(const std::vector<Counted>& counts, const Query& query, bool json) {
    if (!query.counted_key()) {
        fmt::print("{}\n", counts.front().objects);
        return exit_ok;
    }
    if (json) {
        Json rows = Json::array();
        for (const Counted& row : counts)
            rows.push_back({{"value", to_json(row.value)}, {"objects", row.objects}});
        fmt::print("{}\n", dump(rows));
        return exit_ok;
    }
    Table table({{query.counted_key()->text()}, {"objects", Table::Align::right}});
    for (const Counted& row : counts) table.add({shown(row.value), std::to_string(row.objects)});
    if (!table.empty()) fmt::print("{}", table.text());
    return exit_ok;
}

Json to_json(const std::vector<Box>& boxes) {
    Json list = Json::array();
    for (const Box& box : boxes)
        list.push_back({{"offset", cli::to_json(box.offset)}, {"count", cli::to_json(box.count)}});
    return list;
}

/// Nothing when somebody has erased it since it was found.
std::optional<Info> info_of(const Found& found) {
    try {
        return found.info();
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
        return {};
    }
}

/// Of an array the boxes that were found, or all of it.
void print_content(const PMEM& pmem, const Found& found, const Info& info, bool json, Sink& sink) {
    if (info.kind == VariableKind::group) return;
    const Print print = json ? Print::json : Print::text;
    const auto head = [&](const std::string& box) {
        if (!json) sink.write("# " + printable(info.id) + (box.empty() ? "" : " " + box) + "\n");
    };
    if (info.kind == VariableKind::value) {
        if (!is_readable(info.type, info.serializer)) {
            fmt::print(stderr, "pmemcpy: {} is a {}, which only a program that knows it can read\n",
                       printable(info.id), info.type.name());
            return;
        }
        head("");
        return print_value(pmem, info.id, print, exact, sink);
    }
    std::vector<Box> boxes = found.boxes;
    if (boxes.empty()) boxes.push_back(Box::whole(info.dims));
    for (const Box& box : boxes) {
        head(to_string(box));
        print_array(pmem, info, box, {}, print, exact, sink, [](std::uint64_t) {});
    }
}

void print_one(const Found& found, const Arguments& arguments) {
    if (!arguments.boxes) {
        fmt::print("{}\n", found.id);
    } else if (found.boxes.empty()) {
        fmt::print("{}\t\n", found.id);
    } else {
        for (const Box& box : found.boxes) fmt::print("{}\t{}\n", found.id, to_string(box));
    }
}

int find(const Arguments& arguments, bool json) {
    const Query question = Query::parse(arguments.query);
    const PMEM pmem = open_for_reading(arguments.pool);
    if (arguments.explain) {
        fmt::print("{}", explain(pmem, question));
        return exit_ok;
    }
    if (question.is_count()) return print_counts(count(pmem, question), question, json);
    Matches matches = query(pmem, question);
    Json list = Json::array();
    std::vector<Info> infos;
    Sink sink("");
    for (const Found& found : matches) {
        if (!arguments.load && !json && !arguments.is_long) {
            print_one(found, arguments);
            continue;
        }
        const auto info = info_of(found);
        if (!info) continue;
        if (arguments.load) {
            print_content(pmem, found, *info, json, sink);
        } else if (json) {
            Json one = cli::to_json(*info);
            if (!found.boxes.empty()) one["boxes"] = to_json(found.boxes);
            list.push_back(std::move(one));
        } else {
            infos.push_back(*info);
        }
    }
    if (arguments.load) {
        sink.finish();
    } else if (json) {
        fmt::print("{}\n", dump(list));
    } else {
        print_listing(infos);
    }
    return exit_ok;
}

}  // namespace

void add_find(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "find", "List variables and groups that a query is true of")
        .needs("POOL", arguments->pool, "The pool")
        .takes("QUERY", arguments->query, "What to look for (default: everything)")
        .takes("-l,--long", arguments->is_long,
               "Kind, type, shape, blocks, size and time of the last write, too")
        .takes("--boxes", arguments->boxes,
               "Of arrays whose `value` is asked for also where: behind a tab, as cat takes it, a line for "
               "each block")
        .takes("--load", arguments->load, "What is stored in them, of arrays only the boxes that were found")
        .takes("--explain", arguments->explain,
               "Not what is found but how: what the index says, and how many objects have to be looked at")
        .takes_json()
        .tells(
            "A query compares attributes, and what is known of everything: name, group, kind, dtype, shape, "
            "rank, bytes, "
            "stored, blocks, codec, step, changed, min, max, value.\n"
            "\n"
            "  units = \"K\" and name ~ \"ocean/*\"       globs as of ls\n"
            "  run.author in (\"li\", \"wu\")             a member of a structure; a list\n"
            "  max > 300 or step in 10..20            or, and, not, ( )\n"
            "  changed > now - 30d                    also \"2026-10\", \"2026-10-05T12:30\"\n"
            "  exists(units) and not under \"old\"      what is in a group\n"
            "  value > 300                            of an array its elements: --boxes\n"
            "  dtype = \"float64\" order by bytes desc limit 10\n"
            "  kind = \"array\" count by run.author\n"
            "\n"
            "A comparison is true of what has such a thing, of a list if it is of one in it. An attribute "
            "that is called "
            "like one of the words is attr(\"min\").\n")
        .runs([arguments](bool json) { return find(*arguments, json); });
}

}  // namespace pmemcpy::cli
