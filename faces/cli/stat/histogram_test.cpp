#include "cli/stat/histogram.hpp"

#include <gtest/gtest.h>

#include <limits>

using namespace pmemcpy::cli;

namespace {

using Counts = std::vector<std::uint64_t>;
using Edges = std::vector<long double>;

template <class T>
Histogram of(const std::vector<T>& numbers, T lowest, T highest, std::uint64_t bins) {
    Histogram histogram(Number{lowest}, Number{highest}, bins);
    histogram.add(std::span<const T>(numbers));
    return histogram;
}

}  // namespace

TEST(cli_histogram, intervals_take_their_lower_edge_and_the_last_both) {
    const Histogram h = of<double>({0, 0.5, 1, 1.5, 2, 3.999, 4}, 0, 4, 4);
    EXPECT_EQ(h.counts(), (Counts{2, 2, 1, 2}));
    EXPECT_EQ(h.edges(), (Edges{0, 1, 2, 3, 4}));
}

TEST(cli_histogram, integers_get_no_more_intervals_than_there_are) {
    const Histogram few = of<std::int64_t>({-1, -1, 0, 2}, -1, 2, 10);
    EXPECT_EQ(few.counts(), (Counts{2, 1, 0, 1}));
    EXPECT_EQ(few.edges(), (Edges{-1, 0, 1, 2, 3}));
    const Histogram ten = of<std::int64_t>({0, 9, 10, 99}, 0, 99, 10);
    EXPECT_EQ(ten.counts(), (Counts{2, 1, 0, 0, 0, 0, 0, 0, 0, 1}));
}

TEST(cli_histogram, spans_all_integers_of_64_bits) {
    const Histogram h = of<std::int64_t>({INT64_MIN, -1, 0, INT64_MAX}, INT64_MIN, INT64_MAX, 2);
    EXPECT_EQ(h.counts(), (Counts{2, 2}));
    EXPECT_EQ(of<std::uint64_t>({0, UINT64_MAX}, 0, UINT64_MAX, 2).counts(), (Counts{1, 1}));
}

TEST(cli_histogram, of_one_number_has_one_interval) {
    EXPECT_EQ(of<float>({2.5F, 2.5F}, 2.5F, 2.5F, 10).counts(), (Counts{2}));
    EXPECT_EQ(of<float>({2.5F, 2.5F}, 2.5F, 2.5F, 10).edges(), (Edges{2.5L, 2.5L}));
    EXPECT_EQ(of<std::uint64_t>({7, 7}, 7, 7, 10).counts(), (Counts{2}));
}

TEST(cli_histogram, leaves_out_what_is_not_finite_and_keeps_what_came_late) {
    constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(of<double>({not_a_number, -infinity, infinity, 0.5, -3, 7}, 0, 1, 2).counts(), (Counts{1, 2}));
    EXPECT_EQ(of<double>({-1.7e308, 1.7e308}, -1.7e308, 1.7e308, 2).counts(), (Counts{1, 1}));
}
