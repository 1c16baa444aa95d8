#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <pmemcpy/query.hpp>

#include "cli/array/print.hpp"
#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/everywhere.hpp"
#include "cli/pool/listing.hpp"
#include "cli/pool/open.hpp"
#include "cli/pool/place.hpp"
#include "cli/terminal/sink.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string pool;
    std::string query;
    bool everywhere = false;
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
            else if constexpr (std::is_same_v<T, Parameter>)
                return nullptr;  // which no answer is
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
void print_content(const PMEM& pmem, const std::string& name, const Found& found, const Info& info, bool json,
                   Sink& sink) {
    if (info.kind == VariableKind::group) return;
    const Print print = json ? Print::json : Print::text;
    const auto head = [&](const std::string& box) {
        if (!json) sink.write("# " + printable(name) + (box.empty() ? "" : " " + box) + "\n");
    };
    if (info.kind == VariableKind::value) {
        if (!is_readable(info.type, info.serializer)) {
            fmt::print(stderr, "pmemcpy: {} is a {}, which only a program that knows it can read\n",
                       printable(name), info.type.name());
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

void print_one(const std::string& name, const Found& found, const Arguments& arguments) {
    if (!arguments.boxes) {
        fmt::print("{}\n", name);
    } else if (found.boxes.empty()) {
        fmt::print("{}\t\n", name);
    } else {
        for (const Box& box : found.boxes) fmt::print("{}\t{}\n", name, to_string(box));
    }
}

/// What is found, as it is found: in one pool or in many.
class Answer {
public:
    Answer(const Arguments& arguments, bool json) : arguments_(arguments), json_(json), sink_("") {}

    /// `name` is what the user can call it by; `place` is put in front of what JSON tells of it.
    void add(const PMEM& pmem, const std::string& name, const Json& place, const Found& found) {
        if (!arguments_.load && !json_ && !arguments_.is_long) return print_one(name, found, arguments_);
        auto info = info_of(found);
        if (!info) return;
        if (arguments_.load) {
            print_content(pmem, name, found, *info, json_, sink_);
        } else if (json_) {
            Json one = place;
            one.update(cli::to_json(*info));
            if (!found.boxes.empty()) one["boxes"] = to_json(found.boxes);
            list_.push_back(std::move(one));
        } else {
            info->id = name;
            infos_.push_back(std::move(*info));
        }
    }
    void finish() {
        if (arguments_.load) {
            sink_.finish();
        } else if (json_) {
            fmt::print("{}\n", dump(list_));
        } else {
            print_listing(infos_);
        }
    }

private:
    const Arguments& arguments_;
    bool json_;
    Sink sink_;
    Json list_ = Json::array();
    std::vector<Info> infos_;
};

int count_everywhere(const Query& question, bool json) {
    std::vector<Counted> all;
    for_each_pool([&](const Namespace&, const NamespacePool&, const PMEM& pmem) {
        for (Counted& row : count(pmem, question)) {
            const auto same = std::find_if(all.begin(), all.end(),
                                           [&](const Counted& known) { return known.value == row.value; });
            if (same == all.end()) {
                all.push_back(std::move(row));
            } else {
                same->objects += row.objects;
            }
        }
        return true;
    });
    if (all.empty() && !question.counted_key()) all.push_back({});
    std::sort(all.begin(), all.end(),
              [](const Counted& a, const Counted& b) { return sorts_before(a.value, b.value); });
    return print_counts(all, question, json);
}

/// What was found in one of many pools, until all of it can be sorted.
struct FoundSomewhere {
    std::string name;
    Json place;
    std::string pool;
    Found found;
};

/// As in one pool: by the keys, then by name.
void sort(std::vector<FoundSomewhere>& all, const std::vector<Query::Order>& order) {
    std::stable_sort(all.begin(), all.end(), [&](const FoundSomewhere& a, const FoundSomewhere& b) {
        for (std::size_t i = 0; i < order.size(); ++i) {
            const auto& of_a = a.found.order[i];
            const auto& of_b = b.found.order[i];
            if (of_a.has_value() != of_b.has_value()) return of_a.has_value();
            const auto& first = order[i].descending ? of_b : of_a;
            const auto& second = order[i].descending ? of_a : of_b;
            if (sorts_before(first, second)) return true;
            if (sorts_before(second, first)) return false;
        }
        return false;
    });
}

void find_everywhere_sorted(const Query& question, Answer& answer) {
    std::vector<FoundSomewhere> all;
    for_each_pool([&](const Namespace& space, const NamespacePool& pool, const PMEM& pmem) {
        for (const Found& found : query(pmem, question)) {
            all.push_back({name_everywhere(space, pool, found.id),
                           {{"namespace", space.name}, {"pool", pool.name}},
                           pool.path,
                           found});
        }
        return true;
    });
    sort(all, question.order());
    if (question.most() && all.size() > *question.most())
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(*question.most()), all.end());
    std::map<std::string, PMEM> opened;
    for (FoundSomewhere& each : all) {
        try {
            auto at = opened.find(each.pool);
            if (at == opened.end()) at = opened.emplace(each.pool, open_for_reading(each.pool)).first;
            each.found.pool = &at->second;
            answer.add(at->second, each.name, each.place, each.found);
        } catch (const Error& error) {
            fmt::print(stderr, "pmemcpy: {} was left out: {}\n", printable(each.name), error.what());
        }
    }
}

int find_everywhere(const Arguments& arguments, bool json) {
    if (!arguments.pool.empty() && !arguments.query.empty()) {
        throw Error(Code::invalid_argument, "find --all looks into all pools of all namespaces, not into " +
                                                arguments.pool +
                                                ": write find --all QUERY, with the query in quotes");
    }
    const Query question = Query::parse(arguments.pool);
    if (question.is_count()) return count_everywhere(question, json);
    Answer answer(arguments, json);
    if (!question.order().empty()) {
        find_everywhere_sorted(question, answer);
        answer.finish();
        return exit_ok;
    }
    std::uint64_t left = question.most().value_or(UINT64_MAX);
    for_each_pool([&](const Namespace& space, const NamespacePool& pool, const PMEM& pmem) {
        for (const Found& found : query(pmem, question)) {
            if (left == 0) return false;
            --left;
            answer.add(pmem, name_everywhere(space, pool, found.id),
                       {{"namespace", space.name}, {"pool", pool.name}}, found);
        }
        return left > 0;
    });
    answer.finish();
    return exit_ok;
}

int find(const Arguments& arguments, bool json) {
    if (arguments.everywhere) return find_everywhere(arguments, json);
    if (arguments.pool.empty())
        throw Error(Code::invalid_argument, "POOL is required: find POOL QUERY, or find --all QUERY");
    const Query question = Query::parse(arguments.query);
    const PMEM pmem = open_for_reading(arguments.pool);
    if (arguments.explain) {
        fmt::print("{}", explain(pmem, question));
        return exit_ok;
    }
    if (question.is_count()) return print_counts(count(pmem, question), question, json);
    Answer answer(arguments, json);
    for (const Found& found : query(pmem, question)) answer.add(pmem, found.id, Json::object(), found);
    answer.finish();
    return exit_ok;
}

}  // namespace

void add_find(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "find", "List variables and groups that a query is true of")
        .takes("POOL", arguments->pool, "The pool; not with --all")
        .takes("QUERY", arguments->query, "What to look for (default: everything)")
        .takes("-a,--all", arguments->everywhere,
               "In all pools of all namespaces that let you in: see ns. Names are NAMESPACE:ID, or "
               "NAMESPACE:POOL:ID where the pool is not the shared one, as cp takes them")
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
            "stored, blocks, codec, scope, step, changed, created, creator, min, max, mean, value.\n"
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
