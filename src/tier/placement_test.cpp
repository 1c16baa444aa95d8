#include "tier/placement.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace pmemcpy::tier {
namespace {

Level level(double bandwidth, double latency, std::uint64_t capacity, std::uint64_t remaining) {
    return {bandwidth, latency, capacity, remaining, capacity - remaining, 0, false};
}

// Algorithm 1's three ways, with numbers for which each is the best. Two targets of 100 and 10 bytes a second, latency 1.
TEST(placement, max_bandwidth_splits_what_does_not_fit) {
    const std::vector<Level> ledger = {level(100, 1, 10, 4), level(10, 1, 1000, 1000)};
    // skip 6/10; split 4/100 + 2/10 = 0.24; flush 2/10 + 6/100 = 0.26
    const Plan plan = decide(Policy::max_bandwidth, ledger, {6});
    EXPECT_DOUBLE_EQ(plan.cost, 0.24);
    ASSERT_EQ(plan.size, 2u);
    EXPECT_EQ(plan.steps[0].bytes, 4u);
    EXPECT_EQ(plan.steps[1].level, 1);
}

// The same for a block, which does not divide: skip 6/10; flush 2/10 + 6/100. Counted in pieces of ten the pool has no room to add to.
TEST(placement, max_bandwidth_makes_room_for_a_block_of_which_a_part_would_fit) {
    const std::vector<Level> ledger = {level(100, 1, 10, 4), level(10, 1, 1000, 1000)};
    const Request block{.bytes = 6, .is_divisible = false};
    const Plan plan = decide(Policy::max_bandwidth, ledger, block);
    EXPECT_DOUBLE_EQ(plan.cost, 0.26);
    ASSERT_EQ(plan.size, 2u);
    EXPECT_EQ(plan.steps[0].what, Plan::What::make_room);
    EXPECT_EQ(plan.steps[0].bytes, 2u);
    const Plan in_pieces = decide(Policy::max_bandwidth, ledger, block, 10);
    EXPECT_DOUBLE_EQ(in_pieces.cost, 0.6);
    EXPECT_EQ(in_pieces.steps[0].level, 1);
}

// Moving goes to where moving is cheap; here the next target is fast and full of nothing, and the one below slow.
TEST(placement, max_bandwidth_makes_room_when_the_next_target_is_the_faster_way) {
    // A latency that is lower below: a request there costs less than it does here, but the room is at the bottom.
    const std::vector<Level> ledger = {level(100, 1, 10, 0), level(50, 1, 4, 4), level(1, 1, 1000, 1000)};
    // skip, split: 4/50 + 6/1 = 6.08. flush: Move(10, 1) is 10/50, of which 6 must leave for the third, but 4 bytes are all it has.
    const Plan split = decide(Policy::max_bandwidth, ledger, {10});
    EXPECT_DOUBLE_EQ(split.cost, 6.08);
    // Of 4 bytes: skip 4/50 = 0.08; flush 4/50 + 4/100 = 0.12.
    EXPECT_DOUBLE_EQ(decide(Policy::max_bandwidth, ledger, {4}).cost, 0.08);
}

TEST(placement, what_is_larger_than_all_targets_together_has_no_place) {
    const std::vector<Level> ledger = {level(100, 1, 10, 10), level(10, 1, 20, 20)};
    EXPECT_TRUE(decide(Policy::max_bandwidth, ledger, {30}).is_possible());
    for (const Policy policy :
         {Policy::max_bandwidth, Policy::max_locality, Policy::hot_data, Policy::user_defined})
        EXPECT_FALSE(decide(policy, ledger, {31}).is_possible());
}

TEST(placement, max_locality_follows_its_variable_down) {
    std::vector<Level> ledger = {level(100, 1, 100, 100), level(60, 1, 1000, 900)};
    ledger[1].has_unit = true;
    // here: 10/100 * (1 + 1) = 0.2; below, where the variable is: 10/60 * 1
    const Plan plan = decide(Policy::max_locality, ledger, {10, 1});
    EXPECT_DOUBLE_EQ(plan.cost, 10.0 / 60);
    EXPECT_EQ(plan.steps[0].level, 1);
    // A target that is ten times slower is not worth it.
    ledger[1].bytes_per_second = 10;
    EXPECT_EQ(decide(Policy::max_locality, ledger, {10, 1}).steps[0].level, 0);
}

TEST(placement, hot_data_leaves_the_top_to_what_is_hotter) {
    std::vector<Level> ledger = {level(100, 1, 10, 2), level(50, 1, 1000, 1000)};
    ledger[0].heat = 5;
    const Plan cold = decide(Policy::hot_data, ledger, {6, 0, 0});
    EXPECT_EQ(cold.list().back().level, 1);
    // A hot request has cooler data evicted, where that takes less time than its share of a slower target is worth: a tenth of a
    // megabyte, of which half a megabyte is left below. split: 1 / 10 + (0.1 / 0.5) / 1 = 0.3; evict: 0.1 / 1 + 1 / 10.
    ledger = {level(10e6, 1, 1'000'000, 900'000), level(1e6, 1, 500'000, 500'000)};
    const Plan hot = decide(Policy::hot_data, ledger, {1'000'000, 0, 7});
    EXPECT_DOUBLE_EQ(hot.cost, 0.2);
    ASSERT_EQ(hot.size, 2u);
    EXPECT_EQ(hot.steps[0].what, Plan::What::make_room);
    EXPECT_EQ(hot.steps[0].bytes, 100'000u);
    ledger[0].movable = 0;
    EXPECT_DOUBLE_EQ(decide(Policy::hot_data, ledger, {1'000'000, 0, 7}).cost, 0.3);
}

// The rows of (3), one after the other: a target of 100 MB/s above one of 50 or 1 MB/s.
TEST(placement, hot_data_follows_each_row_of_its_equation) {
    const auto two = [](std::uint64_t room, std::uint32_t heat, double below, std::uint64_t room_below) {
        std::vector<Level> ledger = {level(100e6, 1, 10, room), level(below * 1e6, 1, 1000, room_below)};
        ledger[0].heat = heat;
        return ledger;
    };
    const auto levels = [](const Plan& plan) {
        std::vector<int> all;
        for (const Plan::Step& step : plan.list()) all.push_back(step.level);
        return all;
    };
    using Levels = std::vector<int>;
    // h >= H, s <= C: here, whatever is below. (5 / 5) / 100
    Plan plan = decide(Policy::hot_data, two(5, 2, 50, 1000), {5, 0, 2});
    EXPECT_DOUBLE_EQ(plan.cost, 0.01);
    EXPECT_EQ(levels(plan), Levels{0});
    // h >= H, s > C: skip (6 / 1000) / 50; split 1 / 100 + ...; evict 1 / 100 + ...
    plan = decide(Policy::hot_data, two(2, 2, 50, 1000), {6, 0, 2});
    EXPECT_DOUBLE_EQ(plan.cost, 0.006 / 50);
    EXPECT_EQ(levels(plan), Levels{1});
    // The same with less room below: skip 1 / 1; split 1 / 100 + (4 / 6) / 1
    std::vector<Level> ledger = two(2, 2, 1, 6);
    ledger[0].movable = 0;
    plan = decide(Policy::hot_data, ledger, {6, 0, 2});
    EXPECT_DOUBLE_EQ(plan.cost, 0.01 + 4.0 / 6);
    EXPECT_EQ(levels(plan), (Levels{0, 1}));
    // h < H, s <= C: below (4 / 1000) / 50, where its share is small; with as little room there as here 1 / 50, and 1 / 100 here
    plan = decide(Policy::hot_data, two(4, 5, 50, 1000), {4, 0, 1});
    EXPECT_DOUBLE_EQ(plan.cost, 0.004 / 50);
    EXPECT_EQ(levels(plan), Levels{1});
    plan = decide(Policy::hot_data, two(4, 5, 50, 4), {4, 0, 1});
    EXPECT_DOUBLE_EQ(plan.cost, 0.01);
    EXPECT_EQ(levels(plan), Levels{0});
    // h < H, s > C: split 1 / 100 + (4 / 6) / 1, skip 1 / 1; nothing is evicted for it, though that would cost no more than 0.02
    plan = decide(Policy::hot_data, two(2, 5, 1, 6), {6, 0, 1});
    EXPECT_DOUBLE_EQ(plan.cost, 0.01 + 4.0 / 6);
    EXPECT_EQ(levels(plan), (Levels{0, 1}));
    plan = decide(Policy::hot_data, two(2, 5, 1, 6), {6, 0, 1, false});
    EXPECT_DOUBLE_EQ(plan.cost, 1);
    EXPECT_EQ(levels(plan), Levels{1}) << "what is not divisible goes below";
}

TEST(placement, granularity_leaves_no_part_of_a_piece) {
    const std::vector<Level> ledger = {level(100, 1, 100, 37), level(10, 1, 1000, 1000)};
    const Plan plan = decide(Policy::max_bandwidth, ledger, {64}, 16);
    ASSERT_EQ(plan.size, 2u);
    EXPECT_EQ(plan.steps[0].bytes, 32u);
    EXPECT_EQ(plan.steps[1].bytes, 32u);
}

TEST(placement, what_fits_is_placed_whatever_the_granularity) {
    const auto placed_in = [](std::uint64_t remaining, std::uint64_t bytes) {
        const std::vector<Level> ledger = {level(100, 1, 100, remaining), level(10, 1, 1000, 1000)};
        const Plan plan = decide(Policy::max_bandwidth, ledger, {.bytes = bytes, .is_divisible = false}, 16);
        EXPECT_EQ(plan.size, 1U) << bytes;
        return plan.steps[0].level;
    };
    EXPECT_EQ(placed_in(15, 5), 0);  // of which no whole piece is left
    EXPECT_EQ(placed_in(5, 5), 0);
    EXPECT_EQ(placed_in(47, 40), 0);
    EXPECT_EQ(placed_in(4, 5), 1) << "nobody waits for the one byte that is missing";
}

}  // namespace
}  // namespace pmemcpy::tier
