#include "cli/element/time_since.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <pmemcpy/type_of.hpp>

namespace pmemcpy::cli {
namespace {

template <class T = double>
std::string date(double number, std::string_view units, std::string_view calendar = "") {
    const auto times = TimeSince::of(units, calendar, type_of<T>());
    return times ? times->text(number) : "no times";
}

// As cftime 1.6 has them.
TEST(cli_time_since, counts_days_as_each_calendar_does) {
    EXPECT_EQ(date(1, "days since 2000-02-28"), "2000-02-29");
    EXPECT_EQ(date(1, "days since 2000-02-28", "noleap"), "2000-03-01");
    EXPECT_EQ(date(1, "days since 1900-02-28", "all_leap"), "1900-02-29");
    EXPECT_EQ(date(1, "days since 1500-02-28", "julian"), "1500-02-29");
    EXPECT_EQ(date(31, "days since 2000-02-29", "360_day"), "2000-03-30");
    EXPECT_EQ(date(1, "days since 1582-10-04", "standard"), "1582-10-15");
    EXPECT_EQ(date(1, "days since 1582-10-14", "proleptic_gregorian"), "1582-10-15");
    EXPECT_EQ(date(737425, "days since 1-1-1 0:0:0"), "2019-12-31");
    EXPECT_EQ(date(60225.5, "days since 1850-01-01", "365_day"), "2015-01-01T12:00");
    EXPECT_EQ(date(0, "hours since 0001-01-01 00:00:00"), "0001-01-01");
}

TEST(cli_time_since, has_as_much_of_the_clock_as_the_number_tells) {
    EXPECT_EQ(date(1043148.5, "hours since 1900-01-01 00:00:0.0"), "2019-01-01T12:30");
    EXPECT_EQ(date(-0.25, "seconds since 1970-01-01T00:00:00Z"), "1969-12-31T23:59:59.75");
    EXPECT_EQ(date(1.1, "days since 2026-01-01"), "2026-01-02T02:24") << "0.1 days are no binary number";
    EXPECT_EQ(date<float>(20000.5F, "days since 1970-01-01"), "2024-10-04T12:00");
    EXPECT_EQ(date<float>(739000.0F, "days since 0001-01-01"), "2024-04-23");
    EXPECT_EQ(date<std::int64_t>(1, "microseconds since 2026-01-01"), "2026-01-01T00:00:00.000001");
}

TEST(cli_time_since, reads_clocks_and_zones) {
    EXPECT_EQ(date(1, "minutes since 1992-10-08 15:15:42.5 -6:00"), "1992-10-08T21:16:42.5");
    EXPECT_EQ(date(0, "hours since 2026-01-01 01:30 +0130"), "2026-01-01");
    EXPECT_EQ(date(0, "hours since 2026-01-01 12 UTC"), "2026-01-01T12:00");
    EXPECT_EQ(date(2, "Weeks Since 2026-01-01"), "2026-01-15");
    EXPECT_EQ(date(366, "hours since 0000-01-01 00:00:00"), "0000-01-16T06:00") << "a climatology";
    EXPECT_EQ(date(-1, "days since 0000-01-01", "proleptic_gregorian"), "-0001-12-31");
}

TEST(cli_time_since, is_nothing_that_it_does_not_understand) {
    for (const char* units : {"", "K", "days", "days since", "days since yesterday", "days since 2026-13-01",
                              "days since 2026-02-30", "months since 2026-01-01", "years since 2026-01-01",
                              "days since 2026-01-01 25:00", "days since 2026-01-01 noon",
                              "days after 2026-01-01", "days since 2026-01-01 00:00 CET"})
        EXPECT_EQ(date(1, units), "no times") << units;
    EXPECT_EQ(date(1, "days since 2026-01-01", "lunar"), "no times");
    EXPECT_FALSE(TimeSince::of("days since 2026-01-01", "", Type::string()));
}

TEST(cli_time_since, says_what_no_calendar_reaches) {
    EXPECT_EQ(date(std::nan(""), "days since 2026-01-01"), "NaT");
    EXPECT_EQ(date(1e30, "days since 2026-01-01"), "1e+30 days since 2026-01-01");
    EXPECT_EQ(date(-std::numeric_limits<double>::infinity(), "days since 2026-01-01"),
              "-inf days since 2026-01-01");
    EXPECT_EQ(date(1e8, "days since 2026-01-01"), "100000000 days since 2026-01-01");
    EXPECT_EQ(date(36524250, "days since 2026-01-01"), "102026-01-01");
}

}  // namespace
}  // namespace pmemcpy::cli
