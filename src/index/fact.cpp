#include "index/fact.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <compare>
#include <optional>
#include <pmemcpy/error.hpp>
#include <pmemcpy/number.hpp>

#include "index/time.hpp"

namespace pmemcpy::index {

namespace {

/// Wide enough for every integer and every float64, so that comparisons are exact: 64 bits of mantissa on x86-64, more elsewhere.
using Wide = long double;
static_assert(std::numeric_limits<Wide>::digits >= 64);

template <class T>
constexpr bool is_numeric = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

std::string unpadded(std::span<const std::byte> bytes) { return std::string(padded_text(bytes)); }

/// The elements of a list that lie behind each other: that of a number, or all.
void add_elements(Facts& facts, const Type& element, std::span<const std::byte> bytes,
                  std::span<const std::string> members) {
    if (!element.is_fixed_size() || bytes.size() % element.size() != 0)
        throw Error(Code::corrupt,
                    std::to_string(bytes.size()) + " bytes are no whole number of " + element.name());
    const std::uint64_t count = bytes.size() / element.size();
    const auto one = members.empty() ? std::nullopt : index_of(members.front());
    if (one) {
        if (*one < count)
            add_facts(facts, element, bytes.subspan(*one * element.size(), element.size()),
                      members.subspan(1));
        return;
    }
    for (std::uint64_t i = 0; i < count; ++i)
        add_facts(facts, element, bytes.subspan(i * element.size(), element.size()), members);
}

bool is_ours(SerializerType serializer) {
    return serializer == SerializerType::bp4 || serializer == SerializerType::none;
}
bool is_json(const Type& type, SerializerType serializer) {
    return type.kind() == Kind::opaque && type.tag() == "json" && is_ours(serializer);
}

/// Goes down where facts_of() would, asked for every name.
void add_leaves(Leaves& leaves, const Type& type, std::span<const std::byte> bytes,
                const std::vector<std::string>& members, std::size_t at_most) {
    const bool is_list = type.kind() == Kind::array;
    if (is_list || type.kind() == Kind::structure) {
        if (bytes.size() < type.size()) throw Error(Code::corrupt, "too few bytes for a " + type.name());
        if (!is_list) leaves.leaves.push_back({members, Incomparable{"a structure"}});
    }
    if (is_list) {
        const Type& element = type.element();
        for (std::size_t at = 0; at < type.size() && leaves.is_all; at += element.size())
            add_leaves(leaves, element, bytes.subspan(at, element.size()), members, at_most);
    } else if (type.kind() == Kind::structure) {
        for (const Field& field : type.fields()) {
            if (!field.type.is_fixed_size() || !leaves.is_all) continue;
            std::vector<std::string> longer = members;
            longer.push_back(field.name);
            add_leaves(leaves, field.type, bytes.subspan(field.offset, field.type.size()), longer, at_most);
        }
    } else {
        Facts facts;
        add_facts(facts, type, bytes, {});
        for (Fact& fact : facts) leaves.leaves.push_back({members, std::move(fact)});
    }
    leaves.is_all = leaves.is_all && leaves.leaves.size() <= at_most;
}

std::partial_ordering order(Wide a, Wide b) { return a <=> b; }

/// How `fact` lies to `literal`, if they are of one sort. Of a time that is less exact than the fact: what lies in it is equal.
std::optional<std::partial_ordering> order_of(const Fact& fact, const Literal& literal) {
    return std::visit(
        [](const auto& a, const auto& b) -> std::optional<std::partial_ordering> {
            using A = std::decay_t<decltype(a)>;
            using B = std::decay_t<decltype(b)>;
            if constexpr (is_numeric<A> && is_numeric<B>) {
                return order(static_cast<Wide>(a), static_cast<Wide>(b));
            } else if constexpr (std::is_same_v<A, Time> && std::is_same_v<B, std::string>) {
                const auto interval = parse_time(b);
                if (!interval) return {};
                if (a < interval->first) return std::partial_ordering::less;
                return a < interval->end ? std::partial_ordering::equivalent : std::partial_ordering::greater;
            } else if constexpr (std::is_same_v<A, B> && std::is_same_v<A, Dimensions>) {
                return a == b ? std::partial_ordering::equivalent : std::partial_ordering::unordered;
            } else if constexpr (std::is_same_v<A, B>) {
                return a <=> b;
            } else {
                return {};
            }
        },
        fact, literal.value());
}

Answer answer(bool is_so) { return is_so ? Answer::yes : Answer::no; }

template <class Is>
Answer ordered(const Fact& fact, const Literal& literal, Is&& is) {
    const auto found = order_of(fact, literal);
    return found ? answer(is(*found)) : Answer::unlike;
}

}  // namespace

std::optional<std::uint64_t> index_of(const std::string& member) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(member.data(), member.data() + member.size(), number);
    if (error != std::errc{} || end != member.data() + member.size()) return {};
    return number;
}

