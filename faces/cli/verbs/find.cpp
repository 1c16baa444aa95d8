#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <pmemcpy/query.hpp>

#include "cli/array/print.hpp"
#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/asked.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/listing.hpp"
#include "cli/pool/open.hpp"
#include "cli/pool/pools.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/printable.hpp"
#include "cli/terminal/sink.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::vector<std::string> words;
    bool everywhere = false;
    bool is_long = false;
    bool boxes = false;
    bool load = false;
    bool explain = false;
};

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
    const bool are_any =
        std::any_of(counts.begin(), counts.end(), [](const Counted& row) { return row.objects != 0; });
    const int status = are_any ? exit_ok : exit_missed;
    if (!query.counted_key()) {
        fmt::print("{}\n", counts.front().objects);
        return status;
    }
    if (json) {
        Json rows = Json::array();
        for (const Counted& row : counts)
            rows.push_back({{"value", to_json(row.value)}, {"objects", row.objects}});
        fmt::print("{}\n", dump(rows));
        return status;
    }
    Table table({{query.counted_key()->text()}, {"objects", Table::Align::right}});
    for (const Counted& row : counts)
        table.add({row.value ? shown(*row.value) : "-", std::to_string(row.objects)});
    if (!table.empty()) fmt::print("{}", table.text());
    return status;
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
            note("{} is a {}, which only a program that knows it can read", printable(name),
                 info.type.name());
            return;
        }
        head("");
        return print_value(pmem, info.id, {print}, sink);
    }
    std::vector<Box> boxes = found.boxes;
    if (boxes.empty()) boxes.push_back(Box::whole(info.dims));
    for (const Box& box : boxes) {
        head(to_string(box));
        print_array(pmem, info, box, {}, {print}, sink, [](std::uint64_t) {});
    }
}

void print_one(const std::string& name, const Found& found, const Arguments& arguments) {
    if (!arguments.boxes) {
        fmt::print("{}\n", printable(name));
    } else if (found.boxes.empty()) {
        fmt::print("{}\t\n", printable(name));
    } else {
        for (const Box& box : found.boxes) fmt::print("{}\t{}\n", printable(name), to_string(box));
    }
}

/// Keys that a long listing has no column for.
std::vector<Key> keys_to_show(const Query& question) {
    std::vector<Key> keys = question.keys();
    std::erase_if(keys, [](const Key& key) {
        constexpr std::array listed = {"name", "kind", "dtype", "shape", "blocks", "bytes", "changed"};
        return key.means() != Key::Means::attribute &&
               std::find(listed.begin(), listed.end(), key.parts().front()) != listed.end();
    });
    return keys;
}

/// What is found, as it is found: in one pool or in many.
class Answer {
public:
    Answer(const Arguments& arguments, const Query& question, bool json)
        : arguments_(arguments), json_(json), sink_("") {
        if (!arguments.is_long) return;
        for (const Key& key : keys_to_show(question)) {
            keys_.push_back(key);
            columns_.push_back({key.text(), {}});
        }
    }

    /// `name` is what the user can call it by; `place` is put in front of what JSON tells of it.
    void add(const PMEM& pmem, const std::string& name, const Json& place, const Found& found) {
        ++found_;
        if (!arguments_.load && !json_ && !arguments_.is_long) return print_one(name, found, arguments_);
        auto info = info_of(found);
        if (!info) return;
        if (arguments_.load) {
            print_content(pmem, name, found, *info, json_, sink_);
        } else if (json_) {
            Json one = place;
            one.update(cli::to_json(*info));
            if (!found.boxes.empty()) one["boxes"] = to_json(found.boxes);
            for (const Key& key : keys_) one["asked"][key.text()] = asked_json(pmem, found.id, key);
            list_.push_back(std::move(one));
        } else {
            for (std::size_t i = 0; i < keys_.size(); ++i)
                columns_[i].cells.push_back(shown_under(pmem, found.id, keys_[i]));
            info->id = name;
            infos_.push_back(std::move(*info));
        }
    }
    /// Returns the exit status.
    int finish() {
        if (arguments_.load) {
            sink_.finish();
        } else if (json_) {
            fmt::print("{}\n", dump(list_));
        } else {
            print_listing(infos_, columns_);
        }
        return found_ == 0 ? exit_missed : exit_ok;
    }

private:
    static Json asked_json(const PMEM& pmem, const std::string& id, const Key& key) {
        const std::vector<Literal> values = values_under(pmem, id, key);
        if (values.empty()) return nullptr;
        if (values.size() == 1) return to_json(values.front());
        Json list = Json::array();
        for (const Literal& value : values) list.push_back(to_json(value));
        return list;
    }

    const Arguments& arguments_;
    bool json_;
    Sink sink_;
    Json list_ = Json::array();
    std::vector<Info> infos_;
    std::vector<Key> keys_;  // of a long listing
    std::vector<ListedColumn> columns_;
    std::uint64_t found_ = 0;
};

/// The pools that are asked, and what was noticed on the way.
struct Pools {
    std::vector<PoolOfMany> all;
    Unheard unheard;
    int status = exit_ok;

