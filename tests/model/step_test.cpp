// A process dies in a step; a second one begins the step anew and drops what is left of it, while a third one begins it as well.

#include "step.hpp"
#include "expect.hpp"

namespace pmemcpy::model {
namespace {

using Task = Step::Task;

Step three(Begin begins) {
    Step model;
    model.begins = begins;
    model.takes_lock = begins == Begin::enters_under_the_lock;
    model.tasks[0] = {Task::begin_one, Task::store_first, Task::leave};
    model.tasks[1] = {Task::notice_deaths, Task::begin_one, Task::store_first, Task::commit_one, Task::leave};
    model.tasks[2] = {Task::begin_one, Task::store_first, Task::commit_one, Task::leave};
    return model;
}

// C commits a step that it has not begun.
Step committed_from_outside() {
    Step model;
    model.begins = Begin::enters_under_the_lock;
    model.tasks[0] = {Task::begin_one, Task::store_first, Task::store_second, Task::leave};
    model.tasks[1] = {Task::notice_deaths, Task::begin_one, Task::store_first, Task::leave};
    model.tasks[2] = {Task::commit_one};
    return model;
}

TEST(Begin, that_looks_before_it_enters_only_loses_a_store) {
    Step model = three(Begin::looks_first);
    model.minds_refusals = false;
    expect_fault("begin looks first", model, "a committed step lacks what somebody living has stored in it");
    expect_fault("begin looks first, refused", three(Begin::looks_first),
                 "a process that has begun a step is told that nobody has");
}

TEST(Begin, that_starts_over_without_leaving_waits_for_another_that_does) {
    expect_fault("begin starts over in the step", three(Begin::starts_over_in_it),
                 "from here on somebody waits or tries again for ever");
}

TEST(Begin, that_starts_over_only_once_loses_a_store) {
    Step model = three(Begin::starts_over_once);
    model.minds_refusals = false;
    expect_fault("begin starts over once", model,
                 "a committed step lacks what somebody living has stored in it");
}

TEST(Begin, that_leaves_and_starts_over_loses_nothing) {
    Step model = three(Begin::starts_over);
    model.most_deaths = 2;
    expect_sound("begin starts over", model, 15'000);
}

TEST(Begin, that_enters_under_the_lock_when_a_step_is_broken_loses_nothing) {
    Step model = three(Begin::enters_under_the_lock);
    model.most_deaths = 2;
    expect_sound("begin enters under the lock", model, 15'000);
    model.tasks[0] = {Task::begin_one, Task::store_first, Task::abandon};
    expect_sound("begin beside one that abandons", model, 15'000);
}

TEST(Commit, by_a_process_outside_the_step_commits_half_of_what_is_being_dropped) {
    expect_fault("commit from outside", committed_from_outside(),
                 "a step was committed with a half of what a process has stored in it");
}

// A has stored all of step 1, and dies in step 2, so that step 1 may be committed; and B begins step 2 anew.
Step committed_beside_a_later_death() {
    Step model = committed_from_outside();
    model.tasks[0] = {Task::begin_one, Task::store_first, Task::store_second, Task::begin_two, Task::leave};
    model.tasks[1] = {Task::notice_deaths, Task::begin_two, Task::store_first, Task::leave};
    return model;
}

TEST(Commit, of_a_step_before_a_broken_one_commits_half_of_what_is_being_dropped) {
    expect_fault("commit below a broken step", committed_beside_a_later_death(),
                 "a step was committed with a half of what a process has stored in it");
}

TEST(Commit, of_a_step_before_a_broken_one_is_whole_under_the_lock) {
    Step model = committed_beside_a_later_death();
    model.takes_lock = true;
    expect_sound("commit below a broken step, under the lock", model, 5'000);
}

TEST(Commit, from_outside_is_whole_under_the_lock) {
    Step model = committed_from_outside();
    model.takes_lock = true;
    model.most_deaths = 2;
    expect_sound("commit from outside, under the lock", model, 5'000);
}

// B has looked whether the step is broken when A abandons it.
Step committed_beside_one_that_abandons() {
    Step model;
    model.begins = Begin::enters_under_the_lock;
    model.tasks[0] = {Task::begin_one, Task::store_first, Task::abandon};
    model.tasks[1] = {Task::begin_one, Task::store_first, Task::commit_one, Task::leave};
    return model;
}

TEST(Abandon, beside_a_commit_commits_what_was_abandoned) {
    expect_fault("abandon beside a commit", committed_beside_one_that_abandons(),
                 "a step was committed with what had been abandoned");
}

TEST(Abandon, under_the_lock_of_a_commit_abandons_it) {
    Step model = committed_beside_one_that_abandons();
    model.takes_lock = true;
    model.tasks[2] = {Task::begin_one, Task::store_first, Task::commit_one, Task::leave};
    model.most_deaths = 1;
    expect_sound("abandon beside a commit, under the lock", model, 5'000);
}

}  // namespace
}  // namespace pmemcpy::model
