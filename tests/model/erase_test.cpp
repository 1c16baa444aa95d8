// Two clean up after the erase of one array, and the faster one makes another array in its units before the slower one exchanges a word
// that it has read there. And a slot that is emptied behind the seal takes a block that only its writer knows to be lost.

#include "erase.hpp"
#include "expect.hpp"

#include <cstdlib>

namespace pmemcpy::model {
namespace {

Erase erase(Seals seals) {
    Erase model;
    model.seals = seals;
    return model;
}

TEST(RetireArray, that_exchanges_what_it_has_read_destroys_the_next_array) {
    expect_fault("retire_array looks never", erase(Seals::what_it_has_read),
                 "the directory of a new array is destroyed by a late erase");
}

TEST(RetireArray, that_looks_only_after_its_first_read_destroys_the_next_array) {
    expect_fault("retire_array looks once", erase(Seals::if_current), "a new array's slot is sealed");
}

TEST(RetireArray, that_looks_after_each_failed_exchange_too_destroys_nothing) {
    expect_sound("retire_array looks each time", erase(Seals::if_still_current), 200'000);
}

TEST(RetireArray, that_passes_by_a_dead_slot_loses_the_block_of_one_that_is_killed) {
    Erase model = erase(Seals::if_still_current);
    model.unlinks_first = true;
    expect_fault("retire_array passes by dead slots", model, "a unit is lost for ever");
}

TEST(RetireArray, that_seals_dead_slots_too_loses_nothing) {
    Erase model = erase(Seals::if_still_current);
    model.seals_dead_slots = true;
    model.unlinks_first = true;
    expect_sound("retire_array seals dead slots", model, 800'000);
    if (std::getenv("PMEMCPY_LONG") == nullptr) return;
    model.most_deaths = 3;
    expect_sound("retire_array seals dead slots, three deaths", model, 800'000);
}

}  // namespace
}  // namespace pmemcpy::model
