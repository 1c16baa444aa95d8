#include "cli/terminal/duration.hpp"

#include <gtest/gtest.h>

#include <pmemcpy/error.hpp>

using namespace pmemcpy;
using namespace pmemcpy::cli;
using namespace std::chrono_literals;

TEST(cli_duration, reads_units) {
    EXPECT_EQ(parse_duration("2"), 2s);
    EXPECT_EQ(parse_duration("0.5"), 500ms);
    EXPECT_EQ(parse_duration("250ms"), 250ms);
    EXPECT_EQ(parse_duration("1.5s"), 1500ms);
    EXPECT_EQ(parse_duration("5min"), 5min);
    EXPECT_EQ(parse_duration("1h"), 1h);
    EXPECT_EQ(parse_duration("0"), 0s);
}

TEST(cli_duration, refuses_what_is_none) {
    for (const char* text : {"", "s", "-1", "1 s", "5m", "nan", "inf", "1e3", "2000000000"}) {
        EXPECT_THROW(parse_duration(text), Error) << text;
    }
}

TEST(cli_duration, has_a_shortest_interval) {
    EXPECT_EQ(parse_interval("10ms"), 10ms);
    EXPECT_THROW(parse_interval("9ms"), Error);
    EXPECT_THROW(parse_interval("0"), Error);
}
