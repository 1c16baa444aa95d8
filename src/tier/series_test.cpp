#include "tier/series.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pmemcpy::tier {
namespace {

using Ids = std::vector<std::string>;

TEST(series, steps_one_after_the_other_with_as_many_digits_as_they_have) {
    Series series;
    EXPECT_TRUE(series.next("u/0007", 2).empty());
    EXPECT_TRUE(series.next("u/0008", 2).empty());
    EXPECT_EQ(series.next("u/0009", 2), (Ids{"u/0010", "u/0011"}));
    EXPECT_EQ(series.next("u/0009", 2), (Ids{"u/0010", "u/0011"})) << "the next block of the same step";
}

TEST(series, at_equal_distances_and_backwards_as_far_as_there_is_something) {
    Series series;
    for (const char* id : {"T.96", "T.98"}) EXPECT_TRUE(series.next(id, 3).empty());
    EXPECT_EQ(series.next("T.100", 2), (Ids{"T.102", "T.104"}));
    for (const char* id : {"b/5", "b/3"}) EXPECT_TRUE(series.next(id, 3).empty());
    EXPECT_EQ(series.next("b/1", 3), Ids{});
    for (const char* id : {"c/6", "c/4"}) EXPECT_TRUE(series.next(id, 3).empty());
    EXPECT_EQ(series.next("c/2", 3), Ids{"c/0"});
}

TEST(series, the_last_number_counts_and_several_variables_go_beside_each_other) {
    Series series;
    for (int step = 1; step < 3; ++step) {
        for (const char* variable : {"/u2", "/v"}) {
            EXPECT_TRUE(series.next("run1/step" + std::to_string(step) + variable, 1).empty());
        }
    }
    EXPECT_EQ(series.next("run1/step3/v", 1), Ids{"run1/step4/v"});
}

TEST(series, what_has_no_step_or_jumps_about_says_nothing) {
    Series series;
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(series.next("mesh", 2).empty());
    for (const char* id : {"u/1", "u/2", "u/9", "u/4", "u/4"}) EXPECT_TRUE(series.next(id, 2).empty()) << id;
    EXPECT_TRUE(series.next("u/99999999999999999999999999", 2).empty());
}

TEST(series, remembers_so_much_and_no_more) {
    Series series;
    series.next("old/1", 1);
    series.next("old/2", 1);
    for (std::size_t i = 0; i < Series::most_remembered; ++i)
        series.next("x" + std::string(i % 40, 'y') + std::string(i / 40, 'z') + "1", 1);
    EXPECT_TRUE(series.next("old/3", 1).empty());
}

}  // namespace
}  // namespace pmemcpy::tier
