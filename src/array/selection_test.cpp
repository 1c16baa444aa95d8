#include "array/selection.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <pmemcpy/error.hpp>
#include <random>

namespace pmemcpy::array {
namespace {

std::string refused(const Selection& selection, const Dimensions& dims, Code code) {
    try {
        validate(selection, dims);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), code) << error.what();
        return error.what();
    }
    ADD_FAILURE() << to_string(selection) << " was accepted for " << to_string(dims);
    return {};
}

bool picks(const Selection& s, int d, Extent x) {
    return s.count[d] > 0 && x >= s.offset[d] && x < end_of(s, d) && (x - s.offset[d]) % s.stride[d] == 0;
}

TEST(array, prints_dimensions_boxes_and_selections) {
    EXPECT_EQ(to_string(Dimensions{4, 100}), "4 x 100");
    EXPECT_EQ(to_string(Dimensions{}), "scalar");
    EXPECT_EQ(to_string(Dimensions{unlimited, 3}), "unlimited x 3");
    EXPECT_EQ(to_string(Box{{0, 5}, {10, 2}}), "[0:10, 5:7]");
    EXPECT_EQ(to_string(Selection{{0, 5}, {10, 4}, {1, 4}}), "[0:10, 5:18:4]");
    EXPECT_EQ(to_string(Box{}), "[]");
}

TEST(array, counts_elements_and_refuses_more_than_64_bits) {
    EXPECT_EQ(Dimensions{}.elements(), 1u);
    EXPECT_EQ((Dimensions{3, 0, UINT64_MAX, UINT64_MAX}).elements(), 0u);
    EXPECT_EQ((Dimensions{1u << 31, 1u << 31}).elements(), Extent{1} << 62);
    EXPECT_THROW(static_cast<void>((Dimensions{UINT64_MAX, 2}).elements()), Error);
}

TEST(array, refuses_more_than_32_dimensions) {
    const std::vector<std::size_t> many(33, 1);
    EXPECT_EQ(Dimensions(32, many.data()).size(), 32);
    EXPECT_THROW(Dimensions(33, many.data()), Error);
    EXPECT_THROW(Dimensions(-1, many.data()), Error);
    EXPECT_THROW(Dimensions(1, nullptr), Error);
    EXPECT_EQ(Dimensions(0, nullptr).size(), 0);
    Dimensions full = Dimensions::filled(32, 7);
    EXPECT_THROW(full.push_back(1), Error);
}

TEST(selection, inside_the_array_is_accepted) {
    validate(Box{}, {});
    validate(Box{{0, 0}, {4, 5}}, {4, 5});
    validate(Box{{4, 0}, {0, 5}}, {4, 5});
    validate(Box{{0}, {0}}, {0});
    validate(Selection{{1}, {3}, {4}}, {10});
    validate(Box{{1000, 0}, {5, 3}}, {unlimited, 3});
}

TEST(selection, outside_the_array_is_refused_with_dimension_and_numbers) {
    const auto message = refused(Box{{0, 3}, {4, 3}}, {4, 5}, Code::out_of_range);
    EXPECT_NE(message.find("3 elements from 3 in dimension 1"), std::string::npos) << message;
    EXPECT_NE(message.find("extent of 5 (4 x 5)"), std::string::npos) << message;
    refused(Box{{5}, {0}}, {4}, Code::out_of_range);
    refused(Box{{4}, {1}}, {4}, Code::out_of_range);
    refused(Box{{0}, {1}}, {0}, Code::out_of_range);
    refused(Selection{{2}, {3}, {4}}, {10}, Code::out_of_range);
    refused(Box{{1000, 0}, {5, 4}}, {unlimited, 3}, Code::out_of_range);
}

TEST(selection, that_makes_no_sense_is_an_invalid_argument) {
    refused(Box{{0}, {1}}, {4, 5}, Code::invalid_argument);
    refused(Selection{{0, 0}, {1}, {1}}, {4}, Code::invalid_argument);
    refused(Selection{{0}, {1}, {0}}, {4}, Code::invalid_argument);
    refused(Box{{0, 0}, {UINT64_MAX - 1, 3}}, {unlimited, 3}, Code::invalid_argument);
}

TEST(selection, near_2_to_the_64_does_not_overflow) {
    refused(Box{{UINT64_MAX - 1}, {UINT64_MAX}}, {UINT64_MAX - 1}, Code::out_of_range);
    refused(Box{{2}, {UINT64_MAX - 1}}, {unlimited}, Code::out_of_range);
    refused(Selection{{1}, {UINT64_MAX / 2}, {UINT64_MAX / 2}}, {1000}, Code::out_of_range);
    validate(Selection{{0}, {2}, {UINT64_MAX - 2}}, {unlimited});
}

TEST(selection, covered_agrees_with_looking_at_every_element_of_a_line) {
    const Extent length = 13;
    const auto each = [&](const std::function<void(const Selection&)>& visit) {
        for (Extent stride = 1; stride <= 5; ++stride) {
            for (Extent offset = 0; offset < length; ++offset) {
                for (Extent count = 0; count == 0 || offset + (count - 1) * stride < length; ++count) {
                    visit(Selection{{offset}, {count}, {stride}});
                }
            }
        }
    };
    each([&](const Selection& wanted) {
        each([&](const Selection& block) {
            std::vector<Extent> expected;
            for (Extent i = 0; i < wanted.count[0]; ++i) {
                if (picks(block, 0, wanted.offset[0] + i * wanted.stride[0])) expected.push_back(i);
            }
            std::vector<Extent> found;
            if (const auto part = covered(wanted, block)) {
                for (Extent i = 0; i < part->count[0]; ++i) {
                    found.push_back(part->offset[0] + i * part->stride[0]);
                }
                ASSERT_FALSE(found.empty());
            }
            ASSERT_EQ(found, expected) << to_string(wanted) << " in " << to_string(block);
        });
    });
}

TEST(selection, covered_works_with_huge_strides) {
    // i * 10^15 = 7 + j * (10^15 + 1): i = j + 7 modulo 10^15 + 1, found by number theory, not by looking.
    const Extent big = 1'000'000'000'000'000;
    const Selection wanted{{0}, {18000}, {big}};
    const Selection block{{7}, {18000}, {big + 1}};
    EXPECT_FALSE(covered(wanted, block));
    const Selection shifted{{3 * big}, {18000}, {big + 1}};
    const auto part = covered(wanted, shifted);
    ASSERT_TRUE(part);
    EXPECT_EQ(*part, (Selection{{3}, {1}, {1}}));
}

TEST(selection, of_no_dimension_covers_the_one_element) {
    EXPECT_EQ(covered(Selection(Box{}), Box{}), Box{});
    EXPECT_EQ(bounding_box(Selection(Box{})), Box{});
}

TEST(selection, composes_and_reverses) {
    const Selection outer{{10, 20}, {5, 6}, {2, 3}};
    EXPECT_EQ(compose(outer, Selection{{1, 0}, {2, 3}, {2, 2}}), (Selection{{12, 20}, {2, 3}, {4, 6}}));
    EXPECT_EQ(reversed(Box{{1, 2, 3}, {4, 5, 6}}), (Box{{3, 2, 1}, {6, 5, 4}}));
    EXPECT_EQ(reversed(outer), (Selection{{20, 10}, {6, 5}, {3, 2}}));
    EXPECT_EQ(bounding_box(outer), (Box{{10, 20}, {9, 16}}));
}

}  // namespace
}  // namespace pmemcpy::array
