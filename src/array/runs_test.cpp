#include "array/runs.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "array/selection.hpp"

namespace pmemcpy::array {
namespace {

/// Visits all indexes of a shape, last fastest.
template <class Visit>
void each_index(const Dimensions& shape, Visit&& visit) {
    if (shape.elements() == 0) return;
    Dimensions index = Dimensions::filled(shape.size(), 0);
    while (true) {
        visit(index);
        int d = shape.size() - 1;
        for (; d >= 0; --d) {
            if (++index[d] < shape[d]) break;
            index[d] = 0;
        }
        if (d < 0) return;
    }
}

std::uint64_t position(const Dimensions& index, const Dimensions& shape) {
    std::uint64_t at = 0;
    for (int d = 0; d < shape.size(); ++d) at = at * shape[d] + index[d];
    return at;
}

/// Copies a block into a buffer by the plan and by looking at each element: both must be the same.
void compare_with_naive_loop(const Selection& wanted, const Selection& block) {
    constexpr std::uint64_t element = 2;
    const auto part = covered(wanted, block);
    std::vector<std::uint16_t> stored(block.elements());
    for (std::size_t i = 0; i < stored.size(); ++i) stored[i] = static_cast<std::uint16_t>(i + 1);

    std::vector<std::uint16_t> expected(wanted.elements(), 0);
    each_index(wanted.count, [&](const Dimensions& index) {
        Dimensions in_block = index;
        for (int d = 0; d < wanted.size(); ++d) {
            const Extent x = wanted.offset[d] + index[d] * wanted.stride[d];
            if (x < block.offset[d] || (x - block.offset[d]) % block.stride[d] != 0) return;
            in_block[d] = (x - block.offset[d]) / block.stride[d];
            if (in_block[d] >= block.count[d]) return;
        }
        expected[position(index, wanted.count)] = stored[position(in_block, block.count)];
    });

    std::vector<std::uint16_t> found(expected.size(), 0);
    if (part) {
        const CopyPlan plan(wanted, block, *part, element);
        std::uint64_t bytes = 0, runs = 0;
        plan.for_each_run([&](std::uint64_t from, std::uint64_t to, std::uint64_t n) {
            ++runs;
            ASSERT_LE(from + n, stored.size() * element);
            ASSERT_LE(to + n, found.size() * element);
            ASSERT_EQ(n % element, 0u);
            for (std::uint64_t i = 0; i < n / element; ++i)
                found[to / element + i] = stored[from / element + i];
            bytes += n;
        });
        ASSERT_EQ(bytes, part->elements() * element);
        ASSERT_EQ(plan.bytes(), bytes);
        ASSERT_EQ(plan.is_one_run(), runs == 1);
    }
    ASSERT_EQ(found, expected) << to_string(wanted) << " of block " << to_string(block);
}

TEST(runs, agree_with_a_naive_loop_for_all_small_selections_in_two_dimensions) {
    const Dimensions dims{4, 4};
    std::vector<Selection> all;
    each_index({4, 4, 5, 5, 3, 3}, [&](const Dimensions& i) {
        const Selection s{{i[0], i[1]}, {i[2], i[3]}, {i[4] + 1, i[5] + 1}};
        if (end_of(s, 0) <= dims[0] && end_of(s, 1) <= dims[1]) all.push_back(s);
    });
    ASSERT_GT(all.size(), 200u);
    for (const Selection& wanted : all) {
        for (const Selection& block : all) compare_with_naive_loop(wanted, block);
    }
}

TEST(runs, agree_with_a_naive_loop_for_all_boxes_of_4x4x4_and_strides_to_3) {
    const Box block{{1, 1, 0}, {3, 2, 4}};
    each_index({4, 4, 4, 5, 5, 5}, [&](const Dimensions& i) {
        each_index({3, 3, 3}, [&](const Dimensions& s) {
            const Selection wanted{{i[0], i[1], i[2]}, {i[3], i[4], i[5]}, {s[0] + 1, s[1] + 1, s[2] + 1}};
            for (int d = 0; d < 3; ++d) {
                if (end_of(wanted, d) > 4 || (wanted.count[d] < 2 && wanted.stride[d] > 1)) return;
            }
            compare_with_naive_loop(wanted, block);
            compare_with_naive_loop(block, wanted);
        });
    });
}

TEST(runs, agree_with_a_naive_loop_for_random_selections_to_six_dimensions) {
    std::mt19937 random(2026);
    const auto below = [&](Extent n) { return static_cast<Extent>(random() % n); };
    for (int round = 0; round < 3000; ++round) {
        const int ndims = static_cast<int>(below(7));
        const Extent length = ndims > 4 ? 4 : 8;
        const auto any = [&](bool strided) {
            Selection s(Box::whole(Dimensions::filled(ndims, 1)));
            for (int d = 0; d < ndims; ++d) {
                s.offset[d] = below(3) == 0 ? below(length) : 0;
                s.stride[d] = strided ? 1 + below(3) : 1;
                const Extent most = (length - 1 - s.offset[d]) / s.stride[d] + 1;
                s.count[d] = below(3) == 0 ? most : 1 + below(most);
            }
            return s;
        };
        compare_with_naive_loop(any(round % 2 != 0), any(round % 3 == 0));
    }
}

TEST(runs, work_in_32_dimensions) {
    Selection wanted(Box::whole(Dimensions::filled(32, 1)));
    wanted.count[0] = wanted.count[7] = wanted.count[15] = wanted.count[31] = 5;
    Selection block = wanted;
    block.offset[7] = 2;
    block.count[7] = 2;
    block.offset[31] = 1;
    block.count[31] = 3;
    compare_with_naive_loop(wanted, block);
    // 2^20 elements of which every plan dimension but the innermost ones needs a loop of its own.
    Selection all(Box::whole(Dimensions::filled(32, 1)));
    Selection half = all;
    for (int d = 0; d < 32; ++d) {
        all.count[d] = d % 2 == 0 ? 2 : 1;
        half.count[d] = d % 4 == 0 ? 2 : 1;
    }
    compare_with_naive_loop(all, half);
}

TEST(runs, merge_full_inner_dimensions_into_one_row) {
    const Selection wanted(Box{{10, 0, 0}, {4, 6, 7}});
    const Box block{{8, 0, 0}, {8, 6, 7}};
    const CopyPlan plan(wanted, Selection(block), Selection(Box::whole(wanted.count)), 8);
    EXPECT_TRUE(plan.is_one_run());
    EXPECT_EQ(plan.first().block_offset, 2u * 6 * 7 * 8);
    EXPECT_EQ(plan.first().buffer_offset, 0u);
    EXPECT_EQ(plan.first().row_bytes, 4u * 6 * 7 * 8);
}

TEST(runs, of_a_column_are_one_set_of_single_elements) {
    const Selection column(Box{{0, 3}, {100, 1}});
    const CopyPlan plan(column, Selection(Box::whole({100, 10})), Selection(Box::whole(column.count)), 8);
    int sets = 0;
    plan.for_each_rows([&](const RowSet& set) {
        ++sets;
        EXPECT_EQ(set.row_bytes, 8u);
        EXPECT_EQ(set.rows, 100u);
        EXPECT_EQ(set.block_offset, 24u);
        EXPECT_EQ(set.block_stride, 80u);
        EXPECT_EQ(set.buffer_stride, 8u);
    });
    EXPECT_EQ(sets, 1);
}

TEST(runs, of_nothing_are_none) {
    const Selection nothing(Box{{0, 0}, {3, 0}});
    const CopyPlan plan(nothing, nothing, nothing, 8);
    EXPECT_EQ(plan.bytes(), 0u);
    plan.for_each_rows([](const RowSet&) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace pmemcpy::array
