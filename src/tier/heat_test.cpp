#include "tier/heat.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace pmemcpy::tier {
namespace {

TEST(heat, half_of_it_is_left_after_each_half_life) {
    EXPECT_DOUBLE_EQ(faded(8, 0, 60), 8);
    EXPECT_DOUBLE_EQ(faded(8, 60, 60), 4);
    EXPECT_DOUBLE_EQ(faded(8, 180, 60), 1);
    EXPECT_DOUBLE_EQ(faded(8, -5, 60), 8) << "a clock that was set back makes nothing hotter";
}

TEST(heat, a_score_more_for_twice_the_reads) {
    const std::vector<std::pair<double, std::uint32_t>> scores = {{0, 0},  {0.99, 0}, {1, 1},   {2.9, 1},
                                                                  {3, 2},  {7, 3},    {15, 4},  {31, 5},
                                                                  {63, 6}, {126, 6},  {127, 7}, {1e30, 7}};
    for (const auto& [reads, score] : scores) EXPECT_EQ(score_of(reads), score) << reads;
}

// The order in which these leave, by their `placed`.
std::vector<std::uint64_t> order(Policy policy, Replacement replacement, std::vector<Past> all) {
    std::sort(all.begin(), all.end(),
              [&](const Past& a, const Past& b) { return leaves_before(policy, replacement, a, b); });
    std::vector<std::uint64_t> placed;
    for (const Past& past : all) placed.push_back(past.placed);
    return placed;
}

const std::vector<Past> four = {
    {.reads = 2, .used_ms = 40, .step = 2, .placed = 1},
    {.reads = 20, .used_ms = 10, .step = 3, .placed = 2},
    {.reads = 0, .used_ms = 30, .step = 1, .placed = 3},
    {.reads = 2.5, .used_ms = 20, .step = 1, .placed = 4},
};

TEST(heat, who_came_first_was_used_longest_ago_or_least_or_in_the_oldest_step_leaves_first) {
    using Order = std::vector<std::uint64_t>;
    EXPECT_EQ(order(Policy::max_bandwidth, Replacement::fifo, four), (Order{1, 2, 3, 4}));
    EXPECT_EQ(order(Policy::max_bandwidth, Replacement::lru, four), (Order{2, 4, 3, 1}));
    EXPECT_EQ(order(Policy::max_bandwidth, Replacement::lfu, four), (Order{3, 1, 4, 2}));
    EXPECT_EQ(order(Policy::max_bandwidth, Replacement::application, four), (Order{3, 4, 1, 2}));
}

TEST(heat, under_hot_data_the_score_comes_before_the_replacement) {
    // Scores 1, 4, 0, 1.
    EXPECT_EQ(order(Policy::hot_data, Replacement::fifo, four), (std::vector<std::uint64_t>{3, 1, 4, 2}));
    EXPECT_EQ(order(Policy::hot_data, Replacement::lru, four), (std::vector<std::uint64_t>{3, 4, 1, 2}));
}

TEST(heat, what_the_application_has_said_comes_before_all) {
    std::vector<Past> all = four;
    all[2].need = Need::soon;
    all[1].need = Need::no_more;
    for (const Policy policy : {Policy::max_bandwidth, Policy::hot_data}) {
        for (const Replacement each :
             {Replacement::fifo, Replacement::lru, Replacement::lfu, Replacement::application}) {
            const auto found = order(policy, each, all);
            EXPECT_EQ(found.front(), 2U) << name_of(each);
            EXPECT_EQ(found.back(), 3U) << name_of(each);
        }
    }
}

}  // namespace
}  // namespace pmemcpy::tier
