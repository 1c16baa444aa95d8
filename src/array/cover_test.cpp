#include "array/cover.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "array/region.hpp"
#include "array/selection.hpp"

namespace pmemcpy::array {
namespace {

struct Block {
    Selection where;
    std::uint64_t version;
};

template <class Visit>
void each_position(const Selection& s, const Dimensions& shape, Visit&& visit) {
    if (s.empty()) return;
    Dimensions index = Dimensions::filled(s.size(), 0);
    while (true) {
        std::size_t at = 0;
        for (int d = 0; d < s.size(); ++d) at = at * shape[d] + s.offset[d] + index[d] * s.stride[d];
        visit(at);
        int d = s.size() - 1;
        for (; d >= 0; --d) {
            if (++index[d] < s.count[d]) break;
            index[d] = 0;
        }
        if (d < 0) return;
    }
}

/// Paints blocks oldest first over the whole array, and compares each wanted element with who won.
void compare_with_painter(const Dimensions& dims, const std::vector<Block>& blocks, const Selection& wanted,
                          std::size_t* calls = nullptr) {
    std::vector<int> canvas(dims.elements(), -1);
    std::vector<std::size_t> order(blocks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return blocks[a].version < blocks[b].version; });
    for (const auto i : order) {
        each_position(blocks[i].where, dims, [&](std::size_t at) { canvas[at] = static_cast<int>(i); });
    }
    std::vector<int> expected;
    each_position(wanted, dims, [&](std::size_t at) { expected.push_back(canvas[at]); });

