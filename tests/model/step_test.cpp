// A process dies in a step; a second one begins the step anew and drops what is left of it, while a third one begins it as well.

#include "step.hpp"
#include "expect.hpp"

namespace pmemcpy::model {
namespace {

using Task = Step::Task;

Step three() {
    Step model;
    model.tasks[0] = {Task::begin_one, Task::store_first, Task::leave};
    model.tasks[1] = {Task::come, Task::begin_one, Task::store_first, Task::commit_one, Task::leave};
    model.tasks[2] = {Task::begin_one, Task::store_first, Task::commit_one, Task::leave};
    return model;
}

// C commits a step that it has not begun.
Step committed_from_outside() {
    Step model;
    model.tasks[0] = {Task::begin_one, Task::store_first, Task::store_second, Task::leave};
    model.tasks[1] = {Task::come, Task::begin_one, Task::store_first, Task::leave};
    model.tasks[2] = {Task::commit_one};
    return model;
}

TEST(Begin, that_looks_before_it_enters_only_loses_a_store) {
    Step model = three();
    model.says_that_it_enters = false;
    expect_fault("begin looks first", model, "a committed step lacks what somebody living has stored in it");
}

TEST(Begin, that_nobody_turns_away_while_it_enters_loses_a_store) {
    Step model = three();
    model.is_turned_away = false;
    expect_fault("begin is not turned away", model,
                 "a committed step lacks what somebody living has stored in it");
}

TEST(Begin, that_is_turned_away_while_it_enters_loses_nothing) {
    Step model = three();
    model.most_deaths = 2;
    expect_sound("begin", model, 15'000);
    model.tasks[0] = {Task::begin_one, Task::store_first, Task::abandon};
    expect_sound("begin beside one that abandons", model, 15'000);
}

TEST(Commit, by_a_process_outside_the_step_commits_half_of_what_is_being_dropped) {
    Step model = committed_from_outside();
    model.takes_lock = false;
    expect_fault("commit from outside", model,
                 "a step was committed with a half of what a process has stored in it");
}

TEST(Commit, from_outside_is_whole_under_the_lock) {
    Step model = committed_from_outside();
    model.most_deaths = 2;
    expect_sound("commit from outside, under the lock", model, 5'000);
}

// A has stored all of step 1, and dies in step 2, so that step 1 may be committed; and B begins step 2 anew.
Step committed_beside_a_later_death() {
    Step model = committed_from_outside();
    model.tasks[0] = {Task::begin_one, Task::store_first, Task::store_second, Task::begin_two, Task::leave};
    model.tasks[1] = {Task::come, Task::begin_two, Task::store_first, Task::leave};
    return model;
}

TEST(Drop, of_all_that_is_not_committed_takes_a_step_before_the_broken_one) {
    Step model = committed_beside_a_later_death();
    model.drops_the_broken = false;
    expect_fault("drop of all steps", model, "a step before a broken one was dropped with it");
}

TEST(Drop, of_a_broken_step_leaves_those_before_it) {
    expect_sound("drop of a broken step", committed_beside_a_later_death(), 5'000);
}

// B gives up step 2 while A is in step 1, so that C drops step 2, and then comes to learn of A's death.
Step dropped_beside_an_earlier_death() {
    Step model;
    model.tasks[0] = {Task::begin_one, Task::store_first, Task::store_second, Task::leave};
    model.tasks[1] = {Task::begin_two, Task::abandon, Task::come, Task::commit_one};
    model.tasks[2] = {Task::begin_two, Task::leave};
    return model;
}

TEST(Drop, that_stores_that_nothing_is_broken_forgets_a_death_in_an_earlier_step) {
    Step model = dropped_beside_an_earlier_death();
    model.exchanges_the_note = false;
    expect_fault("drop forgets a death", model, "a step was committed that a process had died in");
}

TEST(Drop, that_exchanges_what_it_has_dropped_forgets_no_death) {
    Step model = dropped_beside_an_earlier_death();
    model.most_deaths = 2;
    expect_sound("drop beside an earlier death", model, 5'000);
}

// B has looked whether the step is broken when A abandons it.
Step committed_beside_one_that_abandons() {
    Step model;
    model.tasks[0] = {Task::begin_one, Task::store_first, Task::abandon};
    model.tasks[1] = {Task::begin_one, Task::store_first, Task::commit_one, Task::leave};
    return model;
}

TEST(Abandon, beside_a_commit_commits_what_was_abandoned) {
    Step model = committed_beside_one_that_abandons();
    model.takes_lock = false;
    expect_fault("abandon beside a commit", model, "a step was committed with what had been abandoned");
}

TEST(Abandon, under_the_lock_of_a_commit_abandons_it) {
    Step model = committed_beside_one_that_abandons();
    model.tasks[2] = {Task::begin_one, Task::store_first, Task::commit_one, Task::leave};
    expect_sound("abandon beside a commit, under the lock", model, 5'000);
}

}  // namespace
}  // namespace pmemcpy::model
