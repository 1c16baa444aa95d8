#pragma once

// What docs/query.md says of conditions, worked out by looking at objects alone: nothing here knows of the library's parser, its evaluation or
// its index.
// Length: one language, read from top to bottom beside its document; a part of it alone means nothing.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pmemcpy::query_model {

using Json = nlohmann::json;

/// An object, as who stored it knows it.
struct Thing {
    std::string kind{};  // value, array, group
    std::optional<Json>
        value{};  // of an array the list of its elements; nothing where nothing was stored into it
    std::map<std::string, Json> attributes{};
};
using Things = std::map<std::string, Thing>;  // sorted by name

struct Key {
    bool is_attribute = true;
    bool is_marked = false;          // @: what is known, and no attribute
    std::vector<std::string> parts;  // of what is known the word
};

enum class Op {
    all,
    any,
    none,
    under,
    exists,
    equal,
    differs,
    less,
    at_most,
    greater,
    at_least,
    glob,
    contains,
    begins,
    between,
    one_of
};

struct Condition {
    Op op;
    std::vector<Condition> parts{};
    Key key{};
    std::vector<Json> literals{};
};

inline bool is_index(const std::string& text) {
    return !text.empty() && text.size() < 20 && text.find_first_not_of("0123456789") == std::string::npos;
}

/// "`a.b` is the member b; `a.0` the first element of a list; of a list it is true if it is true of one in it".
inline void find_in(const Json& value, std::vector<std::string> path, std::vector<Json>& found) {
    if (value.is_array()) {
        if (!path.empty() && is_index(path.front())) {
            const std::size_t i = std::stoull(path.front());
            path.erase(path.begin());
            if (i < value.size()) find_in(value[i], path, found);
            return;
        }
        for (const Json& element : value) find_in(element, path, found);
        return;
    }
    if (path.empty()) return found.push_back(value);
    if (!value.is_object() || !value.contains(path.front())) return;
    const Json& member = value[path.front()];
    path.erase(path.begin());
    find_in(member, path, found);
}

/// "The nearest wins": what it has itself, what the innermost group has, ..., what the pool has. `own`: with the object itself.
inline const Json* attribute_of(const Things& things, std::string id, const std::string& name, bool own) {
    for (;;) {
        const auto thing = things.find(id);
        if (own && thing != things.end()) {
            const auto there = thing->second.attributes.find(name);
            if (there != thing->second.attributes.end()) return &there->second;
        }
        if (id == "/") return nullptr;
        own = true;
        id = id.find('/') == std::string::npos ? "/" : id.substr(0, id.rfind('/'));
    }
}

inline std::vector<Json> known_under(const std::string& id, const Thing& thing, const Key& key) {
    std::vector<Json> found;
    const std::vector<std::string> rest(key.parts.begin() + 1, key.parts.end());
    const std::string& root = key.parts.front();
    if (root == "name") {
        found.emplace_back(id);
    } else if (root == "group" && id != "/") {
        found.emplace_back(id.find('/') == std::string::npos ? "/" : id.substr(0, id.rfind('/')));
    } else if (root == "kind") {
        found.emplace_back(thing.kind);
    } else if (root == "value" && thing.value) {
        // Elements of arrays are numbers here, which have no members.
        if (thing.kind == "value" || rest.empty()) find_in(*thing.value, rest, found);
    }
    return found;
}

/// What a key means of an object, and whether that is an attribute.
struct Under {
    std::vector<Json> things{};
    bool is_attribute = false;
};

inline Under things_under(const Things& things, const std::string& id, const Key& key) {
    const Thing& thing = things.at(id);
    const std::string& root = key.parts.front();
    if (!key.is_attribute) {
        const bool is_own = !key.is_marked && thing.attributes.count(root) != 0;
        const std::vector<Json> known = known_under(id, thing, key);
        // An array's elements are known, also while there are none.
        const bool is_it = !known.empty() || root != "value" || thing.kind == "array";
        if (!is_own && (key.is_marked || is_it)) return {known, false};
    }
    Under found{{}, true};
    if (const Json* attribute = attribute_of(things, id, root, true))
        find_in(*attribute, {key.parts.begin() + 1, key.parts.end()}, found.things);
    return found;
}

