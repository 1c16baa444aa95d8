// Processes come and go, and some of them die. One that looks for a slot finds its owner alive, the owner dies, and the newcomer takes the
// slot with all that was half done in it.

#include "attach.hpp"
#include "expect.hpp"

namespace pmemcpy::model {
namespace {

Attach mended() {
    Attach model;
    model.looks_again_at_slot = true;
    return model;
}

Attach beside_reader(Reader reads) {
    Attach model = mended();
    model.has_reader = true;
    model.reads = reads;
    return model;
}

constexpr const char* refused = "a reader is refused though the pool was clean or in use all the time";

TEST(TakeSlot, that_looks_once_forgets_what_its_owner_left_who_died_since) {
    expect_fault("take_slot looks once", Attach{}, "somebody works in a pool that was not recovered");
}

TEST(TakeSlot, that_looks_again_when_it_has_the_lock_forgets_nothing) {
    for (const bool starts_clean : {true, false}) {
        for (const int most_deaths : {0, 1, 2}) {
            Attach model = mended();
            model.starts_clean = starts_clean;
            model.most_deaths = most_deaths;
            expect_sound("attach, " + std::to_string(most_deaths) + " deaths", model, 25'000);
        }
    }
}

// Could these tests fail? What the protocol says is needed is left out.
TEST(Attach, without_scavenging_at_the_end_calls_a_pool_clean_that_is_not) {
    Attach model = mended();
    model.scavenges_at_close = false;
    expect_fault("no scavenging", model, "a pool is called clean that the dead have not flushed");
}

TEST(Attach, to_a_session_of_before_a_power_loss_works_in_a_pool_that_was_not_recovered) {
    Attach model = mended();
    model.looks_at_boot = false;
    model.starts_clean = false;
    expect_fault("joins a session of before a power loss", model,
                 "somebody works in a pool that was not recovered");
}

TEST(Attach, to_a_session_that_is_half_rebuilt_works_in_a_pool_that_was_not_recovered) {
    Attach model = mended();
    model.looks_at_count = false;
    model.most_deaths = 2;
    expect_fault("joins a session that is half rebuilt", model,
                 "somebody works in a pool that was not recovered");
}

TEST(Attach, without_a_recovery_at_the_end_calls_a_pool_clean_that_is_not_flushed) {
    Attach model = mended();
    model.recovers_at_close = false;
    expect_fault("no recovery at the end", model, "a pool is called clean that the dead have not flushed");
}

TEST(Reader, that_asks_once_or_twice_is_refused_beside_writers) {
    expect_fault("reader asks once", beside_reader(Reader::asks_once), refused);
    expect_fault("reader asks again", beside_reader(Reader::asks_again), refused);
}

TEST(Reader, that_asks_of_one_session_is_refused_only_where_recovery_is_due) {
    expect_sound("reader asks of one session", beside_reader(Reader::asks_of_one_session), 10'000);
}

}  // namespace
}  // namespace pmemcpy::model
