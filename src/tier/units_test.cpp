#include "tier/units.hpp"

#include <pmemcpy/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace pmemcpy::tier {
namespace {

TEST(units, are_read_back_as_they_were_written) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t bytes = random() >> random() % 60;
        EXPECT_EQ(parse_bytes(bytes_text(bytes)), bytes);
        const double number = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 80) - 90);
        EXPECT_EQ(parse_bandwidth(bandwidth_text(number)), number);
        EXPECT_EQ(parse_seconds(seconds_text(number)), number);
    }
    EXPECT_EQ(bytes_text(400'000'000'000), "400 GB");
    EXPECT_EQ(bandwidth_text(6.1e9), "6.1 GB/s");
    EXPECT_EQ(seconds_text(80e-6), "80 us");
    EXPECT_EQ(parse_bytes("1.5 KiB"), 1536u);
    for (const char* const wrong : {"", "GB", "1 GB/s", "nan", "inf", "1e300 TB", "-1", "12 monkeys"})
        EXPECT_THROW(parse_bytes(wrong), Error) << wrong;
}

}  // namespace
}  // namespace pmemcpy::tier
