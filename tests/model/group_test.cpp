// Each rule by which a group and what is made in it do not miss each other, left out once. Of the last one a test under the thread
// sanitizer told: an entry that an eraser had flagged got a value, and was taken out of its chain with it.

#include "group.hpp"
#include "expect.hpp"

#include <cstdlib>

namespace pmemcpy::model {
namespace {

constexpr GroupMends all = {true, true, true, true};

Group group(const GroupMends& mends, int makers = 1, int erasers = 1, int most_deaths = 0) {
    Group model;
    model.mends = mends;
    model.makers = makers;
    model.erasers = erasers;
    model.most_deaths = most_deaths;
    return model;
}

TEST(EraseGroup, that_is_not_announced_erases_what_somebody_makes_something_in) {
    GroupMends mends = all;
    mends.eraser_announces = false;
    expect_fault("an eraser does not announce itself", group(mends),
                 "a group is erased with something in it");
}

TEST(EraseGroup, whose_process_has_died_tells_makers_nothing) {
    GroupMends mends = all;
    mends.maker_minds_the_dead = false;
    expect_fault("a maker trusts an odd count", group(mends, 2, 1, 1),
                 "a group is erased with something in it");
}

TEST(EraseGroup, that_passes_by_what_has_no_value_erases_what_gets_one) {
    GroupMends mends = all;
    mends.eraser_minds_the_unmade = false;
    expect_fault("an eraser passes by what has no value", group(mends),
                 "a group is erased with something in it");
}

TEST(EraseGroup, whose_flag_a_maker_takes_for_no_value_loses_what_was_made) {
    GroupMends mends = all;
    mends.flagged_gets_no_value = false;
    expect_fault("a maker gives a value to what is flagged", group(mends),
                 "what was acknowledged is in no chain");
}

TEST(EraseGroup, loses_nothing) {
    expect_sound("a group, a maker and an eraser", group(all, 1, 1, 2), 2'000);
    expect_sound("a group, two erasers", group(all, 1, 2, 1), 50'000);
    expect_sound("a group, two makers", group(all, 2, 1, 0), 500'000);
    if (std::getenv("PMEMCPY_LONG") == nullptr) return;
    expect_sound("a group, two erasers, two deaths", group(all, 1, 2, 2), 50'000);
    expect_sound("a group, two makers, two deaths", group(all, 2, 1, 2), 2'000'000);
}

}  // namespace
}  // namespace pmemcpy::model
