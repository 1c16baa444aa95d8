#include "deaths.hpp"

#include "operations.hpp"

namespace pmemcpy::crash {
namespace {

constexpr std::size_t after_the_verb = ~std::size_t{0};

// Another process opens the pool and dies in the verb; when nobody else has it open, the next one recovers it.
Operation dying(const Operation& verb, std::size_t events, std::size_t* seen) {
    return {"death in " + verb.name, Effect::either, [=](PMEM& pmem) {
                PMEM other;
                const std::size_t had = dynamic_cast<Recorder&>(*persist::trace_sink())
                                            .kill_another([&] { other.mmap(SimulatedKernel::path); },
                                                          [&] { verb.call(other); }, events);
                if (seen != nullptr) *seen = had;
                if (!pmem.is_mapped()) pmem.mmap(SimulatedKernel::path);
            }};
}

std::vector<Death> beside_a_survivor() {
    const Operation value = store_text("v", 700, 'v'), large = store_text("w", 9000, 'w');
    const std::vector<Operation> array = {alloc("A", {8, 8}), store_box("A", {{0, 0}, {4, 8}}, 0),
                                          store_box("A", {{4, 0}, {4, 4}}, 100)};
    return {
        {"store_new", {value}, store_int("n", 1)},
        {"store_new_large", {value}, store_text("n", 9000, 'n')},
        {"overwrite", {value}, store_text("v", 600, 'x')},
        {"overwrite_in_another_page", {store_text("v", 20, 'v'), sync_pool()}, store_text("v", 400, 'x')},
        {"overwrite_large", {large}, store_text("w", 9500, 'x')},
        {"erase", {value, large}, erase("w")},
        {"rename", {value}, rename("v", "g/v")},
        {"set_attribute",
         {value, set_attribute("v", "k", "1")},
         set_attribute("v", "k", std::string(600, '2'))},
        {"erase_with_attribute", {value, set_attribute("v", "k", "1")}, erase("v")},
        {"store_box", array, store_box("A", {{4, 4}, {4, 4}}, 200)},
        {"overwrite_box", array, store_box("A", {{0, 0}, {4, 8}}, 300)},
        {"cover_boxes", array, store_box("A", {{0, 0}, {8, 8}}, 400)},
        {"erase_array", array, erase("A")},
        {"trim", {value, large, erase("w")}, trim()},
    };
}

}  // namespace

std::vector<Death> deaths() {
    std::vector<Death> all;
    for (Death& death : beside_a_survivor()) {
        Death alone = death;
        alone.is_alone = true;
        alone.name += "_alone";
        all.push_back(std::move(death));
        all.push_back(std::move(alone));
    }
    return all;
}

Script script_of(const Death& death, std::size_t events, std::size_t* seen) {
    Script script{death.name, small_pool(), {open_pool()}};
    std::vector<Operation>& all = script.operations;
    all.insert(all.end(), death.before.begin(), death.before.end());
    if (death.is_alone) all.push_back(close_pool());
    script.first_operation = all.size();
    all.push_back(dying(death.verb, events, seen));
    for (const Operation& after :
         {store_int("after", 1), store_text("after_large", 6000, 'l'), sync_pool(), trim(), close_pool()})
        all.push_back(after);
    return script;
}

std::size_t events_of(const Death& death, Model model) {
    std::size_t events = 0;
    SimulatedKernel kernel(model);
    perform(kernel, script_of(death, after_the_verb, &events),
            model == Model::page ? Grain::element : Grain::array);
    return events;
}

}  // namespace pmemcpy::crash
