#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <pmemcpy/float16.hpp>

namespace pmemcpy {
namespace {

TEST(float16, every_value_survives_the_way_through_float) {
    for (std::uint32_t raw = 0; raw < 65536; ++raw) {
        const auto half = float16::from_bits(static_cast<std::uint16_t>(raw));
        const auto brain = bfloat16::from_bits(static_cast<std::uint16_t>(raw));
        if (!std::isnan(float(half))) {
            ASSERT_EQ(float16(float(half)).bits, raw);
        }
        if (std::isnan(float(half))) {
            ASSERT_TRUE(std::isnan(float(float16(float(half)))));
        }
        if (!std::isnan(float(brain))) {
            ASSERT_EQ(bfloat16(float(brain)).bits, raw);
        }
        if (std::isnan(float(brain))) {
            ASSERT_TRUE(std::isnan(float(bfloat16(float(brain)))));
        }
    }
}

TEST(float16, known_values_are_right) {
    EXPECT_EQ(float(float16::from_bits(0x3C00)), 1.0f);
    EXPECT_EQ(float(float16::from_bits(0x7BFF)), 65504.0f);
    EXPECT_EQ(float(float16::from_bits(0x0001)), std::ldexp(1.0f, -24));
    EXPECT_EQ(float16(-2.0f).bits, 0xC000);
    EXPECT_EQ(bfloat16(1.0f).bits, 0x3F80);
}

TEST(float16, between_two_values_the_nearer_or_the_even_one_is_taken) {
    for (std::uint16_t raw = 0; raw < 0x7BFF; ++raw) {
        const float below = float(float16::from_bits(raw));
        const float above = float(float16::from_bits(static_cast<std::uint16_t>(raw + 1)));
        const float middle = (below + above) / 2;  // exact: a float has 13 bits more
        ASSERT_EQ(float16(middle).bits, raw % 2 == 0 ? raw : raw + 1);
        ASSERT_EQ(float16(std::nextafter(middle, below)).bits, raw);
        ASSERT_EQ(float16(std::nextafter(middle, above)).bits, raw + 1);
    }
    EXPECT_EQ(float16(65519.0f).bits, 0x7BFF);
    EXPECT_EQ(float16(65520.0f).bits, 0x7C00);
    EXPECT_EQ(float16(std::numeric_limits<float>::max()).bits, 0x7C00);
    EXPECT_EQ(float16(std::numeric_limits<float>::denorm_min()).bits, 0);
    EXPECT_EQ(bfloat16(1.0f + std::ldexp(1.0f, -8)).bits, 0x3F80);
    EXPECT_EQ(bfloat16(1.0f + std::ldexp(3.0f, -8)).bits, 0x3F82);
}

}  // namespace
}  // namespace pmemcpy