    void look_into_each(const std::function<bool(const PoolOfMany&, const PMEM&)>& look) {
        status = look_into(all, [&](const PoolOfMany& pool, const PMEM& pmem) {
            unheard.look_into(pmem);
            return look(pool, pmem);
        });
    }
    /// Of all pools, after what was found.
    int status_after(int of_answer) const {
        unheard.tell();
        return status != exit_ok ? status : of_answer;
    }
};

int count_in(Pools& pools, const Query& question, bool json) {
    std::vector<Counted> all;
    pools.look_into_each([&](const PoolOfMany&, const PMEM& pmem) {
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
    return pools.status_after(print_counts(all, question, json));
}

/// What was found in one of many pools, until all of it can be sorted.
struct FoundSomewhere {
    std::string name;
    const PoolOfMany* pool;
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

void find_sorted(Pools& pools, const Query& question, Answer& answer) {
    std::vector<FoundSomewhere> all;
    pools.look_into_each([&](const PoolOfMany& pool, const PMEM& pmem) {
        for (const Found& found : query(pmem, question))
            all.push_back({pool.full_name(found.id), &pool, found});
        return true;
    });
    sort(all, question.order());
    if (question.most() && all.size() > *question.most())
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(*question.most()), all.end());
    std::map<std::string, PMEM> opened;
    for (FoundSomewhere& each : all) {
        try {
            auto at = opened.find(each.pool->path);
            if (at == opened.end())
                at = opened.emplace(each.pool->path, open_for_reading(each.pool->path)).first;
            each.found.pool = &at->second;
            answer.add(at->second, each.name, each.pool->place, each.found);
        } catch (const Error& error) {
            note("{} was left out: {}", printable(each.name), error.what());
        }
    }
}

void find_unsorted(Pools& pools, const Query& question, Answer& answer) {
    std::uint64_t left = question.most().value_or(UINT64_MAX);
    pools.look_into_each([&](const PoolOfMany& pool, const PMEM& pmem) {
        for (const Found& found : query(pmem, question)) {
            if (left == 0) return false;
            --left;
            answer.add(pmem, pool.full_name(found.id), pool.place, found);
        }
        return left > 0;
    });
}

/// The last word is the query, unless something is there that it names.
std::string take_query(const Arguments& arguments, std::vector<std::string>& words) {
    const bool has_query =
        arguments.everywhere ? !words.empty() : words.size() > 1 && !is_place(words.back());
    if (!has_query) return {};
    std::string query = words.back();
    words.pop_back();
    return query;
}

int find(const Arguments& arguments, bool json) {
    std::vector<std::string> words = arguments.words;
    const Query question = Query::parse(take_query(arguments, words));
    if (arguments.everywhere && !words.empty()) {
        throw Error(Code::invalid_argument, "find --all looks into all pools of all namespaces, not into " +
                                                words.front() +
                                                ": write find --all QUERY, with the query in quotes");
    }
    if (!arguments.everywhere && words.empty())
        throw Error(Code::invalid_argument, "POOL is required: find POOL QUERY, or find --all QUERY");
    Pools pools{arguments.everywhere ? pools_everywhere() : pools_named(words), Unheard(question)};
    if (arguments.explain) {
        return look_into(pools.all, [&](const PoolOfMany& pool, const PMEM& pmem) {
            if (pools.all.size() > 1) fmt::print("{}\n", printable(pool.shown));
            fmt::print("{}", printable_lines(explain(pmem, question)));
            return true;
        });
    }
    if (question.is_count()) return count_in(pools, question, json);
    Answer answer(arguments, question, json);
    // One pool sorts by itself, and need not be read whole where a limit is set.
    if (question.order().empty() || pools.all.size() == 1)
        find_unsorted(pools, question, answer);
    else
        find_sorted(pools, question, answer);
    const int status = answer.finish();
    return pools.status_after(status);
}

}  // namespace

void add_find(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "find", "List variables and groups that a query is true of")
        .takes("POOL", arguments->words,
               "Pools, and directories with pools in them; not with --all. Behind them the query, in quotes: "
               "what "
               "to look for (default: everything)")
        .takes("-a,--all", arguments->everywhere,
               "In all pools of all namespaces that let you in: see ns. Names are NAMESPACE:ID, or "
               "NAMESPACE:POOL:ID where the pool is not the shared one, as cp takes them")
        .takes("-l,--long", arguments->is_long,
               "Kind, type, shape, blocks, size and time of the last write, too, and what the query asks for")
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
            "A comparison is true of what has such a thing, of a list if it is of one in it. What lies in a "
            "group "
            "has the group's attributes, and the pool's, too, where it has none of that name itself; the "
            "pool is "
            "`/`. A word that is known of everything means an attribute where the object has one that is "
            "called "
            "so: @step is never an attribute, attr(\"step\") always.\n"
            "\n"
            "In several pools names are POOL:ID, as cp takes them. Exit status 1: nothing was found. An "
            "attribute "
            "that nothing has is told of on stderr.\n")
        .runs([arguments](bool json) { return find(*arguments, json); });
}

}  // namespace pmemcpy::cli