    constexpr int never = -2;
    std::vector<int> found(expected.size(), never);
    const auto paint = [&](const Selection& part, int colour) {
        if (calls != nullptr) ++*calls;
        for (int d = 0; d < part.size(); ++d) ASSERT_LE(end_of(part, d), wanted.count[d]);
        each_position(part, wanted.count, [&](std::size_t at) {
            ASSERT_EQ(found[at], never) << "an element came twice";
            found[at] = colour;
        });
    };
    Cover cover(wanted);
    for (std::size_t i = 0; i < blocks.size(); ++i) cover.add(blocks[i].where, blocks[i].version, i);
    cover.plan([&](std::uint64_t handle, const Selection& part) { paint(part, static_cast<int>(handle)); },
               [&](const Selection& part) { paint(part, -1); });
    ASSERT_EQ(found, expected) << to_string(wanted);
    std::vector<int> painted(expected.size(), never);
    const bool is_painted = cover.paint([&](std::uint64_t handle, const Selection& part) {
        each_position(part, wanted.count, [&](std::size_t at) { painted[at] = static_cast<int>(handle); });
    });
    if (is_painted) {
        ASSERT_EQ(painted, expected) << to_string(wanted);
    }
}

Selection any_selection(std::mt19937& random, const Dimensions& dims, Extent greatest_stride) {
    Selection s(Box::whole(dims));
    for (int d = 0; d < dims.size(); ++d) {
        s.offset[d] = random() % dims[d];
        s.stride[d] = 1 + random() % greatest_stride;
        s.count[d] = 1 + random() % ((dims[d] - 1 - s.offset[d]) / s.stride[d] + 1);
    }
    return s;
}

TEST(cover, of_random_boxes_agrees_with_a_painter) {
    for (unsigned seed = 0; seed < 400; ++seed) {
        std::mt19937 random(seed);
        const int ndims = 1 + static_cast<int>(seed % 4);
        const Dimensions dims = Dimensions::filled(ndims, ndims == 1   ? 60
                                                          : ndims == 2 ? 16
                                                          : ndims == 3 ? 8
                                                                       : 5);
        std::vector<Block> blocks(seed % 60);
        for (Block& block : blocks) block = {any_selection(random, dims, 1), random() % 40};
        compare_with_painter(dims, blocks, any_selection(random, dims, 1 + seed % 3));
    }
}

TEST(cover, of_strided_blocks_agrees_with_a_painter) {
    for (unsigned seed = 0; seed < 400; ++seed) {
        std::mt19937 random(seed);
        const int ndims = 1 + static_cast<int>(seed % 3);
        const Dimensions dims = Dimensions::filled(ndims, ndims == 1 ? 60 : ndims == 2 ? 16 : 8);
        std::vector<Block> blocks(seed % 50);
        for (Block& block : blocks) block = {any_selection(random, dims, 1 + random() % 4), random() % 40};
        compare_with_painter(dims, blocks, any_selection(random, dims, 1 + seed % 3));
    }
}

TEST(cover, survives_strides_that_shatter_a_large_part) {
    std::mt19937 random(7);
    const Dimensions dims{90, 90};
    std::vector<Block> blocks;
    for (Extent stride : {7u, 11u, 13u, 5u, 3u, 17u}) {
        for (Extent start = 0; start < 2; ++start) {
            const Extent count = (89 - start) / stride + 1;
            blocks.push_back({{{start, start}, {count, count}, {stride, stride}}, random() % 100});
        }
    }
    compare_with_painter(dims, blocks, Selection(Box::whole(dims)));
}

TEST(cover, of_a_checkerboard_stored_as_combs_takes_each_comb_whole) {
    std::size_t calls = 0;
    compare_with_painter({100}, {{{{0}, {50}, {2}}, 1}, {{{1}, {50}, {2}}, 2}}, Selection(Box::whole({100})),
                         &calls);
    EXPECT_EQ(calls, 2u);
}

TEST(cover, of_one_block_is_one_piece) {
    std::size_t calls = 0;
    compare_with_painter({10, 10}, {{Selection(Box::whole({10, 10})), 1}}, Box{{2, 3}, {4, 5}}, &calls);
    EXPECT_EQ(calls, 1u);
}

TEST(cover, leaves_out_what_is_hidden_by_a_newer_block) {
    std::vector<Block> blocks;
    for (std::uint64_t i = 0; i < 100; ++i) blocks.push_back({Selection(Box::whole({10, 10})), i});
    std::size_t calls = 0;
    compare_with_painter({10, 10}, blocks, Box::whole({10, 10}), &calls);
    EXPECT_EQ(calls, 1u);
}

TEST(cover, does_not_cut_blocks_of_a_grid) {
    std::vector<Block> blocks;
    for (Extent i = 0; i < 30; ++i) {
        for (Extent j = 0; j < 30; ++j) blocks.push_back({Box{{i * 3, j * 5}, {3, 5}}, i});
    }
    std::size_t calls = 0;
    compare_with_painter({90, 150}, blocks, Box::whole({90, 150}), &calls);
    EXPECT_EQ(calls, blocks.size());
}

TEST(cover, of_scalars_and_of_nothing_work) {
    std::size_t calls = 0;
    compare_with_painter({}, {{Selection(Box{}), 1}, {Selection(Box{}), 2}}, Selection(Box{}), &calls);
    EXPECT_EQ(calls, 1u);
    compare_with_painter({}, {}, Selection(Box{}), &calls);
    EXPECT_EQ(calls, 2u);
    compare_with_painter({4}, {}, Box{{2}, {0}}, &calls);
    EXPECT_EQ(calls, 2u);
}

TEST(cover, of_equal_versions_takes_the_block_added_last) {
    Cover cover(Selection(Box::whole({4})));
    cover.add(Selection(Box::whole({4})), 5, 1);
    cover.add(Selection(Box::whole({4})), 5, 2);
    std::vector<std::uint64_t> taken;
    cover.plan([&](std::uint64_t handle, const Selection&) { taken.push_back(handle); },
               [](const Selection&) { ADD_FAILURE(); });
    EXPECT_EQ(taken, std::vector<std::uint64_t>{2});
}

TEST(cover, of_100000_blocks_of_an_array_too_large_to_paint_is_exact) {
    // A million million elements in 100,000 disjoint blocks, and a newer box across some of them.
    Cover cover(Selection(Box::whole({100'000'000, 10'000})));
    for (std::uint64_t i = 0; i < 100'000; ++i) cover.add(Box{{i * 1000, 0}, {1000, 10'000}}, 1, i);
    const Box patch{{500, 100}, {50'000, 100}};
    cover.add(patch, 2, 100'000);
    Extent from_patch = 0, from_others = 0;
    cover.plan(
        [&](std::uint64_t handle, const Selection& part) {
            (handle == 100'000 ? from_patch : from_others) += part.elements();
        },
        [](const Selection&) { ADD_FAILURE(); });
    EXPECT_EQ(from_patch, patch.elements());
    EXPECT_EQ(from_others, 1'000'000'000'000u - patch.elements());
}

TEST(region, subtract_leaves_disjoint_boxes_that_hold_the_rest) {
    std::mt19937 random(3);
    for (int round = 0; round < 2000; ++round) {
        const Dimensions dims{6, 5, 4};
        const Box a = bounding_box(any_selection(random, dims, 1)),
                  b = bounding_box(any_selection(random, dims, 1));
        std::vector<int> canvas(dims.elements(), 0);
        each_position(a, dims, [&](std::size_t at) { canvas[at] = 1; });
        each_position(b, dims, [&](std::size_t at) { canvas[at] = 0; });
        std::vector<Box> rest;
        subtract(a, b, rest);
        ASSERT_LE(rest.size(), 6u);
        for (const Box& box : rest) each_position(box, dims, [&](std::size_t at) { --canvas[at]; });
        ASSERT_TRUE(std::all_of(canvas.begin(), canvas.end(), [](int left) { return left == 0; }));
        ASSERT_EQ(contains(b, a), rest.empty());
    }
}

// A block below 3,000 single elements was cut into as many pieces again, and a load took 20 times as long as one of the block.
TEST(cover, many_small_blocks_above_a_large_one_are_painted_over_it) {
    Cover cover(Box{{0, 0}, {100, 100}});
    cover.add(Box{{0, 0}, {100, 100}}, 1, 0);
    std::mt19937 random(3);
    for (std::uint64_t i = 1; i <= 300; ++i)
        cover.add(Box{{random() % 100, random() % 100}, {1, 1}}, i + 1, i);
    std::vector<std::uint64_t> order;
    ASSERT_TRUE(cover.paint([&](std::uint64_t handle, const Selection&) { order.push_back(handle); }));
    EXPECT_EQ(order.size(), 301u);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    std::vector<Block> blocks = {{Box{{0, 0}, {30, 20}}, 5}};
    for (std::uint64_t i = 0; i < 200; ++i)
        blocks.push_back({Box{{random() % 29, random() % 19}, {1 + random() % 2, 1}}, random() % 10});
    compare_with_painter({30, 20}, blocks, Box{{0, 0}, {30, 20}});
    compare_with_painter({30, 20}, blocks, Selection({1, 2}, {9, 8}, {3, 2}));
    Cover without(Box{{0}, {100}});
    for (std::uint64_t i = 0; i < 100; ++i) without.add(Box{{i}, {1}}, i, i);
    EXPECT_FALSE(without.paint([](std::uint64_t, const Selection&) {}));
}

}  // namespace
}  // namespace pmemcpy::array