void add_facts(Facts& facts, const Type& type, std::span<const std::byte> bytes,
               std::span<const std::string> members) {
    if (bytes.size() < type.size()) throw Error(Code::corrupt, "too few bytes for a " + type.name());
    if (type.kind() == Kind::structure) {
        if (members.empty()) return facts.emplace_back(Incomparable{"a structure"}), void();
        for (const Field& field : type.fields()) {
            if (field.name == members.front() && field.type.is_fixed_size())
                add_facts(facts, field.type, bytes.subspan(field.offset, field.type.size()),
                          members.subspan(1));
        }
        return;
    }
    if (type.kind() == Kind::array)
        return add_elements(facts, type.element(), bytes.first(type.size()), members);
    if (!members.empty()) return;
    const bool is_plain = visit_number(type.kind(), type.byte_order(), bytes, [&](auto number) {
        if constexpr (std::is_floating_point_v<decltype(number)>)
            facts.emplace_back(static_cast<double>(number));
        else
            facts.emplace_back(number);
    });
    if (is_plain) return;
    switch (type.kind()) {
        case Kind::enumeration:
            visit_number(type.element().kind(), type.element().byte_order(), bytes, [&](auto number) {
                if constexpr (std::is_integral_v<decltype(number)>) {
                    facts.emplace_back(number);
                    if (const EnumValue* named = named_value(type, static_cast<std::int64_t>(number)))
                        facts.emplace_back(named->name);
                }
            });
            return;
        case Kind::datetime64:
            if (const auto time = time_of(read_number<std::int64_t>(bytes, type.byte_order()), type.unit()))
                facts.emplace_back(*time);
            return;
        case Kind::fixed_string:
        case Kind::string:
            facts.emplace_back(unpadded(bytes));
            return;
        default:
            facts.emplace_back(Incomparable{"a " + type.name()});
            return;
    }
}

Facts kinds_in(const Type& type, std::span<const std::string> members) {
    if (!type.is_fixed_size()) return {};
    if (type.kind() == Kind::structure && !members.empty()) {
        Facts kinds;
        for (const Field& field : type.fields()) {
            if (field.name != members.front()) continue;
            const Facts of_field = kinds_in(field.type, members.subspan(1));
            kinds.insert(kinds.end(), of_field.begin(), of_field.end());
        }
        return kinds;
    }
    if (type.kind() == Kind::array) {
        const Type& element = type.element();
        const auto one = members.empty() ? std::nullopt : index_of(members.front());
        const bool is_behind = one && *one >= type.size() / std::max<std::uint64_t>(element.size(), 1);
        return is_behind ? Facts{} : kinds_in(element, one ? members.subspan(1) : members);
    }
    Facts kinds;
    const std::vector<std::byte> zeros(type.size());
    add_facts(kinds, type, zeros, members);
    if (members.empty() && type.kind() == Kind::enumeration && !type.values().empty())
        kinds.emplace_back(type.values().front().name);
    return kinds;
}

Facts facts_of(const Type& type, SerializerType serializer, std::span<const std::byte> bytes,
               std::span<const std::string> members) {
    Facts facts;
    if (is_json(type, serializer))
        return facts_of_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, members);
    if (type.kind() == Kind::string && is_ours(serializer)) {
        if (members.empty())
            facts.emplace_back(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    } else if (type.kind() == Kind::sequence && type.element().is_fixed_size() && is_ours(serializer)) {
        add_elements(facts, type.element(), bytes, members);
    } else if (type.is_fixed_size() && is_ours(serializer)) {
        add_facts(facts, type, bytes, members);
    } else {
        facts.emplace_back(Incomparable{"a " + type.name() + " stored by " + name_of(serializer)});
    }
    return facts;
}

