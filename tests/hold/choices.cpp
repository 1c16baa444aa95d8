#include "choices.hpp"

#include <string>
#include <utility>

#include "calls.hpp"
#include "drawn.hpp"

namespace pmemcpy::hold {
namespace {

std::string name_of(const std::vector<Call>& calls) {
    std::string name;
    for (const Call& call : calls) name += (name.empty() ? "" : ", ") + call.name;
    return name;
}

Actor actor(std::size_t number, const std::vector<Call>& calls) {
    return {std::string(1, static_cast<char>('A' + number)), calls, {}, calls[0].name.starts_with("open")};
}

}  // namespace

std::vector<Scenario> reuses(crash::Model model) {
    const std::vector<std::vector<Call>> others = {
        {erase("v"), store_int("n", 1), store_int("m", 2)},
        {erase("v"), store_text("n", 700, 'n'), rename("n", "v")},
        {store_text("v", 700, '1'), store_text("w", 700, '2'), store_text("v", 700, '3')},
        {store_int("v", 1), store_int("w", 2), store_int("v", 3), store_int("w", 4)},
        {erase("A"), alloc("c", {8, 8}), store_box("c", {{0, 0}, {4, 8}}, 5)},
        {store_box("A", {{0, 0}, {8, 8}}, 7), store_box("S", {{1, 0}, {1, 3}}, 8),
         store_box("A", {{0, 0}, {8, 8}}, 9)},
        {remove_attribute("v", "units"), set_attribute("w", "other", "x"), set_attribute("g", "units", "y")},
        {rename("v", "z"), store_text("v", 600, 'o'), erase("z"), store_int("n", 3)},
        {erase("r"), store_int("n", 1), rename("n", "r")},
        {begin(1), store_text("v", 700, 's'), commit(1), compact(), store_text("w", 700, 'o'),
         store_int("n", 1)},
    };
    std::vector<Scenario> scenarios;
    for (const std::vector<Call>& one : all_verbs()) {
        for (const std::vector<Call>& other : others) {
            Scenario scenario;
            scenario.name = name_of(one) + " / " + name_of(other);
            scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
            scenario.actors = {actor(1, other), actor(0, one)};
            scenario.actors[0].prepare = set_up_everything;
            scenario.turns = {held(1), ends(0), ends(1)};
            scenario.model = model;
            scenarios.push_back(std::move(scenario));
        }
    }
    return scenarios;
}

std::vector<Scenario> choices(const Menu& menu, std::size_t actors, const std::vector<Turn>& turns,
                              crash::Model model, std::size_t one_in, Layout layout) {
    const auto& verbs = menu.verbs;
    std::size_t all = 1;
    for (std::size_t i = 0; i < actors; ++i) all *= verbs.size();
    std::vector<Scenario> scenarios;
    for (std::size_t number = 0; number < all; ++number) {
        if (!is_drawn(number, one_in)) continue;
        Scenario scenario;
        scenario.setup = menu.setup;
        scenario.turns = turns;
        scenario.model = model;
        scenario.options.layout = layout;
        std::size_t rest = number;
        for (std::size_t i = 0; i < actors; ++i, rest /= verbs.size()) {
            const std::vector<Call>& calls = verbs[rest % verbs.size()];
            scenario.name += (i == 0 ? "" : " / ") + name_of(calls);
            scenario.actors.push_back(actor(i, calls));
        }
        scenarios.push_back(std::move(scenario));
    }
    return scenarios;
}

}  // namespace pmemcpy::hold