__extension__ using Wide = __int128;  // of every integer

enum class Order { less, equal, greater, unordered, unlike };

inline Order order_of_numbers(const Json& a, const Json& b) {
    const auto of = [](auto x, auto y) {
        return x < y ? Order::less : x > y ? Order::greater : Order::equal;
    };
    const auto wide = [](const Json& x) {
        return x.is_number_unsigned() ? static_cast<Wide>(x.get<std::uint64_t>())
                                      : static_cast<Wide>(x.get<std::int64_t>());
    };
    if (a.is_number_float() && b.is_number_float()) {
        const double x = a.get<double>();
        const double y = b.get<double>();
        return std::isnan(x) || std::isnan(y) ? Order::unordered : of(x, y);
    }
    if (!a.is_number_float() && !b.is_number_float()) return of(wide(a), wide(b));
    const bool is_first = a.is_number_float();
    const double real = (is_first ? a : b).get<double>();
    if (std::isnan(real)) return Order::unordered;
    Order real_to_whole;
    if (std::fabs(real) >= 0x1p70) {
        real_to_whole = real > 0 ? Order::greater : Order::less;
    } else {
        const auto whole = static_cast<Wide>(std::floor(real));
        real_to_whole = of(whole, wide(is_first ? b : a));
        if (real_to_whole == Order::equal && std::floor(real) < real) real_to_whole = Order::greater;
    }
    if (is_first || real_to_whole == Order::equal) return real_to_whole;
    return real_to_whole == Order::less ? Order::greater : Order::less;
}

inline Order order_of(const Json& thing, const Json& literal) {
    if (thing.is_number() && literal.is_number()) return order_of_numbers(thing, literal);
    if (thing.is_string() && literal.is_string()) {
        const int order = thing.get_ref<const std::string&>().compare(literal.get_ref<const std::string&>());
        return order < 0 ? Order::less : order > 0 ? Order::greater : Order::equal;
    }
    if (thing.is_boolean() && literal.is_boolean()) {
        const int order = static_cast<int>(thing.get<bool>()) - static_cast<int>(literal.get<bool>());
        return order < 0 ? Order::less : order > 0 ? Order::greater : Order::equal;
    }
    return Order::unlike;
}

/// "`*` stays in a group, `**` goes into all".
inline bool is_matched(std::string_view glob, std::string_view text) {
    if (glob.empty()) return text.empty();
    if (glob.starts_with("**")) {
        for (std::size_t i = 0; i <= text.size(); ++i) {
            if (is_matched(glob.substr(2), text.substr(i))) return true;
        }
        return false;
    }
    if (glob.front() == '*') {
        for (std::size_t i = 0;; ++i) {
            if (is_matched(glob.substr(1), text.substr(i))) return true;
            if (i == text.size() || text[i] == '/') return false;
        }
    }
    if (text.empty()) return false;
    if (glob.front() == '?' ? text.front() == '/' : glob.front() != text.front()) return false;
    return is_matched(glob.substr(1), text.substr(1));
}

enum class Is { yes, no, unlike };

