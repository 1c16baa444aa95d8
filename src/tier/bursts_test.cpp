#include "tier/bursts.hpp"

#include <gtest/gtest.h>

namespace pmemcpy::tier {
namespace {

constexpr Watermarks marks{.high = 0.9, .low = 0.75};
constexpr std::uint64_t capacity = 1000;

Bursts after(std::initializer_list<std::uint64_t> looks, std::uint64_t apart_ns = Bursts::pause_ns) {
    Bursts bursts;
    std::uint64_t now_ns = 0;
    for (const std::uint64_t stored : looks) bursts.look(now_ns += apart_ns, stored);
    return bursts;
}

TEST(Bursts, it_is_quiet_until_somebody_stores_and_when_nobody_does_any_more) {
    EXPECT_TRUE(after({}).is_quiet());
    EXPECT_TRUE(after({500}).is_quiet());  // who stored that, and when, is not known
    EXPECT_FALSE(after({500, 600}).is_quiet());
    EXPECT_TRUE(after({500, 600, 600}).is_quiet());
}

TEST(Bursts, a_moment_without_stores_is_no_quiet_time) {
    constexpr std::uint64_t moment = Bursts::pause_ns / 4;
    EXPECT_FALSE(after({500, 600, 600, 600, 600}, moment).is_quiet());
    EXPECT_TRUE(after({500, 600, 600, 600, 600, 600}, moment).is_quiet());
    EXPECT_EQ(after({0, 100, 100, 300, 300}, moment).expected(), 300u);
}

TEST(Bursts, a_burst_is_what_was_stored_between_two_quiet_times) {
    EXPECT_EQ(after({0}).expected(), 0u);
    EXPECT_EQ(after({0, 100, 300, 300}).expected(), 300u);
    EXPECT_EQ(after({0, 100, 100, 150, 150}).expected(), 100u);
    EXPECT_EQ(after({0, 100, 100, 350}).expected(), 250u);  // which goes on
}

TEST(Bursts, one_that_is_long_ago_is_forgotten) {
    EXPECT_EQ(after({0, 500, 500, 510, 510, 520, 520, 530, 530}).expected(), 500u);
    EXPECT_EQ(after({0, 500, 500, 510, 510, 520, 520, 530, 530, 540, 540}).expected(), 10u);
}

TEST(Bursts, some_time_after_one_room_is_not_kept_for_another) {
    EXPECT_EQ(after({0, 300, 300}, Bursts::soon_ns).expected(), 0u);
    EXPECT_EQ(after({0, 300, 300, 300, 400}, Bursts::soon_ns).expected(), 300u);
}

TEST(Bursts, counting_that_begins_anew_is_no_burst) {
    EXPECT_TRUE(after({900, 0}).is_quiet());
    EXPECT_EQ(after({900, 0, 50, 50}).expected(), 50u);
}

TEST(Bursts, without_any_the_watermarks_are_all_that_counts) {
    const Bursts none;
    EXPECT_EQ(emptied_to(marks, capacity, 900, none, true), std::nullopt);
    EXPECT_EQ(emptied_to(marks, capacity, 901, none, true), 750u);
}

TEST(Bursts, while_somebody_stores_the_pool_is_only_kept_from_being_full) {
    const Bursts storing = after({0, 100});
    EXPECT_EQ(emptied_to(marks, capacity, 900, storing, true), std::nullopt);
    EXPECT_EQ(emptied_to(marks, capacity, 990, storing, true), 900u);
}

TEST(Bursts, meanwhile_a_target_below_makes_room_for_as_much_again_as_was_stored) {
    EXPECT_EQ(emptied_to(marks, capacity, 800, after({0, 100}), false), std::nullopt);
    EXPECT_EQ(emptied_to(marks, capacity, 801, after({0, 100}), false), 800u);
    EXPECT_EQ(emptied_to(marks, capacity, 990, after({0, 100, 300}), false), 600u);
    for (const std::uint64_t burst : {800u, 900u, 5000u}) {
        EXPECT_EQ(emptied_to(marks, capacity, 500, after({0, burst}), false), 150u) << "a fifth of low stays";
        EXPECT_EQ(emptied_to(marks, capacity, 150, after({0, burst}), false), std::nullopt);
    }
    EXPECT_EQ(emptied_to({.high = 0.2, .low = 0.1}, capacity, 990, after({0, 5000}), false), 20u);
}

TEST(Bursts, a_slow_target_begins_with_what_may_well_come) {
    EXPECT_EQ(after({0, 100}).to_come(), 200u);
    EXPECT_EQ(drained_to(marks, capacity, 700, after({0, 100})), std::nullopt);
    EXPECT_EQ(drained_to(marks, capacity, 701, after({0, 100})), 700u);
    EXPECT_EQ(drained_to(marks, capacity, 500, after({0, 400})), 150u) << "a fifth of low stays";
    EXPECT_EQ(drained_to(marks, capacity, 990, after({0, 300, 300})), std::nullopt) << "it is over";
    EXPECT_EQ(drained_to({.high = 1, .low = 0.5}, capacity, 990, after({0, 300})), std::nullopt);
}

TEST(Bursts, that_are_as_large_as_the_ones_before_have_nothing_more_to_come) {
    EXPECT_EQ(after({0, 300, 300, 400}).to_come(), 200u);
    EXPECT_EQ(after({0, 300, 300, 600}).to_come(), 0u);
    EXPECT_EQ(after({0, 300, 300, 610}).to_come(), 20u);
    EXPECT_EQ(drained_to(marks, capacity, 900, after({0, 300, 300, 600})), std::nullopt);
}

TEST(Bursts, before_the_next_one_there_is_room_for_all_of_it) {
    const Bursts of_300 = after({0, 300, 300});
    EXPECT_EQ(emptied_to(marks, capacity, 600, of_300, true), std::nullopt);
    EXPECT_EQ(emptied_to(marks, capacity, 601, of_300, true), 600u);
    const Bursts of_50 = after({0, 50, 50});
    EXPECT_EQ(emptied_to(marks, capacity, 851, of_50, true), 750u);
}

TEST(Bursts, of_what_low_would_keep_half_stays_however_large_they_are) {
    for (const std::uint64_t burst : {600u, 900u, 5000u}) {
        const Bursts large = after({0, burst, burst});
        EXPECT_EQ(emptied_to(marks, capacity, 800, large, true), 375u);
        EXPECT_EQ(emptied_to(marks, capacity, 375, large, true), std::nullopt);
    }
}

TEST(Bursts, without_a_high_watermark_nobody_makes_room_beforehand) {
    EXPECT_EQ(emptied_to({.high = 1, .low = 0.5}, capacity, 1000, after({0, 300, 300}), true), std::nullopt);
    EXPECT_EQ(emptied_to({.high = 1, .low = 1}, capacity, 1000, after({0, 300}), true), std::nullopt);
}

TEST(Bursts, a_target_without_capacity_is_left_alone) {
    EXPECT_EQ(emptied_to(marks, 0, 0, after({0, 300, 300}), true), std::nullopt);
}

}  // namespace
}  // namespace pmemcpy::tier
