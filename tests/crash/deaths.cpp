#include "deaths.hpp"

#include <algorithm>

#include "operations.hpp"

namespace pmemcpy::crash {
namespace {

constexpr std::size_t after_the_verb = ~std::size_t{0};

// Another process opens the pool and dies in the verb; when nobody else has it open, the next one recovers it.
Operation dying(const Operation& verb, std::size_t events, Recorder::Part* seen) {
    return {"death in " + verb.name, Effect::either, [=](PMEM& pmem) {
                PMEM other;
                const Recorder::Part had = dynamic_cast<Recorder&>(*persist::trace_sink())
                                               .kill_another([&] { other.mmap(SimulatedKernel::path); },
                                                             [&] { verb.call(other); }, events);
                if (seen != nullptr) *seen = had;
                if (!pmem.is_mapped()) pmem.mmap(SimulatedKernel::path);
            }};
}

// Only where the survivor sees what the dead one has made.
Operation on(const std::string& id, Operation operation, std::vector<std::string> builds_on) {
    operation.effect = operation.effect == Effect::changes ? Effect::maybe : operation.effect;
    operation.call = [id, call = operation.call](PMEM& pmem) {
        const std::vector<std::string> groups = pmem.groups();
        if (pmem.exists(id) || std::find(groups.begin(), groups.end(), id) != groups.end()) call(pmem);
    };
    operation.builds_on = std::move(builds_on);
    return operation;
}

std::vector<Death> built_upon() {
    const Operation value = store_text("v", 700, 'v'), array = alloc("A", {8, 8});
    ArrayOptions in_place;
    in_place.contiguous = true;
    const Operation fill = {"fill and freeze C", Effect::changes, [](PMEM& pmem) {
                                pmem.store<double>("C", numbers(64, 5).data(), Box{{0, 0}, {8, 8}});
                                pmem.freeze("C");
                            }};
    std::vector<Operation> seven_boxes = {array};
    for (std::size_t i = 0; i < 7; ++i)
        seven_boxes.push_back(store_box("A", {{i, 0}, {1, 4}}, 10.0 * static_cast<double>(i)));
    const std::vector<Operation> first_step = {begin(1), store_int("v", 1, Effect::hidden), commit(1)};
    const Operation second_step = {"a step", Effect::changes, [](PMEM& pmem) {
                                       pmem.begin(2);
                                       pmem.store("v", 2);
                                       pmem.commit(2);
                                   }};
    const std::vector<Operation> third_step = {trim(),
                                               begin(3),
                                               store_int("v", 3, Effect::hidden),
                                               store_text("w", 700, 'w', Effect::hidden),
                                               store_text("x", 700, 'x', Effect::hidden),
                                               commit(3)};
    return {
        {"alloc", {value}, array, {on("A", array, {"A"})}},
        {"alloc_and_store", {value}, array, {on("A", store_box("A", {{0, 0}, {4, 8}}, 1), {"A"})}},
        {"alloc_in_place", {value}, alloc("C", {8, 8}, in_place), {on("C", fill, {"C"})}},
        {"append_segment",
         seven_boxes,
         store_box("A", {{7, 0}, {1, 4}}, 70),
         {store_box("A", {{0, 4}, {1, 4}}, 80)}},
        {"store_and_set_attribute",
         {value},
         store_int("n", 1),
         {on("n", set_attribute("n", "k", "1"), {"n"})}},
        {"store_and_rename", {value}, store_int("n", 1), {on("n", rename("n", "m"), {"n", "m"})}},
        {"store_in_group", {value}, store_int("g/x", 1), {on("g", store_int("g/y", 2), {"g/"})}},
        {"rename_and_overwrite", {value}, rename("v", "w"), {on("w", store_int("w", 2), {"v", "w"})}},
        {"rename_and_set_attribute",
         {value, set_attribute("v", "k", "0")},
         rename("v", "w"),
         {on("w", set_attribute("w", "k", "1"), {"v", "w"})}},
        {"rename_again", {value}, rename("v", "w"), {on("w", rename("w", "x"), {"v", "w", "x"})}},
        {"rename_array",
         {array},
         rename("A", "B"),
         {on("B", store_box("B", {{0, 0}, {4, 8}}, 1), {"A", "B"})}},
        {"commit", first_step, second_step, third_step},
    };
}

// A version that a later one leads to, in a slab of its own: once a recovery has dropped it, the chunk is another's.
Death with_an_old_version() {
    constexpr std::size_t in_a_slab = 6, size = 500;
    Death death{"store_over_old_version",
                {begin(1), store_text("v", size, '1', Effect::hidden), commit(1)},
                store_int("n", 1)};
    const auto filler = [](std::size_t i) { return "f" + std::to_string(i); };
    for (std::size_t i = 1; i < in_a_slab; ++i) death.before.push_back(store_text(filler(i), size, 'f'));
    for (const Operation& operation : {begin(2), store_text("v", size, '2', Effect::hidden), commit(2)})
        death.before.push_back(operation);
    for (std::size_t i = 1; i < in_a_slab; ++i) death.before.push_back(erase(filler(i)));
    return death;
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
        {"rename_renamed", {value, rename("v", "w")}, rename("w", "x")},
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
    std::vector<Death> beside = beside_a_survivor();
    beside.push_back(with_an_old_version());
    for (Death& death : built_upon()) beside.push_back(std::move(death));
    for (Death& death : beside) {
        Death alone = death;
        alone.is_alone = true;
        alone.name += "_alone";
        all.push_back(std::move(death));
        all.push_back(std::move(alone));
    }
    return all;
}

Script script_of(const Death& death, std::size_t events, Recorder::Part* seen) {
    Script script{death.name, small_pool(), {open_pool()}};
    std::vector<Operation>& all = script.operations;
    all.insert(all.end(), death.before.begin(), death.before.end());
    if (death.is_alone) all.push_back(close_pool());
    script.first_operation = all.size();
    all.push_back(dying(death.verb, events, seen));
    all.insert(all.end(), death.then.begin(), death.then.end());
    for (const Operation& after : {store_int("after", 1), store_text("after_large", 6000, 'l'), sync_pool(),
                                   trim(), store_text("at_last", 700, 'L'), close_pool()})
        all.push_back(after);
    return script;
}

Undisturbed undisturbed(const Death& death, Model model) {
    Recorder::Part verb;
    SimulatedKernel kernel(model);
    const Run run = perform(kernel, script_of(death, after_the_verb, &verb),
                            model == Model::page ? Grain::element : Grain::array);
    const auto first = run.recording.events.begin() + static_cast<std::ptrdiff_t>(verb.first);
    return {{first, first + static_cast<std::ptrdiff_t>(verb.count)}, run.contents[run.first_operation + 1]};
}

bool leaves_unflushed(const std::vector<Event>& events, std::size_t count) {
    if (count == 0 || count >= events.size()) return false;
    const Event& last = events[count - 1];
    const Event& next = events[count];
    return last.kind == Event::Kind::store && last.size == sizeof(std::uint64_t) &&
           next.kind == Event::Kind::flush && next.offset == last.offset && next.size == last.size;
}

}  // namespace pmemcpy::crash