inline Is is_so(const Json& thing, const Condition& test) {
    const auto yes_if = [](bool holds) { return holds ? Is::yes : Is::no; };
    const Json& first = test.literals.front();
    if (test.op == Op::glob || test.op == Op::contains || test.op == Op::begins) {
        if (!thing.is_string()) return Is::unlike;
        const auto& text = thing.get_ref<const std::string&>();
        const auto& wanted = first.get_ref<const std::string&>();
        if (test.op == Op::glob) return yes_if(is_matched(wanted, text));
        return yes_if(test.op == Op::contains ? text.find(wanted) != std::string::npos
                                              : text.rfind(wanted, 0) == 0);
    }
    if (test.op == Op::one_of) {
        Is all = Is::unlike;
        for (const Json& literal : test.literals) {
            const Order order = order_of(thing, literal);
            if (order == Order::equal) return Is::yes;
            if (order != Order::unlike) all = Is::no;
        }
        return all;
    }
    const Order order = order_of(thing, first);
    if (order == Order::unlike) return Is::unlike;
    switch (test.op) {
        case Op::equal:
            return yes_if(order == Order::equal);
        case Op::differs:
            return yes_if(order != Order::equal);
        case Op::less:
            return yes_if(order == Order::less);
        case Op::at_most:
            return yes_if(order == Order::less || order == Order::equal);
        case Op::greater:
            return yes_if(order == Order::greater);
        case Op::at_least:
            return yes_if(order == Order::greater || order == Order::equal);
        default: {  // between
            const Order last = order_of(thing, test.literals[1]);
            if (last == Order::unlike) return Is::unlike;
            return yes_if((order == Order::greater || order == Order::equal) &&
                          (last == Order::less || last == Order::equal));
        }
    }
}

inline bool is_within(const std::string& id, const std::string& group) {
    return group == "/" ? id != "/" : id.rfind(group + "/", 0) == 0;
}

inline bool is_true(const Condition& condition, const Things& things, const std::string& id) {
    const auto of_part = [&](const Condition& part) { return is_true(part, things, id); };
    switch (condition.op) {
        case Op::all:
            return std::all_of(condition.parts.begin(), condition.parts.end(), of_part);
        case Op::any:
            return std::any_of(condition.parts.begin(), condition.parts.end(), of_part);
        case Op::none:
            return !of_part(condition.parts.front());
        case Op::under:
            return is_within(id, condition.literals.front());
        default: {
            const std::vector<Json> found = things_under(things, id, condition.key).things;
            if (condition.op == Op::exists) return !found.empty();
            return std::any_of(found.begin(), found.end(),
                               [&](const Json& one) { return is_so(one, condition) == Is::yes; });
        }
    }
}

/// What the names of all objects begin with that the condition can be true of, as far as it says so.
inline std::string beginning(const Condition& condition) {
    std::string begin;
    const bool is_of_name =
        !condition.key.parts.empty() && condition.key.is_marked && condition.key.parts.front() == "name";
    switch (condition.op) {
        case Op::all:
            for (const Condition& part : condition.parts) {
                const std::string one = beginning(part);
                if (one.size() > begin.size()) begin = one;
            }
            return begin;
        case Op::any: {
            begin = beginning(condition.parts.front());
            for (const Condition& part : condition.parts) {
                const std::string one = beginning(part);
                std::size_t same = 0;
                while (same < begin.size() && same < one.size() && begin[same] == one[same]) ++same;
                begin.resize(same);
            }
            return begin;
        }
        case Op::under:
            return condition.literals.front() == "/" ? ""
                                                     : condition.literals.front().get<std::string>() + "/";
        case Op::equal:
        case Op::begins:
            return is_of_name ? condition.literals.front().get<std::string>() : "";
        case Op::glob: {
            const std::string glob = is_of_name ? condition.literals.front().get<std::string>() : "";
            return glob.substr(0, glob.find_first_of("*?"));
        }
        default:
            return "";
    }
}

inline void each_comparison(const Condition& condition, const std::function<void(const Condition&)>& f) {
    for (const Condition& part : condition.parts) each_comparison(part, f);
    if (condition.op >= Op::equal) f(condition);
}

/// Words that name what every object has, of one type.
inline bool is_of_all(const Key& key) { return !key.is_attribute && key.parts.front() != "value"; }

