// A value that is stored in no step replaces an uncommitted version, and the committed one behind that has to go too. A process that
// dies between the two leaves nothing that leads there but the intent in its slot.

#include "publish.hpp"
#include "expect.hpp"

#include <cstdlib>

namespace pmemcpy::model {
namespace {

Publish over_a_step() {
    Publish model;
    model.starts_in_step = true;
    model.slab_of = {0, 1, 1, 0, 1, 2, 2};
    model.tasks[0] = {Task::store};
    model.tasks[1] = {Task::store};
    model.tasks[2] = {Task::scavenge};
    model.mends.claim_looks_twice = true;
    model.mends.finish_step_looks_twice = true;
    return model;
}

TEST(Publish, over_an_uncommitted_version_loses_the_unit_behind_it_when_the_intent_ends_first) {
    expect_fault("intent ends before previous is retired", over_a_step(), "a unit is lost for ever");
}

TEST(Publish, over_an_uncommitted_version_loses_the_unit_behind_it_when_the_intent_does_not_name_it) {
    Publish model = over_a_step();
    model.mends.intent_ends_last = true;
    model.mends.finish_step_takes_previous = true;
    expect_fault("intent ends last", model, "a unit is lost for ever");
}

TEST(Publish, over_an_uncommitted_version_loses_nothing_when_the_intent_names_what_is_behind_it) {
    Publish model = over_a_step();
    model.mends.intent_ends_last = true;
    model.mends.intent_names_previous = true;
    expect_sound("intent names previous", model, 400'000);
}

TEST(Publish, in_a_step_and_dropped_beside_stores_loses_nothing) {
    Publish model = over_a_step();
    model.mends.intent_ends_last = true;
    model.mends.intent_names_previous = true;
    model.tasks[0] = {Task::store_in_step};
    model.tasks[1] = {Task::drop};
    model.tasks[2] = {Task::store};
    expect_sound("store, step store and drop", model, 100'000);
    if (std::getenv("PMEMCPY_LONG") == nullptr) return;
    model.tasks[2] = {Task::store, Task::scavenge};
    expect_sound("store, step store, drop and death", model, 1'000'000);
}

}  // namespace
}  // namespace pmemcpy::model
