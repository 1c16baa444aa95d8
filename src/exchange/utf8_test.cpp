#include "exchange/utf8.hpp"

#include <gtest/gtest.h>

namespace pmemcpy::exchange {
namespace {

TEST(utf8, is_told_from_everything_else) {
    for (const char* text :
         {"", "plain", "gr\xc3\xbc\xc3\x9f", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"})
        EXPECT_TRUE(is_utf8(text)) << text;
    for (const char* bytes : {"Z\xfcrich", "\x80", "\xc3", "\xc3(", "\xc0\xaf", "\xe0\x80\xaf",
                              "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xf0\x9f\x98"})
        EXPECT_FALSE(is_utf8(bytes));
}

}  // namespace
}  // namespace pmemcpy::exchange