Leaves leaves_of(const Type& type, SerializerType serializer, std::span<const std::byte> bytes,
                 std::size_t at_most) {
    if (is_json(type, serializer))
        return leaves_of_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, at_most);
    Leaves leaves;
    if (is_ours(serializer) && type.kind() == Kind::string) {
        leaves.leaves.push_back({{}, facts_of(type, serializer, bytes, {}).front()});
    } else if (!is_ours(serializer)) {
        leaves.is_all = false;
    } else if (type.kind() == Kind::sequence && type.element().is_fixed_size()) {
        const Type& element = type.element();
        if (bytes.size() % element.size() != 0) return {{}, false};
        for (std::size_t at = 0; at < bytes.size() && leaves.is_all; at += element.size())
            add_leaves(leaves, element, bytes.subspan(at, element.size()), {}, at_most);
    } else if (type.is_fixed_size()) {
        add_leaves(leaves, type, bytes, {}, at_most);
    } else {
        leaves.is_all = false;
    }
    // What nobody can look into is the same under every name.
    if (!leaves.is_all && leaves.leaves.empty())
        leaves.leaves.push_back({{}, Incomparable{"a " + type.name()}});
    return leaves;
}

Answer compare(const Fact& fact, const Node& test) {
    const std::vector<Literal>& operands = test.operands;
    const auto is = [&](auto&& holds) { return ordered(fact, operands.front(), holds); };
    switch (test.relation) {
        case Relation::exists:
            return Answer::yes;
        case Relation::equal:
            return is([](auto o) { return std::is_eq(o); });
        case Relation::differs:
            return is([](auto o) { return std::is_neq(o); });
        case Relation::less:
            return is([](auto o) { return std::is_lt(o); });
        case Relation::at_most:
            return is([](auto o) { return std::is_lteq(o); });
        case Relation::greater:
            return is([](auto o) { return std::is_gt(o); });
        case Relation::at_least:
            return is([](auto o) { return std::is_gteq(o); });
        case Relation::between: {
            const Answer after = is([](auto o) { return std::is_gteq(o); });
            const Answer before = ordered(fact, operands[1], [](auto o) { return std::is_lteq(o); });
            if (after == Answer::unlike || before == Answer::unlike) return Answer::unlike;
            return answer(after == Answer::yes && before == Answer::yes);
        }
        case Relation::one_of: {
            Answer all = Answer::unlike;
            for (const Literal& operand : operands) {
                const Answer one = ordered(fact, operand, [](auto o) { return std::is_eq(o); });
                if (one == Answer::yes) return one;
                if (one == Answer::no) all = one;
            }
            return all;
        }
        case Relation::matches:
        case Relation::contains:
        case Relation::begins: {
            const auto* text = std::get_if<std::string>(&fact);
            return text != nullptr ? answer(meets(*text, test)) : Answer::unlike;
        }
        default:
            return Answer::no;
    }
}

bool meets(std::string_view text, const Node& test) {
    if (test.relation == Relation::matches) return test.glob->matches(text);
    const auto& wanted = std::get<std::string>(test.operands.front().value());
    return test.relation == Relation::begins ? text.starts_with(wanted)
                                             : text.find(wanted) != std::string_view::npos;
}

std::string description_of(const Fact& fact) {
    return std::visit(
        [](const auto& value) -> std::string {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, Incomparable>)
                return value.what;
            else if constexpr (std::is_same_v<T, double>)
                return "a number";
            else if constexpr (std::is_same_v<T, std::string>)
                return "the text " + Literal(value).text();
            else if constexpr (std::is_same_v<T, bool>)
                return Literal(value).text();
            else if constexpr (std::is_same_v<T, Time>)
                return "the time " + Literal(value).text();
            else if constexpr (std::is_same_v<T, Dimensions>)
                return "the shape " + Literal(value).text();
            else
                return "the number " + Literal(value).text();
        },
        fact);
}

bool is_before(const Fact& a, const Fact& b) {
    constexpr auto rank = [](const Fact& fact) {
        const std::size_t index = fact.index();
        return index >= 1 && index <= 3 ? std::size_t{1} : index;  // one sort of numbers
    };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return std::visit(
        [](const auto& x, const auto& y) {
            using X = std::decay_t<decltype(x)>;
            using Y = std::decay_t<decltype(y)>;
            if constexpr (is_numeric<X> && is_numeric<Y>) {
                const auto wide_x = static_cast<Wide>(x);
                const auto wide_y = static_cast<Wide>(y);
                if (std::isnan(wide_x) || std::isnan(wide_y))
                    return !std::isnan(wide_x) && std::isnan(wide_y);
                return wide_x < wide_y;
            } else if constexpr (std::is_same_v<X, Dimensions> && std::is_same_v<Y, Dimensions>) {
                return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
            } else if constexpr (std::is_same_v<X, Incomparable> || !std::is_same_v<X, Y>) {
                return false;
            } else {
                return x < y;
            }
        },
        a, b);
}

}  // namespace pmemcpy::index
