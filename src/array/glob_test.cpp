#include <gtest/gtest.h>

#include <pmemcpy/error.hpp>
#include <pmemcpy/glob.hpp>

using namespace pmemcpy;

namespace {

bool matches(std::string_view pattern, std::string_view id) { return Glob(pattern).matches(id); }

}  // namespace

TEST(glob, stars_and_question_marks_stay_within_a_group) {
    EXPECT_TRUE(matches("T*", "T"));
    EXPECT_TRUE(matches("T*P", "TEMP"));
    EXPECT_FALSE(matches("T*P", "TEMPS"));
    EXPECT_FALSE(matches("*", "ocean/TEMP"));
    EXPECT_TRUE(matches("*/*", "ocean/TEMP"));
    EXPECT_TRUE(matches("T?MP", "TEMP"));
    EXPECT_FALSE(matches("ocean?TEMP", "ocean/TEMP"));
    EXPECT_FALSE(matches("?", ""));
}

TEST(glob, two_stars_go_into_groups) {
    EXPECT_TRUE(matches("**", "a/b/c"));
    EXPECT_TRUE(matches("a/**", "a/b/c"));
    EXPECT_FALSE(matches("a/**", "a"));
    EXPECT_TRUE(matches("a**c", "a/b/c"));
    EXPECT_TRUE(matches("**/TEMP", "TEMP"));
    EXPECT_TRUE(matches("**/TEMP", "x/ocean/TEMP"));
    EXPECT_FALSE(matches("**/TEMP", "ocean/noTEMP"));
    EXPECT_FALSE(matches("**/TEMP", "noTEMP"));
    EXPECT_TRUE(matches("run/**/T", "run/T"));
    EXPECT_TRUE(matches("run/**/T", "run/1/2/T"));
    EXPECT_TRUE(matches("**/**/T", "T"));
    EXPECT_FALSE(matches("run/**/T", "runT"));
}

TEST(glob, sets_have_ranges_and_opposites) {
    EXPECT_TRUE(matches("u[0-9]", "u7"));
    EXPECT_FALSE(matches("u[0-9]", "ux"));
    EXPECT_TRUE(matches("u[!0-9]", "ux"));
    EXPECT_TRUE(matches("u[^0-9]", "ux"));
    EXPECT_TRUE(matches("[]a]", "]"));
    EXPECT_TRUE(matches("[a-]", "-"));
    EXPECT_FALSE(matches("a[!b]c", "a/c"));
    EXPECT_FALSE(matches("a[/]c", "a/c"));
}

TEST(glob, a_backslash_takes_the_meaning_away) {
    EXPECT_TRUE(matches("a\\*", "a*"));
    EXPECT_FALSE(matches("a\\*", "ab"));
    EXPECT_TRUE(matches("u\\[1\\]", "u[1]"));
    EXPECT_TRUE(matches("[\\]x]", "]"));
    EXPECT_TRUE(Glob::is_glob("a\\*"));
    EXPECT_FALSE(Glob::is_glob("ocean/TEMP (2)"));
}

TEST(glob, characters_are_more_than_bytes) {
    EXPECT_TRUE(matches("?t?", "\xC3\xA9t\xC3\xA9"));
    EXPECT_TRUE(matches("[\xC3\xA0-\xC3\xBF]t*", "\xC3\xA9t\xC3\xA9"));
    EXPECT_FALSE(matches("?", "\xC3\xA9t"));
    EXPECT_TRUE(matches("a\xFF*", "a\xFF\xC3"));  // what is no UTF-8 is compared byte by byte
}

TEST(glob, knows_what_all_that_match_begin_with) {
    EXPECT_EQ(Glob("ocean/T*").prefix(), "ocean/T");
    EXPECT_EQ(Glob("a\\*b[c]d").prefix(), "a*b");
    EXPECT_EQ(Glob("*a").prefix(), "");
    EXPECT_EQ(Glob("plain").prefix(), "plain");
}

TEST(glob, refuses_what_has_no_end) {
    for (const char* pattern : {"u[", "u[0", "u[]", "u[!]", "u[a-", "u\\", "[\\"}) {
        EXPECT_THROW(Glob{pattern}, Error) << pattern;
    }
}

TEST(glob, no_pattern_takes_long) {
    std::string pattern;
    for (int i = 0; i < 200; ++i) pattern += "*a";
    EXPECT_FALSE(matches(pattern + "b", std::string(4096, 'a')));
}
