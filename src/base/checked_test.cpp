#include "base/checked.hpp"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace {

using namespace pmemcpy::base;

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

TEST(base, checked_arithmetic_tells_overflow) {
    std::uint64_t result = 0;
    EXPECT_TRUE(checked_add(most - 1, 1, result));
    EXPECT_EQ(result, most);
    EXPECT_FALSE(checked_add(most, 1, result));
    EXPECT_TRUE(checked_mul(most / 3, 3, result));
    EXPECT_EQ(result, most);
    EXPECT_FALSE(checked_mul(std::uint64_t{1} << 32, std::uint64_t{1} << 32, result));
}

TEST(base, alignment_rounds_to_powers_of_two) {
    EXPECT_EQ(align_up(0, 64), 0u);
    EXPECT_EQ(align_up(1, 64), 64u);
    EXPECT_EQ(align_up(64, 64), 64u);
    EXPECT_EQ(align_down(127, 64), 64u);
    EXPECT_TRUE(is_power_of_two(4'096));
    EXPECT_FALSE(is_power_of_two(0));
    EXPECT_FALSE(is_power_of_two(96));
}

}  // namespace
