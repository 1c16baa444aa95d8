#include <pmemcpy/box.hpp>

#include <gtest/gtest.h>

#include <vector>

using namespace pmemcpy;

namespace {

std::vector<Selection> pieces(const Selection& all, Order order, std::uint64_t most_bytes) {
    std::vector<Selection> found;
    each_piece(all, order, 8, most_bytes, [&](const Selection& piece) { found.push_back(piece); });
    return found;
}

}  // namespace

TEST(pieces_of_selections, follow_each_other_along_the_slowest_dimension) {
    const Selection all({0, 10}, {5, 4}, {1, 2});
    const auto c = pieces(all, Order::c, 2 * 4 * 8);  // two rows fit
    ASSERT_EQ(c.size(), 3U);
    EXPECT_EQ(c[1], Selection({2, 10}, {2, 4}, {1, 2}));
    EXPECT_EQ(c[2], Selection({4, 10}, {1, 4}, {1, 2}));
    const auto fortran = pieces(all, Order::fortran, 2 * 5 * 8);
    ASSERT_EQ(fortran.size(), 2U);
    EXPECT_EQ(fortran[1], Selection({0, 14}, {5, 2}, {1, 2}));
}

TEST(pieces_of_selections, cut_rows_that_are_too_long) {
    EXPECT_EQ(pieces(Selection({0, 0}, {2, 100}), Order::c, 50 * 8).size(), 4U);
    EXPECT_EQ(pieces(Selection({0}, {3}), Order::c, 1).size(), 3U);  // an element is never cut
}

TEST(pieces_of_selections, of_nothing_are_none_and_of_a_scalar_one) {
    EXPECT_TRUE(pieces(Selection({0, 0}, {3, 0}), Order::c, 8).empty());
    EXPECT_EQ(pieces(Selection({}, {}), Order::c, 8).size(), 1U);
}
