#include "index/time.hpp"

#include <gtest/gtest.h>

using namespace pmemcpy;
using namespace pmemcpy::index;

namespace {

/// "from .. to", each as it is printed; "" if it is no time.
std::string interval(std::string_view text) {
    const auto found = parse_time(text);
    return found ? text_of(found->first) + " .. " + text_of(found->end) : "";
}

std::string shown(std::int64_t ticks, TimeUnit unit) {
    const auto time = time_of(ticks, unit);
    return time ? text_of(*time) : "";
}

}  // namespace

TEST(times, are_as_long_as_they_are_inexact) {
    EXPECT_EQ(interval("2026"), "2026-01-01T00:00:00 .. 2027-01-01T00:00:00");
    EXPECT_EQ(interval("2026-12"), "2026-12-01T00:00:00 .. 2027-01-01T00:00:00");
    EXPECT_EQ(interval("2024-02"), "2024-02-01T00:00:00 .. 2024-03-01T00:00:00");
    EXPECT_EQ(interval("2024-02-29"), "2024-02-29T00:00:00 .. 2024-03-01T00:00:00");
    EXPECT_EQ(interval("2026-10-05T23"), "2026-10-05T23:00:00 .. 2026-10-06T00:00:00");
    EXPECT_EQ(interval("2026-10-05 12:30"), "2026-10-05T12:30:00 .. 2026-10-05T12:31:00");
    EXPECT_EQ(interval("2026-10-05T12:30:59Z"), "2026-10-05T12:30:59 .. 2026-10-05T12:31:00");
    EXPECT_EQ(interval("2026-10-05T12:30:05.25"), "2026-10-05T12:30:05.250 .. 2026-10-05T12:30:05.260");
    EXPECT_EQ(interval("2026-10-05T12:30:05.9"), "2026-10-05T12:30:05.900 .. 2026-10-05T12:30:06");
    EXPECT_EQ(interval("1969-12-31T23:59:59.000000000000000001"),
              "1969-12-31T23:59:59.000000000000000001 .. 1969-12-31T23:59:59.000000000000000002");
    EXPECT_EQ(interval("0001-01-01"), "0001-01-01T00:00:00 .. 0001-01-02T00:00:00");
}

TEST(times, are_not_what_no_calendar_has) {
    for (const char* text :
         {"", "26", "2026-", "2026-13", "2026-00", "2026-02-30", "2026-10-5", "2026-10-05T", "2026-10-05T24",
          "2026-10-05T12:60", "2026-10-05T12:30:61", "2026-10-05T12:30:05.",
          "2026-10-05T12:30:05.1234567890123456789", "2026-10-05x", "K", "2026-10-05T12:30+01:00", "-026"})
        EXPECT_EQ(interval(text), "") << text;
}

TEST(times, of_a_datetime64_are_the_same_in_every_unit) {
    EXPECT_EQ(shown(56, TimeUnit::year), "2026-01-01T00:00:00");
    EXPECT_EQ(shown(-1, TimeUnit::month), "1969-12-01T00:00:00");
    EXPECT_EQ(shown(1, TimeUnit::week), "1970-01-08T00:00:00");
    EXPECT_EQ(shown(-1, TimeUnit::day), "1969-12-31T00:00:00");
    EXPECT_EQ(shown(25, TimeUnit::hour), "1970-01-02T01:00:00");
    EXPECT_EQ(shown(-1, TimeUnit::minute), "1969-12-31T23:59:00");
    EXPECT_EQ(shown(-1, TimeUnit::millisecond), "1969-12-31T23:59:59.999");
    EXPECT_EQ(shown(1'500'000'000, TimeUnit::nanosecond), "1970-01-01T00:00:01.500");
    EXPECT_EQ(shown(1, TimeUnit::attosecond), "1970-01-01T00:00:00.000000000000000001");
    EXPECT_EQ(shown(INT64_MIN, TimeUnit::second), "") << "NaT";
    EXPECT_EQ(shown(INT64_MAX, TimeUnit::week), "");
    EXPECT_EQ(shown(INT64_MAX, TimeUnit::year), "");
    EXPECT_EQ(shown(INT64_MAX, TimeUnit::second), "9223372036854775807 s since 1970");
}
