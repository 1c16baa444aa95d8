#include <pmemcpy/error.hpp>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/assert.hpp"
#include "base/hash.hpp"

namespace {

using pmemcpy::Code;
using pmemcpy::Error;

TEST(base, an_error_carries_its_code_and_says_what_happened) {
    const Error error(Code::no_space, "asked for 5 bytes, found 4");
    EXPECT_EQ(error.kind(), Code::no_space);
    EXPECT_EQ(error.code(), Code::no_space);
    EXPECT_STREQ(error.what(), "asked for 5 bytes, found 4");
    EXPECT_EQ(error.code().message(), "no_space");
}

TEST(base, every_code_has_a_name_of_its_own) {
    for (int a = 1; a <= static_cast<int>(Code::permission_denied); ++a) {
        EXPECT_STRNE(name_of(static_cast<Code>(a)), "unknown");
        for (int b = 1; b < a; ++b)
            EXPECT_STRNE(name_of(static_cast<Code>(a)), name_of(static_cast<Code>(b)));
    }
}

TEST(base, an_assertion_that_fails_says_where_and_aborts) {
    PMEMCPY_ASSERT(1 + 1 == 2, "arithmetic works");
    EXPECT_DEATH(PMEMCPY_ASSERT(1 + 1 == 3, "three is two"), "three is two");
}

// The value is on media: it must be the same in every release. From the xxHash specification: XXH3 of
// nothing.
TEST(base, the_hash_is_xxh3) {
    EXPECT_EQ(pmemcpy::base::xxh3_64(""), 0x2D06800538D394C2u);
    EXPECT_EQ(pmemcpy::base::xxh3_64(std::string_view("ab", 1)), pmemcpy::base::xxh3_64("a"));
}

}  // namespace
