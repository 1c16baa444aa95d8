#include "cli/terminal/printable.hpp"

#include <gtest/gtest.h>

using namespace pmemcpy::cli;

// `ls` printed the names of a pool as they were: one told the terminal to do something, one was two lines for what read it.
TEST(cli_printable, has_no_control_characters) {
    EXPECT_EQ(printable("a\x1b[31mred"), "a?[31mred");
    EXPECT_EQ(printable("a\nb\tc\r\x7f"), "a?b?c??");
    EXPECT_EQ(printable("a\xc2\x9b"
                        "31m"),
              "a?31m")
        << "U+009B is ESC [ to a terminal";
}

TEST(cli_printable, leaves_all_else_as_it_is) {
    EXPECT_EQ(printable("ocean/Temp\xc3\xa9rature \xe6\xb0\xb4 \xc2\xa0"),
              "ocean/Temp\xc3\xa9rature \xe6\xb0\xb4 \xc2\xa0");
    EXPECT_EQ(printable(""), "");
    EXPECT_EQ(printable("\xc2"), "\xc2");
}

TEST(cli_printable, keeps_the_lines_of_a_text) {
    EXPECT_EQ(printable_lines("f.c:1: error\n\x1b[0mnext\n"), "f.c:1: error\n?[0mnext\n");
}
