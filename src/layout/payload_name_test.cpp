#include "layout/payload_name.hpp"

#include <gtest/gtest.h>

namespace pmemcpy::layout {
namespace {

TEST(payload_name, is_sixteen_hexadecimal_digits) {
    EXPECT_EQ(name_of_payload(0), "0000000000000000");
    EXPECT_EQ(name_of_payload(0x1f), "000000000000001f");
    EXPECT_EQ(name_of_payload(~std::uint64_t{0}), "ffffffffffffffff");
}

TEST(payload_name, reads_back_what_it_wrote_and_nothing_else) {
    for (const std::uint64_t number :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
        EXPECT_EQ(number_of_payload(name_of_payload(number)), number);
        EXPECT_TRUE(is_payload_name(passing_name_of(number)));
        EXPECT_FALSE(number_of_payload(passing_name_of(number)));
    }
    for (const char* name : {"", "1f", "000000000000001F", "00000000000000001f", "+00000000000001f",
                             "notes.txt", "000000000000001f.old"}) {
        EXPECT_FALSE(number_of_payload(name)) << name;
        EXPECT_FALSE(is_payload_name(name)) << name;
    }
}

}  // namespace
}  // namespace pmemcpy::layout
