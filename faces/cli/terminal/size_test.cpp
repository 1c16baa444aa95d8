#include "cli/terminal/size.hpp"

#include <gtest/gtest.h>

#include <pmemcpy/error.hpp>

using namespace pmemcpy;
using namespace pmemcpy::cli;

TEST(cli_size, reads_what_people_write) {
    EXPECT_EQ(parse_size("0"), 0U);
    EXPECT_EQ(parse_size("4096"), 4096U);
    EXPECT_EQ(parse_size("9007199254740993"), 9007199254740993U);  // 2^53 + 1 is no double
    EXPECT_EQ(parse_size("64KiB"), 65536U);
    EXPECT_EQ(parse_size("64k"), 65536U);
    EXPECT_EQ(parse_size("1.5 GiB"), 1610612736U);
    EXPECT_EQ(parse_size("2TB"), 2000000000000U);
    EXPECT_EQ(parse_size("16TiB"), std::uint64_t{16} << 40);
}

TEST(cli_size, refuses_what_is_no_size) {
    for (const char* text : {"", "GiB", "-1", "4XB", "4GiBs", "nan", "1e400", "99999999TiB", "1.5", "0x10"}) {
        EXPECT_THROW(parse_size(text), Error) << text;
    }
}

TEST(cli_size, prints_three_digits_and_a_unit) {
    EXPECT_EQ(human_size(0), "0 B");
    EXPECT_EQ(human_size(1023), "1023 B");
    EXPECT_EQ(human_size(1536), "1.50 KiB");
    EXPECT_EQ(human_size(27 << 20), "27.0 MiB");
    EXPECT_EQ(human_size((std::uint64_t{1} << 30) - 1), "1.00 GiB");
    EXPECT_EQ(human_size(UINT64_MAX), "16.0 EiB");
}
