#include "cli/plot/scale.hpp"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <pmemcpy/error.hpp>

using namespace pmemcpy;
using namespace pmemcpy::cli;

namespace {

std::vector<std::string> labels(const Scale& scale, int most) {
    std::vector<std::string> all;
    for (const Scale::Tick& tick : scale.ticks(most)) all.push_back(tick.label);
    return all;
}

using Labels = std::vector<std::string>;

}  // namespace

TEST(cli_scale, puts_numbers_between_its_ends) {
    const Scale scale({10, 30}, false);
    EXPECT_EQ(scale.position(10), 0);
    EXPECT_EQ(scale.position(15), 0.25);
    EXPECT_EQ(scale.position(30), 1);
    EXPECT_EQ(scale.position(-INFINITY), 0);
    EXPECT_EQ(scale.position(1e9), 1);
    EXPECT_TRUE(std::isnan(scale.position(NAN)));
}

TEST(cli_scale, is_logarithmic_when_asked) {
    const Scale scale({1, 10000}, true);
    EXPECT_DOUBLE_EQ(scale.position(100), 0.5);
    EXPECT_TRUE(std::isnan(scale.position(0)));
    EXPECT_TRUE(std::isnan(scale.position(-1)));
    EXPECT_EQ(labels(scale, 10), (Labels{"1", "10", "100", "1000", "10000"}));
    EXPECT_EQ(labels(Scale({1e-9, 1e9}, true), 6),
              (Labels{"1e-09", "1e-06", "0.001", "1", "1000", "1e+06", "1e+09"}));
    EXPECT_THROW(Scale({0, 1}, true), Error);
    EXPECT_THROW(Scale({-1, 1}, true), Error);
}

TEST(cli_scale, marks_round_numbers) {
    EXPECT_EQ(labels(Scale({0, 100}, false), 5), (Labels{"0", "20", "40", "60", "80", "100"}));
    EXPECT_EQ(labels(Scale({-0.7, 0.7}, false), 6), (Labels{"-0.5", "0", "0.5"}));
    EXPECT_EQ(labels(Scale({1000000, 1000004}, false), 4),
              (Labels{"1000000", "1000001", "1000002", "1000003", "1000004"}));
    EXPECT_EQ(labels(Scale({0.1, 0.3}, false), 2), (Labels{"0.1", "0.2", "0.3"}));
}

TEST(cli_scale, makes_room_around_a_single_number) {
    for (const double number : {0.0, 5.0, -3.0}) {
        EXPECT_EQ(Scale({number, number}, false).position(number), 0.5) << number;
    }
    EXPECT_DOUBLE_EQ(Scale({8, 8}, true).position(8), 0.5);
}

TEST(cli_scale, reaches_further_where_it_can) {
    const Scale wider = Scale({0, 100}, false).wider(0.1, 0);
    EXPECT_EQ(wider.range().low, -10);
    EXPECT_EQ(wider.range().high, 100);
    EXPECT_DOUBLE_EQ(Scale({1, 100}, true).wider(0, 0.5).range().high, 1000);
    EXPECT_EQ(Scale({-DBL_MAX, DBL_MAX}, false).wider(0.1, 0.1).range().high, DBL_MAX);
}

TEST(cli_scale, holds_the_largest_numbers_and_none) {
    const Scale scale({-DBL_MAX, DBL_MAX}, false);
    EXPECT_EQ(scale.position(0), 0.5);
    EXPECT_EQ(scale.position(DBL_MAX), 1);
    EXPECT_LE(scale.ticks(5).size(), 12U);
    EXPECT_EQ(Scale({}, false).range().high, 1);
}
