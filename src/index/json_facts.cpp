#include <nlohmann/json.hpp>
#include <optional>
#include <pmemcpy/error.hpp>

#include "index/fact.hpp"

namespace pmemcpy::index {

namespace {

using Json = nlohmann::json;

Fact fact_of(const Json& json) {
    switch (json.type()) {
        case Json::value_t::boolean:
            return json.get<bool>();
        case Json::value_t::number_integer:
            return json.get<std::int64_t>();
        case Json::value_t::number_unsigned:
            return json.get<std::uint64_t>();
        case Json::value_t::number_float:
            return json.get<double>();
        case Json::value_t::string:
            return json.get<std::string>();
        default:
            return Incomparable{json.is_null() ? "null" : "a structure"};
    }
}

void add_facts(Facts& facts, const Json& json, std::span<const std::string> members) {
    if (json.is_array()) {
        const auto one = members.empty() ? std::nullopt : index_of(members.front());
        if (!one) {
            for (const Json& element : json) add_facts(facts, element, members);
        } else if (*one < json.size()) {
            add_facts(facts, json[*one], members.subspan(1));
        }
        return;
    }
    if (!members.empty()) {
        const auto found = json.is_object() ? json.find(members.front()) : json.end();
        if (found != json.end()) add_facts(facts, *found, members.subspan(1));
        return;
    }
    facts.push_back(fact_of(json));
}

void add_leaves(Leaves& leaves, const Json& json, const std::vector<std::string>& members,
                std::size_t at_most) {
    if (json.is_array()) {
        for (const Json& element : json) {
            if (leaves.is_all) add_leaves(leaves, element, members, at_most);
        }
        return;
    }
    leaves.leaves.push_back({members, fact_of(json)});
    leaves.is_all = leaves.is_all && leaves.leaves.size() <= at_most;
    if (!json.is_object()) return;
    for (const auto& [name, value] : json.items()) {
        if (!leaves.is_all) return;
        std::vector<std::string> longer = members;
        longer.push_back(name);
        add_leaves(leaves, value, longer, at_most);
    }
}

/// Nothing for what is no JSON, or too deep to be looked at.
std::optional<Json> parse(std::string_view text) {
    constexpr int most_depth = 200;  // each costs stack
    bool is_deep = false;
    const Json json = Json::parse(
        text,
        [&](int depth, Json::parse_event_t, const Json&) {
            is_deep = is_deep || depth > most_depth;
            return !is_deep;
        },
        false);
    if (json.is_discarded() || is_deep) return {};
    return json;
}

constexpr const char* no_json = "a JSON text that is none";

}  // namespace

Facts facts_of_json(std::string_view text, std::span<const std::string> members) {
    const auto json = parse(text);
    if (!json) return {Incomparable{no_json}};
    Facts facts;
    add_facts(facts, *json, members);
    return facts;
}

Leaves leaves_of_json(std::string_view text, std::size_t at_most) {
    const auto json = parse(text);
    // Under every name; so that is not all.
    if (!json) return {{{{}, Incomparable{no_json}}}, false};
    Leaves leaves;
    add_leaves(leaves, *json, {}, at_most);
    return leaves;
}

}  // namespace pmemcpy::index
