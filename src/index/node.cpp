#include "index/node.hpp"

#include <algorithm>
#include <array>
#include <pmemcpy/error.hpp>
#include <utility>

#include "array/id.hpp"
#include "index/known.hpp"
#include "index/lexer.hpp"
#include "index/time.hpp"

namespace pmemcpy::index {

namespace {

struct Sign {
    Relation relation;
    std::string_view text;
};
constexpr std::array<Sign, 9> relation_signs = {{{Relation::equal, "="},
                                                 {Relation::differs, "!="},
                                                 {Relation::less, "<"},
                                                 {Relation::at_most, "<="},
                                                 {Relation::greater, ">"},
                                                 {Relation::at_least, ">="},
                                                 {Relation::matches, "~"},
                                                 {Relation::contains, "contains"},
                                                 {Relation::begins, "begins"}}};

constexpr std::array<std::string_view, 3> kinds = {"value", "array", "group"};

bool is_number(const Literal& literal) {
    return std::visit(
        [](const auto& value) {
            using T = std::decay_t<decltype(value)>;
            return std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
        },
        literal.value());
}

const std::string* literal_text(const Literal& literal) { return std::get_if<std::string>(&literal.value()); }

/// Why what is known under a key cannot compare so with an operand; empty if it can. Each has one sort.
std::string misfit_of(Relation relation, const Key& key, Known known, const Literal& operand) {
    const auto because = [&](const char* wanted) {
        return key.text() + " is " + wanted + ", and " + operand.text() + " is none";
    };
    const std::string* text = literal_text(operand);
    const bool is_member = key.parts().size() > 1;
    switch (is_member && known == Known::shape ? Sort::number : sort_of(known)) {
        case Sort::text:
            if (text == nullptr) return because("a text");
            break;
        case Sort::number:
            if (!is_number(operand)) return because("a number");
            break;
        case Sort::time:
            if (is_of_text(relation) ||
                (text != nullptr ? !parse_time(*text) : !std::holds_alternative<Time>(operand.value())))
                return because("a time, such as \"2026-10-05\" or \"2026-10-05T12:30\"");
            break;
        case Sort::shape:
            if (!std::holds_alternative<Dimensions>(operand.value()))
                return because("a shape, such as (4, 100)");
            break;
        case Sort::anything:
            break;
    }
    if (is_of_text(relation)) return {};
    if (known == Known::kind && std::find(kinds.begin(), kinds.end(), *text) == kinds.end())
        return because("\"value\", \"array\" or \"group\"");
    if (known == Known::scope && *text != "shared" && *text != "private")
        return because("\"shared\" or \"private\"");
    return {};
}

/// Adds to `misfit` why nothing known meets the test, if that is so. What no attribute could meet either is an error.
void check(Relation relation, const Key& key, const Literal& operand, std::string& misfit) {
    if (is_parameter(operand)) return;  // its value is checked
    if (is_of_text(relation) && literal_text(operand) == nullptr)
        throw Error(Code::type_mismatch,
                    std::string(sign_of(relation)) + " needs a text, and " + operand.text() + " is none");
    const bool is_shape = std::holds_alternative<Dimensions>(operand.value());
    if (is_shape && relation != Relation::equal && relation != Relation::differs)
        throw Error(Code::type_mismatch,
                    "shapes are equal or not; none is " + std::string(sign_of(relation)) + " another");
    const auto known = known_of(key);
    if (!known || !misfit.empty()) return;
    misfit = misfit_of(relation, key, *known, operand);
    if (!misfit.empty() && key.means() == Key::Means::known) throw Error(Code::type_mismatch, misfit);
}

NodePointer made(Node node) {
    for (const NodePointer& part : node.parts) node.parameters += part->parameters;
    for (const Literal& operand : node.operands) node.parameters += is_parameter(operand) ? 1U : 0U;
    return std::make_shared<const Node>(std::move(node));
}

NodePointer made_test(Relation relation, std::shared_ptr<const Key> key, std::vector<Literal> operands) {
    std::string misfit;
    for (const Literal& operand : operands) check(relation, *key, operand, misfit);
    Node node{relation, {}, std::move(key), std::move(operands), {}, std::move(misfit)};
    if (relation == Relation::matches && !is_parameter(node.operands.front()))
        node.glob.emplace(*literal_text(node.operands.front()));
    return made(std::move(node));
}

std::string joined(const Node& node, std::string_view between, Relation looser) {
    std::string text;
    for (const NodePointer& part : node.parts) {
        if (!text.empty()) text += between;
        const bool needs_parentheses = part->relation == looser;
        text += needs_parentheses ? "(" + text_of(*part) + ")" : text_of(*part);
    }
    return text;
}

}  // namespace

NodePointer join(Relation relation, std::span<const NodePointer> parts) {
    if (parts.size() == 1) return parts[0];
    Node node{relation, {}, {}, {}, {}, {}};
    for (const NodePointer& part : parts) {
        if (part->relation == relation) {
            node.parts.insert(node.parts.end(), part->parts.begin(), part->parts.end());
        } else {
            node.parts.push_back(part);
        }
    }
    return made(std::move(node));
}

NodePointer join(Relation relation, const NodePointer& a, const NodePointer& b) {
    const std::array both{a, b};
    return join(relation, both);
}

NodePointer negate(const NodePointer& node) { return made({Relation::none, {node}, {}, {}, {}, {}}); }

bool is_parameter(const Literal& literal) { return std::holds_alternative<Parameter>(literal.value()); }

NodePointer test(Relation relation, const Key& key, std::vector<Literal> operands) {
    return made_test(relation, std::make_shared<const Key>(key), std::move(operands));
}

NodePointer bound(const NodePointer& node, std::span<const Literal> values) {
    if (node->parameters == 0) return node;
    if (node->key) {
        std::vector<Literal> operands;
        operands.reserve(node->operands.size());
        for (const Literal& operand : node->operands) {
            operands.push_back(is_parameter(operand) ? values.front() : operand);
            if (is_parameter(operand)) values = values.subspan(1);
        }
        return made_test(node->relation, node->key, std::move(operands));
    }
    Node copy{node->relation, {}, {}, {}, {}, {}};
    for (const NodePointer& part : node->parts) {
        copy.parts.push_back(bound(part, values.first(part->parameters)));
        values = values.subspan(part->parameters);
    }
    return made(std::move(copy));
}

NodePointer under(std::string_view group) {
    if (group != "/") array::validate_id(group);
    return made({Relation::under, {}, {}, {Literal(group)}, {}, {}});
}

bool can_be_unlike(const Node& node) {
    if (!node.key || node.relation == Relation::exists) return false;
    const auto known = known_of(*node.key);
    return !known || sort_of(*known) == Sort::anything || !node.misfit.empty();
}

std::vector<const Node*> tests_that_can_be_unlike(const NodePointer& condition) {
    std::vector<const Node*> tests;
    if (condition == nullptr) return tests;
    if (can_be_unlike(*condition)) tests.push_back(condition.get());
    for (const NodePointer& part : condition->parts) {
        const std::vector<const Node*> of_part = tests_that_can_be_unlike(part);
        tests.insert(tests.end(), of_part.begin(), of_part.end());
    }
    return tests;
}

bool leaves_groups_out(const Node& node) {
    return node.relation == Relation::differs && node.key && is_known(*node.key, Known::kind) &&
           node.operands.front().value() == Literal("group").value();
}

NodePointer test_of_name(const Node& under) {
    const std::string& group = std::get<std::string>(under.operands.front().value());
    return group == "/" ? nullptr
                        : test(Relation::begins, Key({"name"}, Key::Means::known), {Literal(group + "/")});
}

std::string_view sign_of(Relation relation) {
    const auto found = std::find_if(relation_signs.begin(), relation_signs.end(),
                                    [&](const Sign& sign) { return sign.relation == relation; });
    if (found != relation_signs.end()) return found->text;
    return relation == Relation::between || relation == Relation::one_of ? "in" : "";
}

std::optional<Relation> relation_of(std::string_view sign) {
    const auto found = std::find_if(relation_signs.begin(), relation_signs.end(),
                                    [&](const Sign& one) { return one.text == sign; });
    if (found != relation_signs.end()) return found->relation;
    return sign == "==" ? std::optional(Relation::equal) : std::nullopt;
}

bool is_of_text(Relation relation) {
    return relation == Relation::matches || relation == Relation::contains || relation == Relation::begins;
}

std::string text_of(const Node& node) {
    switch (node.relation) {
        case Relation::all:
            return joined(node, " and ", Relation::any);
        case Relation::any:
            return joined(node, " or ", Relation::any);
        case Relation::none: {
            const Node& part = *node.parts.front();
            const bool is_joined = part.relation == Relation::all || part.relation == Relation::any;
            return is_joined ? "not (" + text_of(part) + ")" : "not " + text_of(part);
        }
        case Relation::under:
            return "under " + node.operands.front().text();
        case Relation::exists:
            return "exists(" + node.key->text() + ")";
        case Relation::between:
            return node.key->text() + " in " + node.operands[0].text() + ".." + node.operands[1].text();
        case Relation::one_of: {
            std::string list;
            for (const Literal& operand : node.operands) list += (list.empty() ? "" : ", ") + operand.text();
            return node.key->text() + " in (" + list + ")";
        }
        default:
            return node.key->text() + " " + std::string(sign_of(node.relation)) + " " +
                   node.operands.front().text();
    }
}

}  // namespace pmemcpy::index
