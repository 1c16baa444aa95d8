#include "tier/cores.hpp"

#include <pmemcpy/error.hpp>

#include <gtest/gtest.h>

namespace pmemcpy::tier {
namespace {

TEST(cores, are_read_as_the_kernel_writes_them) {
    EXPECT_EQ(parse_cores("2"), (std::vector<unsigned>{2}));
    EXPECT_EQ(parse_cores("0-3,8"), (std::vector<unsigned>{0, 1, 2, 3, 8}));
    EXPECT_EQ(parse_cores("8,1-2,2"), (std::vector<unsigned>{1, 2, 8}));
    for (const char* const text : {"0", "0-3,8", "1,3,5-7", "0-1,1023"})
        EXPECT_EQ(cores_text(parse_cores(text)), text);
    for (const char* const wrong : {"", "-1", "3-1", "1,", ",1", "1-", "a", "1 2", "0-1024", "0-99999999999"})
        EXPECT_THROW(parse_cores(wrong), Error) << wrong;
}

}  // namespace
}  // namespace pmemcpy::tier
