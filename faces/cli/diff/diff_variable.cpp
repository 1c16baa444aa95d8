#include "cli/diff/diff_variable.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "cli/diff/diff_array.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/terminal/printable.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

/// A value or attribute as it is kept.
struct Encoded {
    const Type& type;
    SerializerType serializer;
    std::span<const std::byte> bytes;
};

struct Difference {
    const char* what;
    std::string text;
    Json a;
    Json b;
};

Difference between(const char* what, const std::string& a, const std::string& b) {
    return {what, fmt::format("{}: {} and {}", what, a, b), a, b};
}

std::string shortened(std::string text) {
    constexpr std::size_t longest = 60;
    if (text.size() > longest) text = text.substr(0, longest - 3) + "...";
    return printable(text);
}

std::string shown_text(std::span<const std::byte> text) {
    return "'" + shortened(std::string(reinterpret_cast<const char*>(text.data()), text.size())) + "'";
}

std::optional<Difference> difference_of_texts(const Encoded& a, const Encoded& b) {
    if (std::ranges::equal(a.bytes, b.bytes)) return {};
    return Difference{"value", shown_text(a.bytes) + " and " + shown_text(b.bytes),
                      value_json(a.type, a.bytes), value_json(b.type, b.bytes)};
}

/// Of numbers, structures, and sequences of them.
std::optional<Difference> difference_of_elements(const Encoded& a, const Encoded& b,
                                                 const Criteria& criteria) {
    const bool is_sequence = a.type.kind() == Kind::sequence;
    const Type& element = is_sequence ? a.type.element() : a.type;
    check_whole(element, a.bytes, is_sequence);
    check_whole(element, b.bytes, is_sequence);
    if (a.bytes.size() != b.bytes.size())
        return between("elements", std::to_string(a.bytes.size() / element.size()),
                       std::to_string(b.bytes.size() / element.size()));
    Comparison comparison(element, criteria.tolerance, 0);
    comparison.add(a.bytes, b.bytes, [](std::uint64_t k) { return Dimensions{k}; });
    if (comparison.is_equal()) return {};
    const auto text_of = [&](const Encoded& side) {
        std::string text;
        append_text(text, element, side.bytes);
        return shortened(text);
    };
    return Difference{"value", is_sequence ? summary_of(comparison) : text_of(a) + " and " + text_of(b),
                      value_json(a.type, a.bytes), value_json(b.type, b.bytes)};
}

std::optional<Difference> difference_of(const Encoded& a, const Encoded& b, const Criteria& criteria) {
    if (!(a.type == b.type)) return between("type", a.type.name(), b.type.name());
    if (is_readable(a.type, a.serializer) && is_readable(b.type, b.serializer)) {
        return is_text(a.type) ? difference_of_texts(a, b) : difference_of_elements(a, b, criteria);
    }
    if (a.serializer != b.serializer)
        return between("serializer", name_of(a.serializer), name_of(b.serializer));
    if (std::ranges::equal(a.bytes, b.bytes)) return {};
    return Difference{"bytes",
                      fmt::format("{} and {} encoded bytes, which differ", a.bytes.size(), b.bytes.size()),
                      a.bytes.size(), b.bytes.size()};
}

void add_pair(const Pair& pair, const char* what, const std::string& a, const std::string& b,
              Findings& findings) {
    findings.add(pair.name, what, {{"a", a}, {"b", b}}, fmt::format("{}: {} and {}", what, a, b));
}

void compare_values(const Pair& pair, const Criteria& criteria, Findings& findings) {
    // Values are compared where they lie. They are visited again when they were replaced meanwhile: the last time counts.
    std::optional<Difference> difference;
    pair.a.pmem.load_encoded(
        pair.a.id, [&](const Type& type_a, SerializerType by_a, std::span<const std::byte> a) {
            pair.b.pmem.load_encoded(
                pair.b.id, [&](const Type& type_b, SerializerType by_b, std::span<const std::byte> b) {
                    difference = difference_of({type_a, by_a, a}, {type_b, by_b, b}, criteria);
                });
        });
    if (difference)
        findings.add(pair.name, difference->what, {{"a", difference->a}, {"b", difference->b}},
                     difference->text);
}

void compare_attribute(const Pair& pair, const std::string& name, const Criteria& criteria,
                       Findings& findings) {
    std::optional<Difference> difference;
    pair.a.pmem.get_attribute_encoded(
        pair.a.id, name, [&](const Type& type_a, SerializerType by_a, std::span<const std::byte> a) {
            pair.b.pmem.get_attribute_encoded(
                pair.b.id, name, [&](const Type& type_b, SerializerType by_b, std::span<const std::byte> b) {
                    difference = difference_of({type_a, by_a, a}, {type_b, by_b, b}, criteria);
                });
        });
    if (difference)
        findings.add(pair.name, "attribute",
                     {{"attribute", name},
                      {"differs_in", difference->what},
                      {"a", difference->a},
                      {"b", difference->b}},
                     fmt::format("attribute {}: {}", printable(name), difference->text));
}

}  // namespace

void compare_attributes(const Pair& pair, const Criteria& criteria, Findings& findings) {
    const std::vector<std::string> in_a = pair.a.pmem.attributes(pair.a.id);
    const std::vector<std::string> in_b = pair.b.pmem.attributes(pair.b.id);
    const auto tell_of_more = [&](const std::vector<std::string>& names,
                                  const std::vector<std::string>& others, const Compared& side) {
        for (const std::string& name : names) {
            if (std::ranges::find(others, name) != others.end()) continue;
            findings.add(pair.name, "attribute", {{"attribute", name}, {"only_in", side.label}},
                         fmt::format("attribute {}: only in {}", printable(name), side.label));
        }
    };
    tell_of_more(in_a, in_b, pair.a);
    tell_of_more(in_b, in_a, pair.b);
    for (const std::string& name : in_a) {
        if (std::ranges::find(in_b, name) != in_b.end()) compare_attribute(pair, name, criteria, findings);
    }
}

void compare_variables(const Pair& pair, const Info& a, const Info& b, const Criteria& criteria,
                       Findings& findings, const std::function<void(std::uint64_t)>& show) {
    if (a.kind != b.kind) return add_pair(pair, "kind", name_of(a.kind), name_of(b.kind), findings);
    compare_attributes(pair, criteria, findings);
    if (a.kind == VariableKind::group || findings.is_enough()) return;
    if (a.kind == VariableKind::value) return compare_values(pair, criteria, findings);
    if (!(a.type == b.type)) add_pair(pair, "type", a.type.name(), b.type.name(), findings);
    if (!(a.dims == b.dims)) add_pair(pair, "shape", to_string(a.dims), to_string(b.dims), findings);
    if (!findings.is_enough() && a.type == b.type && a.dims == b.dims)
        compare_arrays(pair, a, b, criteria, findings, show);
}

}  // namespace pmemcpy::cli
