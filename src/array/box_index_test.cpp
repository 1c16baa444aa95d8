#include "array/box_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "array/region.hpp"

namespace pmemcpy::array {
namespace {

Box any_box(std::mt19937& random, int ndims, Extent length) {
    Box box = Box::whole(Dimensions::filled(ndims, 1));
    for (int d = 0; d < ndims; ++d) {
        box.offset[d] = random() % length;
        box.count[d] = random() % 6;
    }
    return box;
}

std::vector<std::uint64_t> found_in(const BoxIndex& index, const Box& box) {
    std::vector<std::uint64_t> found;
    index.query(box, [&](std::uint64_t handle) { found.push_back(handle); });
    std::sort(found.begin(), found.end());
    return found;
}

TEST(box_index, finds_what_a_scan_finds_while_boxes_come_and_go) {
    for (const int ndims : {1, 2, 3, 6}) {
        std::mt19937 random(static_cast<unsigned>(ndims));
        BoxIndex index(ndims);
        std::map<std::uint64_t, Box> truth;
        for (std::uint64_t step = 0; step < 6000; ++step) {
            const bool shrinking = step / 1500 % 2 == 1;
            if (!truth.empty() && random() % 4 < (shrinking ? 3u : 1u)) {
                auto gone = truth.lower_bound(random() % step);
                if (gone == truth.end()) gone = truth.begin();
                ASSERT_TRUE(index.erase(gone->first));
                ASSERT_FALSE(index.erase(gone->first));
                truth.erase(gone);
            } else {
                truth[step] = any_box(random, ndims, 30);
                index.insert(step, truth[step]);
                ASSERT_EQ(index.box_of(step), truth[step]);
            }
            ASSERT_EQ(index.size(), truth.size());
            if (step % 7 != 0) continue;
            const Box query = any_box(random, ndims, 30);
            std::vector<std::uint64_t> expected;
            Extent end = 0;
            for (const auto& [handle, box] : truth) {
                if (!query.empty() && !box.empty() && intersect(query, box)) expected.push_back(handle);
                if (!box.empty()) end = std::max(end, box.end(0));
            }
            ASSERT_EQ(found_in(index, query), expected);
            ASSERT_EQ(index.greatest_end(), end);
        }
    }
}

TEST(box_index, appended_boxes_are_found_before_and_after_settling) {
    BoxIndex index(1);
    for (std::uint64_t i = 0; i < 1000; ++i) index.append(i, Box{{i * 10}, {10}});
    EXPECT_EQ(found_in(index, Box{{95}, {10}}), (std::vector<std::uint64_t>{9, 10}));
    index.settle();
    EXPECT_EQ(found_in(index, Box{{95}, {10}}), (std::vector<std::uint64_t>{9, 10}));
    EXPECT_EQ(index.greatest_end(), 10'000u);
}

TEST(box_index, works_without_dimensions_and_when_all_boxes_are_equal) {
    BoxIndex scalars(0);
    for (std::uint64_t i = 0; i < 200; ++i) scalars.insert(i, Box{});
    EXPECT_EQ(found_in(scalars, Box{}).size(), 200u);
    EXPECT_EQ(scalars.greatest_end(), 0u);
    BoxIndex equal(2);
    for (std::uint64_t i = 0; i < 500; ++i) equal.insert(i, Box{{3, 3}, {2, 2}});
    EXPECT_EQ(found_in(equal, Box{{4, 4}, {1, 1}}).size(), 500u);
    EXPECT_TRUE(found_in(equal, Box{{5, 3}, {1, 1}}).empty());
}

TEST(box_index, holds_a_hundred_thousand_boxes_of_an_array_that_grows) {
    BoxIndex index(3);
    for (std::uint64_t i = 0; i < 100'000; ++i) index.insert(i, Box{{i, 0, 0}, {1, 1000, 1000}});
    EXPECT_EQ(index.greatest_end(), 100'000u);
    EXPECT_EQ(found_in(index, Box{{77'777, 10, 10}, {2, 1, 1}}),
              (std::vector<std::uint64_t>{77'777, 77'778}));
    for (std::uint64_t i = 99'000; i < 100'000; ++i) index.erase(i);
    EXPECT_EQ(index.greatest_end(), 99'000u);
}

}  // namespace
}  // namespace pmemcpy::array
