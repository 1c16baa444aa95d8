// Two that overwrite one value retire the same record when the one replaces what the other has just published. Its unit may be the
// next value's by the time that the slower one reads which record it had replaced.

#include "expect.hpp"
#include "publish.hpp"

#include <cstdlib>

namespace pmemcpy::model {
namespace {

Publish writers() {
    Publish model;
    model.slab_of = {0, 1, 1, 0, 0, 2, 2};
    model.tasks[0] = {Task::store};
    model.tasks[1] = {Task::store, Task::store};
    return model;
}

// An abandoned step is dropped by putting the version before it back, whose unit is in a slab of a process that lives on.
Publish dropper() {
    Publish model;
    model.starts_in_step = true;
    model.slab_of = {0, 1, 0, 1, 1, 0, 2};
    model.tasks[0] = {Task::drop};
    model.tasks[1] = {Task::store, Task::store};
    model.tasks[2] = {Task::scavenge};
    model.mends.claim_looks_twice = true;
    return model;
}

TEST(Claim, that_looks_once_follows_a_reused_unit_to_a_published_value) {
    expect_fault("claim looks once", writers(), "a published value is lost");
}

TEST(Claim, that_looks_twice_loses_nothing_beside_a_death) {
    Publish model = writers();
    model.mends.claim_looks_twice = true;
    model.mends.finish_step_looks_twice = true;
    model.tasks[2] = {Task::scavenge};
    expect_sound("claim looks twice", model, 700'000);
}

TEST(FinishStep, that_looks_once_follows_a_reused_unit_to_a_published_value) {
    expect_fault("finish_step looks once", dropper(), "a published value is lost");
}

TEST(FinishStep, that_looks_twice_loses_nothing) {
    Publish model = dropper();
    model.mends.finish_step_looks_twice = true;
    expect_sound("finish_step looks twice", model, 70'000);
}

TEST(Claim, loses_nothing_beside_two_deaths_and_a_third_writer) {
    if (std::getenv("PMEMCPY_LONG") == nullptr) GTEST_SKIP() << "only under PMEMCPY_LONG";
    Publish model = writers();
    model.mends.claim_looks_twice = true;
    model.mends.finish_step_looks_twice = true;
    model.tasks[1] = {Task::store, Task::store};
    model.tasks[2] = {Task::store, Task::scavenge};
    expect_sound("three writers", model, 1'000'000);
    model.tasks[2] = {Task::scavenge};
    model.most_deaths = 2;
    expect_sound("two deaths", model, 1'000'000);
}

}  // namespace
}  // namespace pmemcpy::model
