#include "cli/terminal/progress.hpp"

#include <gtest/gtest.h>

using namespace pmemcpy::cli;

namespace {

constexpr std::uint64_t gib = 1 << 30;

}  // namespace

TEST(cli_progress, tells_how_fast_it_goes_and_how_long_it_takes) {
    EXPECT_EQ(progress_text("stat", Unit::bytes, gib, 4 * gib, 2, 120),
              "stat [#######                       ]  25 %  1.00 GiB of 4.00 GiB  512 MiB/s  0:06 left");
    EXPECT_EQ(progress_text("du", Unit::variables, 500, 10'000, 10, 120),
              "du [#                             ]   5 %  500 of 10000  50/s  3:10 left");
    EXPECT_EQ(progress_text("du", Unit::variables, 1, 10'000, 1, 60),
              "du [                  ]   0 %  1 of 10000  1/s  2:46:39 left");
}

TEST(cli_progress, of_a_time_that_is_limited_tells_how_much_is_over) {
    EXPECT_EQ(progress_text("profile", Unit::seconds, 5, 20, 5, 60),
              "profile [#######                       ]  25 %  5 s of 20 s");
}

TEST(cli_progress, fits_into_the_terminal) {
    for (std::size_t columns = 0; columns < 100; ++columns)
        EXPECT_LE(progress_text("stat", Unit::bytes, gib, 4 * gib, 2, columns).size(), columns);
    EXPECT_EQ(progress_text("stat", Unit::bytes, gib, 4 * gib, 2, 12), "stat  25 %  ");
}

TEST(cli_progress, says_nothing_of_the_future_before_there_is_a_past) {
    EXPECT_EQ(progress_text("stat", Unit::bytes, 0, gib, 2, 20), "stat   0 %  0 B of 1");
    EXPECT_EQ(progress_text("stat", Unit::bytes, 0, 0, 0, 16), "stat 100 %  0 B ");
    EXPECT_EQ(
        progress_text("stat", Unit::bytes, 2 * gib, gib, 1, 60),  // another process stored more meanwhile
        "stat 100 %  1.00 GiB of 1.00 GiB  1.00 GiB/s  0:00 left");
}
