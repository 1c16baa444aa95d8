#include <nlohmann/json.hpp>
#include <pmemcpy/error.hpp>

#include "index/fact.hpp"

namespace pmemcpy::index {

namespace {

using Json = nlohmann::json;

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
    switch (json.type()) {
        case Json::value_t::boolean:
            facts.emplace_back(json.get<bool>());
            return;
        case Json::value_t::number_integer:
            facts.emplace_back(json.get<std::int64_t>());
            return;
        case Json::value_t::number_unsigned:
            facts.emplace_back(json.get<std::uint64_t>());
            return;
        case Json::value_t::number_float:
            facts.emplace_back(json.get<double>());
            return;
        case Json::value_t::string:
            facts.emplace_back(json.get<std::string>());
            return;
        default:
            facts.emplace_back(Incomparable{json.is_null() ? "null" : "a structure"});
            return;
    }
}

}  // namespace

Facts facts_of_json(std::string_view text, std::span<const std::string> members) {
    constexpr int most_depth = 200;  // each costs stack
    bool is_deep = false;
    const Json json = Json::parse(
        text,
        [&](int depth, Json::parse_event_t, const Json&) {
            is_deep = is_deep || depth > most_depth;
            return !is_deep;
        },
        false);
    if (json.is_discarded() || is_deep) return {Incomparable{"a JSON text that is none"}};
    Facts facts;
    add_facts(facts, json, members);
    return facts;
}

}  // namespace pmemcpy::index
