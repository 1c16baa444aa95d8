// A process that frees a unit exchanges the unit's word and then clears its bit. When others clear that bit too, its slab looks empty, and
// is somebody's data when the late process clears a bit there.

#include "hint.hpp"
#include "expect.hpp"

namespace pmemcpy::model {
namespace {

TEST(Hint, that_adopters_clear_too_changes_data) {
    expect_fault("adopters clear hints", Hint{}, "a late bit changes what is somebody's data by now");
}

TEST(Hint, that_nobody_else_clears_loses_the_unit_of_the_dead) {
    Hint model;
    model.hints = Hints::nobody_else;
    expect_fault("nobody else clears hints", model, "a unit is free and nobody will ever look at it");
}

TEST(Hint, that_goes_before_the_word_is_right_beside_deaths) {
    Hint model;
    model.hints = Hints::word_last;
    expect_sound("the word last", model, 1'000);
    model.most_deaths = 3;
    expect_sound("the word last, three deaths", model, 1'500);
}

}  // namespace
}  // namespace pmemcpy::model