/// Whether what every object has under such a word cannot compare so.
inline bool is_misfit(const Condition& comparison) {
    if (!is_of_all(comparison.key)) return false;
    const bool is_text =
        comparison.op == Op::glob || comparison.op == Op::contains || comparison.op == Op::begins;
    return std::any_of(comparison.literals.begin(), comparison.literals.end(), [&](const Json& literal) {
        const bool is_kind = literal == "value" || literal == "array" || literal == "group";
        return !literal.is_string() || (comparison.key.parts.front() == "kind" && !is_text && !is_kind);
    });
}

/// Whether some comparison has something before it, in the scope, and nothing that compares.
inline bool compares_unlike_things(const Condition& condition, const Things& things) {
    const std::string scope = beginning(condition);
    bool is_one = false;
    each_comparison(condition, [&](const Condition& comparison) {
        if (is_of_all(comparison.key) && !is_misfit(comparison)) return;
        bool is_any_there = is_misfit(comparison);
        bool is_any_like = false;
        for (const auto& [id, thing] : things) {
            if (id.rfind(scope, 0) != 0) continue;
            const Under under = things_under(things, id, comparison.key);
            if (is_misfit(comparison) && !under.is_attribute) continue;
            for (const Json& one : under.things) {
                is_any_there = true;
                is_any_like = is_any_like || is_so(one, comparison) != Is::unlike;
            }
        }
        is_one = is_one || (is_any_there && !is_any_like);
    });
    return is_one;
}

inline std::string text_of(const Json& literal) {
    if (!literal.is_string()) return literal.dump();
    std::string text = "\"";
    for (const char letter : literal.get<std::string>()) {
        if (letter == '"' || letter == '\\') text += '\\';
        text += letter == '\n'   ? std::string("\\n")
                : letter == '\t' ? std::string("\\t")
                                 : std::string(1, letter);
    }
    return text + '"';
}

inline std::string text_of(const Key& key) {
    static const std::set<std::string> plain = {"a", "b", "c", "_x", "x", "y"};
    static const std::set<std::string> known = {"name", "group", "kind", "value"};
    const auto is_plain = [](const std::string& part) { return plain.count(part) + known.count(part) != 0; };
    const std::string& root = key.parts.front();
    const bool is_clear = plain.count(root) != 0 || !key.is_attribute;
    std::string text = (key.is_marked ? "@" : "") + (is_clear ? root : "attr(" + text_of(Json(root)) + ")");
    for (std::size_t i = 1; i < key.parts.size(); ++i) {
        const std::string& part = key.parts[i];
        text += "." + (is_plain(part) || is_index(part) ? part : text_of(Json(part)));
    }
    return text;
}

inline std::string text_of(const Condition& condition) {
    static const std::map<Op, std::string> signs = {
        {Op::equal, "="},    {Op::differs, "!="},        {Op::less, "<"},
        {Op::at_most, "<="}, {Op::greater, ">"},         {Op::at_least, ">="},
        {Op::glob, "~"},     {Op::contains, "contains"}, {Op::begins, "begins"}};
    switch (condition.op) {
        case Op::all:
        case Op::any: {
            std::string text;
            for (const Condition& part : condition.parts)
                text += (text.empty() ? "(" : condition.op == Op::all ? " and " : " or ") + text_of(part);
            return text + ")";
        }
        case Op::none:
            return "not " + text_of(condition.parts.front());
        case Op::under:
            return "under " + text_of(condition.literals.front());
        case Op::exists:
            return "exists(" + text_of(condition.key) + ")";
        case Op::between:
            return text_of(condition.key) + " in " + text_of(condition.literals[0]) + ".." +
                   text_of(condition.literals[1]);
        case Op::one_of: {
            std::string text;
            for (const Json& literal : condition.literals)
                text += (text.empty() ? "" : ", ") + text_of(literal);
            return text_of(condition.key) + " in (" + text + ")";
        }
        default:
            return text_of(condition.key) + " " + signs.at(condition.op) + " " +
                   text_of(condition.literals.front());
    }
}

}  // namespace pmemcpy::query_model
