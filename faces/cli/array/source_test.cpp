#include "cli/array/source.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <optional>

#include "tests/folder.hpp"

using namespace pmemcpy;
using namespace pmemcpy::cli;

namespace {

using Numbers = std::vector<std::int32_t>;

/// A pool with an array A of 4 x 6 numbers, of which nothing is stored.
class cli_source : public testing::Test {
protected:
    cli_source() {
        Options options;
        options.max_bytes = 16 << 20;
        options.chunk_bytes = 64 << 10;
        pmem.mmap(folder / "pool", options);
        pmem.alloc<std::int32_t>("A", {4, 6});
    }
    /// Element (i, j) is 10 i + j.
    void store(const Selection& selection) {
        Numbers numbers;
        for (Extent i = 0; i < selection.count[0]; ++i) {
            for (Extent j = 0; j < selection.count[1]; ++j) {
                numbers.push_back(
                    static_cast<std::int32_t>(10 * (selection.offset[0] + i * selection.stride[0]) +
                                              selection.offset[1] + j * selection.stride[1]));
            }
        }
        pmem.store("A", numbers.data(), selection);
    }
    Source source() { return {pmem, pmem.info("A"), Box::whole({4, 6})}; }
    /// What was stored, sorted; the missing elements are counted in `missing`.
    Numbers stored() {
        Numbers found;
        missing = source().each_stored([&](std::span<const std::byte> elements, const Selection& piece) {
            EXPECT_EQ(elements.size(), piece.elements() * sizeof(std::int32_t));
            const std::size_t before = found.size();
            found.resize(before + piece.elements());
            std::memcpy(found.data() + before, elements.data(), elements.size());
        });
        std::sort(found.begin(), found.end());
        return found;
    }

    Folder folder;
    PMEM pmem;
    std::uint64_t missing = 0;
};

}  // namespace

TEST_F(cli_source, of_which_nothing_is_stored_has_nothing) {
    EXPECT_EQ(stored(), Numbers{});
    EXPECT_EQ(missing, 24U);
    Source all = source();
    EXPECT_THROW(all.each(Order::c, [](auto, const Selection&) {}), Error);
}

TEST_F(cli_source, is_read_where_it_is_stored_and_counted_where_not) {
    store(Box{{1, 1}, {2, 3}});
    store(Box{{3, 5}, {1, 1}});
    EXPECT_EQ(stored(), (Numbers{11, 12, 13, 21, 22, 23, 35}));
    EXPECT_EQ(missing, 17U);
}

TEST_F(cli_source, strides_leave_holes) {
    store(Selection({0, 1}, {2, 3}, {3, 2}));
    EXPECT_EQ(stored(), (Numbers{1, 3, 5, 31, 33, 35}));
    EXPECT_EQ(missing, 18U);
}

TEST_F(cli_source, a_huge_array_is_read_where_it_is_stored_only) {
    pmem.alloc<std::int32_t>("huge", {Extent{1} << 40, 6});
    const Numbers two = {7, 8};
    pmem.store("huge", two.data(), Box{{Extent{1} << 39, 2}, {1, 2}});
    std::uint64_t sum = 0;
    const Info info = pmem.info("huge");
    missing = Source(pmem, info, Box::whole(info.dims))
                  .each_stored([&](std::span<const std::byte> elements, const auto&) {
                      EXPECT_EQ(elements.size() % sizeof(std::int32_t), 0U);
                      for (std::size_t at = 0; at < elements.size(); at += sizeof(std::int32_t)) {
                          std::int32_t number = 0;
                          std::memcpy(&number, elements.data() + at, sizeof number);
                          sum += static_cast<std::uint64_t>(number);
                      }
                  });
    EXPECT_EQ(sum, 15U);
    EXPECT_EQ(missing, (std::uint64_t{6} << 40) - 2);
}

TEST_F(cli_source, is_cut_where_blocks_end) {
    for (Extent i = 0; i < 4; i += 2) {
        for (Extent j = 0; j < 6; j += 2) store(Box{{i, j}, {2, 2}});
    }
    const Source all = source();
    const auto [upper, lower] = all.halves(all.whole(), all.cut_of(all.whole()));
    EXPECT_EQ(upper.selection, Selection({0, 0}, {2, 6}));
    EXPECT_EQ(upper.blocks.size(), 3U);
    const auto [left, right] = all.halves(lower, all.cut_of(lower));
    EXPECT_EQ(left.blocks.size() + right.blocks.size(), 3U);  // none is in both
    const Source::Part one = left.blocks.size() == 1 ? left : right;
    EXPECT_EQ(one.selection.count, (Dimensions{2, 2}));
    EXPECT_EQ(all.cut_of(one).dimension, 0);
    EXPECT_EQ(all.cut_of(one).count, 1U);
}

TEST_F(cli_source, is_cut_between_the_strides_of_a_selection) {
    store(Box{{0, 0}, {2, 6}});
    store(Box{{2, 0}, {2, 6}});
    const Source odd(pmem, pmem.info("A"), Selection({1, 1}, {2, 3}, {2, 2}));  // rows 1 and 3
    const auto [upper, lower] = odd.halves(odd.whole(), odd.cut_of(odd.whole()));
    EXPECT_EQ(upper.selection, Selection({1, 1}, {1, 3}, {2, 2}));
    EXPECT_EQ(lower.selection, Selection({3, 1}, {1, 3}, {2, 2}));
}

TEST_F(cli_source, a_fill_value_leaves_no_holes) {
    pmem.alloc<std::int32_t>("filled", {3}, ArrayOptions{}.fill(std::int32_t{5}));
    Source filled(pmem, pmem.info("filled"), Box::whole({3}));
    std::uint64_t bytes = 0;
    EXPECT_EQ(filled.each_stored([&](auto elements, const Selection&) { bytes += elements.size(); }), 0U);
    EXPECT_EQ(bytes, 12U);
}

TEST_F(cli_source, that_is_erased_meanwhile_is_an_error_and_no_hole) {
    store(Box{{0, 0}, {4, 6}});
    Source all = source();
    pmem.erase("A");
    EXPECT_THROW(all.each_stored([](auto, const Selection&) {}), Error);
}
