#include "tier/pattern.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace pmemcpy::tier {
namespace {

Box row(Extent i) { return {{i, 0}, {1, 8}}; }
Box tile(Extent i, Extent k) { return {{i * 4, k * 4}, {4, 4}}; }

TEST(pattern, nothing_is_likely_at_first) {
    Pattern pattern;
    EXPECT_TRUE(pattern.next(row(0), 4).empty());
    EXPECT_TRUE(pattern.next(row(1), 4).empty());
}

TEST(pattern, rows_one_after_the_other) {
    Pattern pattern;
    pattern.next(row(3), 2);
    pattern.next(row(4), 2);
    EXPECT_EQ(pattern.next(row(5), 2), (std::vector<Box>{row(6), row(7)}));
}

TEST(pattern, backwards_as_far_as_there_is_something) {
    Pattern pattern;
    pattern.next(row(6), 4);
    pattern.next(row(4), 4);
    EXPECT_EQ(pattern.next(row(2), 4), (std::vector<Box>{row(0)}));
    EXPECT_TRUE(pattern.next(row(0), 4).empty());
}

TEST(pattern, at_equal_distances_in_several_dimensions) {
    Pattern pattern;
    pattern.next(tile(0, 1), 1);
    pattern.next(tile(2, 2), 1);
    EXPECT_EQ(pattern.next(tile(4, 3), 1), (std::vector<Box>{tile(6, 4)}));
}

TEST(pattern, the_same_block_again_says_nothing) {
    Pattern pattern;
    pattern.next(row(3), 2);
    pattern.next(row(4), 2);
    EXPECT_TRUE(pattern.next(row(4), 2).empty());
    EXPECT_EQ(pattern.next(row(5), 1), (std::vector<Box>{row(6)}));
}

TEST(pattern, an_order_without_any_is_known_the_second_time) {
    Pattern pattern;
    const std::vector<Extent> order = {7, 1, 40, 2, 23};
    for (const Extent i : order) pattern.next(row(i), 2);
    EXPECT_EQ(pattern.next(row(7), 2), (std::vector<Box>{row(1), row(40)}));
    EXPECT_EQ(pattern.next(row(1), 2), (std::vector<Box>{row(40), row(2)}));
    EXPECT_EQ(pattern.next(row(40), 9).size(), 5U) << "once around, and no further";
}

TEST(pattern, the_parts_of_a_time_step_are_followed_into_the_next_one) {
    Pattern pattern;
    for (Extent time = 0; time < 2; ++time) {
        for (Extent part = 0; part < 2; ++part) EXPECT_TRUE(pattern.next(tile(time, part), 4).empty());
    }
    EXPECT_EQ(pattern.next(tile(2, 0), 4), (std::vector<Box>{tile(3, 0), tile(4, 0)}));
    EXPECT_EQ(pattern.next(tile(2, 1), 4), (std::vector<Box>{tile(3, 1), tile(4, 1)}));
    EXPECT_TRUE(pattern.next(tile(2, 1), 4).empty());
}

TEST(pattern, remembers_so_much_and_no_more) {
    Pattern pattern;
    for (Extent i = 0; i < 3 * Pattern::most_remembered; ++i) pattern.next(row(i * i), 1);
    EXPECT_TRUE(pattern.next(row(0), 1).empty()) << "too long ago";
    EXPECT_TRUE(pattern.next(row(12345678), 1).empty());
}

}  // namespace
}  // namespace pmemcpy::tier
