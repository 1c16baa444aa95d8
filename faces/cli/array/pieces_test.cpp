#include "cli/array/pieces.hpp"

#include <gtest/gtest.h>

#include <vector>

using namespace pmemcpy;
using namespace pmemcpy::cli;

TEST(cli_pieces, visit_fortran_buffers_by_the_last_index) {
    std::vector<std::uint64_t> places;
    each_place({2, 3}, Order::fortran, [&](std::uint64_t place) { places.push_back(place); });
    EXPECT_EQ(places, (std::vector<std::uint64_t>{0, 2, 4, 1, 3, 5}));
    places.clear();
    each_place({}, Order::c, [&](std::uint64_t place) { places.push_back(place); });
    EXPECT_EQ(places, std::vector<std::uint64_t>{0});
}
