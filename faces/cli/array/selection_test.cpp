#include "cli/array/selection.hpp"

#include <gtest/gtest.h>

#include <pmemcpy/error.hpp>

using namespace pmemcpy;
using namespace pmemcpy::cli;

namespace {

Code refusal(std::string_view text, const Dimensions& dims) {
    try {
        parse_selection(text, dims);
    } catch (const Error& error) {
        return error.kind();
    }
    return Code{};
}

}  // namespace

TEST(cli_selection, reads_ranges_strides_and_indices) {
    const Selection s = parse_selection("2:10,5:17:4,3,:", {10, 20, 4, 7});
    EXPECT_EQ(s.offset, (Dimensions{2, 5, 3, 0}));
    EXPECT_EQ(s.count, (Dimensions{8, 3, 1, 7}));
    EXPECT_EQ(s.stride, (Dimensions{1, 4, 1, 1}));
    EXPECT_TRUE(parse_selection("4:4", {10}).empty());
    EXPECT_EQ(parse_selection("", {}).size(), 0);
}

TEST(cli_selection, reads_what_errors_print) {
    const Selection printed({1, 5}, {3, 4}, {2, 3});
    EXPECT_EQ(parse_selection(to_string(printed), {10, 20}), printed);
}

TEST(cli_selection, refuses_with_the_right_code) {
    EXPECT_EQ(refusal("0:1", {4, 4}), Code::invalid_argument);
    EXPECT_EQ(refusal("a:b", {4}), Code::invalid_argument);
    EXPECT_EQ(refusal("3:1", {4}), Code::invalid_argument);
    EXPECT_EQ(refusal("0:4:0", {4}), Code::invalid_argument);
    EXPECT_EQ(refusal("0:1:1:1", {4}), Code::invalid_argument);
    EXPECT_EQ(refusal("0:5", {4}), Code::out_of_range);
    EXPECT_EQ(refusal("4", {4}), Code::out_of_range);
    EXPECT_EQ(refusal("18446744073709551615", {4}), Code::invalid_argument);
}
