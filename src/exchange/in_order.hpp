#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pmemcpy::exchange {

/// The names in `wanted` first, as far as they are there; then the others as they come.
template <class Thing, class NameOf>
void put_in_order(std::vector<Thing>& things, const nlohmann::json& wanted, NameOf&& name_of) {
    std::map<std::string, std::size_t> rank;
    if (wanted.is_array()) {
        for (const auto& name : wanted) {
            if (name.is_string()) rank.emplace(name.template get<std::string>(), rank.size());
        }
    }
    std::stable_sort(things.begin(), things.end(), [&](const Thing& a, const Thing& b) {
        const auto left = rank.find(name_of(a)), right = rank.find(name_of(b));
        return (left == rank.end() ? rank.size() : left->second) <
               (right == rank.end() ? rank.size() : right->second);
    });
}

}  // namespace pmemcpy::exchange
