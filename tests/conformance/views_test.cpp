// Views: elements where they lie, kept alive against everything, and the arrays that are filled in place.

#include <cstdint>
#include <numeric>
#include <pmemcpy/pmemcpy.hpp>
#include <vector>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

PMEMCPY_SUITE(views);

std::vector<int> counted(std::size_t n, int first = 0) {
    std::vector<int> values(n);
    std::iota(values.begin(), values.end(), first);
    return values;
}

TEST_P(views, a_view_copies_nothing) {
    open();
    const auto data = counted(40'000);
    pmem.alloc<int>("A", Dimensions{200, 200});
    pmem.store<int>("A", data.data(), Box{{0, 0}, {200, 200}});
    const auto one = pmem.view<int>("A");
    const auto two = pmem.view<int>("A", Box{{10, 0}, {10, 200}});
    EXPECT_EQ(two.data(), one.data() + 2000) << "two views of one block lie in the same memory";
    EXPECT_TRUE(one.is_contiguous());
    EXPECT_TRUE(std::equal(data.begin(), data.end(), one.begin()));
    EXPECT_EQ(one.span().size(), 40'000u);
    EXPECT_EQ(one.shape(), (Dimensions{200, 200}));
}

TEST_P(views, a_view_may_have_strides) {
    open();
    const auto data = counted(60);
    pmem.alloc<int>("A", Dimensions{3, 4, 5});
    pmem.store<int>("A", data.data(), Box{{0, 0, 0}, {3, 4, 5}});
    const auto view = pmem.view<int>("A", Selection({0, 1, 0}, {2, 2, 3}, {2, 2, 2}));
    EXPECT_FALSE(view.is_contiguous());
    EXPECT_EQ(view.strides(), (Dimensions{40, 10, 2}));
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            for (int k = 0; k < 3; ++k) EXPECT_EQ(view.at(i, j, k), 2 * i * 20 + (1 + 2 * j) * 5 + 2 * k);
    expect_error(Code::unsupported, [&] { view.span(); });
    expect_error(Code::out_of_range, [&] { view.at(2, 0, 0); });
    expect_error(Code::out_of_range, [&] { view.at(0, 0); });
    const auto row = pmem.view<int>("A", Box{{1, 2, 0}, {1, 1, 5}});
    EXPECT_TRUE(row.is_contiguous());
    EXPECT_EQ(row[4], 34);
}

TEST_P(views, a_strided_block_is_viewed_with_its_own_strides) {
    open();
    const auto data = counted(4);
    pmem.alloc<int>("A", Dimensions{10});
    pmem.store<int>("A", data.data(), Selection({1}, {4}, {2}));  // 1, 3, 5, 7
    const auto every = pmem.view<int>("A", Selection({1}, {4}, {2}));
    EXPECT_TRUE(every.is_contiguous());
    EXPECT_EQ(every[3], 3);
    const auto second = pmem.view<int>("A", Selection({3}, {2}, {4}));  // 3, 7
    EXPECT_EQ(second.at(0), 1);
    EXPECT_EQ(second.at(1), 3);
}

TEST_P(views, a_view_stays_as_it_is_against_overwrite_and_erase) {
    open();
    const auto data = counted(30'000);
    pmem.alloc<int>("A", Dimensions{30'000});
    pmem.store<int>("A", data.data(), Box{{0}, {30'000}});
    const auto view = pmem.view<int>("A");
    const std::vector<int> other(30'000, -1);
    for (int i = 0; i < 30; ++i) pmem.store<int>("A", other.data(), Box{{0}, {30'000}});
    EXPECT_EQ(view[29'999], 29'999);
    EXPECT_EQ(pmem.view<int>("A")[0], -1);
    pmem.erase("A");
    for (int i = 0; i < 30; ++i) pmem.store("other " + std::to_string(i), other);
    pmem.compact();
    pmem.trim();
    EXPECT_TRUE(std::equal(data.begin(), data.end(), view.begin()));
}

TEST_P(views, a_view_outlives_munmap_and_its_space_comes_back_after_it) {
    open();
    const auto data = counted(30'000);
    pmem.alloc<int>("A", Dimensions{30'000});
    pmem.store<int>("A", data.data(), Box{{0}, {30'000}});
    {
        const auto view = pmem.view<int>("A");
        pmem.munmap();
        EXPECT_TRUE(std::equal(data.begin(), data.end(), view.begin()));
        PMEM second;
        second.mmap(path(), options());
        second.erase("A");
        second.store("B", std::vector<int>(30'000, 5));
        EXPECT_TRUE(std::equal(data.begin(), data.end(), view.begin()));
    }
    open();
    pmem.erase("B");
    pmem.compact();
    EXPECT_EQ(pmem.info().retired_records, 0u);
    EXPECT_EQ(pmem.info().data_bytes, 0u);
}

TEST_P(views, many_views_at_once) {
    open();
    std::vector<View<const int>> held;
    pmem.alloc<int>("A", Dimensions{2000});
    for (int i = 0; i < 600; ++i) {
        const std::vector<int> data(2000, i);
        pmem.store<int>("A", data.data(), Box{{0}, {2000}});
        held.push_back(pmem.view<int>("A"));
    }
    for (int i = 0; i < 600; ++i) {
        const auto& view = held[static_cast<std::size_t>(i)];
        ASSERT_EQ(view[0], i);
        ASSERT_EQ(view[1999], i);
    }
    held.clear();
    pmem.compact();
    EXPECT_EQ(pmem.info().retired_records, 0u);
}

TEST_P(views, copies_of_a_view_share_one_pin) {
    open();
    const auto data = counted(20'000);
    pmem.alloc<int>("A", Dimensions{20'000});
    pmem.store<int>("A", data.data(), Box{{0}, {20'000}});
    auto first = std::make_unique<View<const int>>(pmem.view<int>("A"));
    const View<const int> second = *first;
    first.reset();
    pmem.erase("A");
    pmem.store("B", std::vector<int>(20'000, 1));
    EXPECT_TRUE(std::equal(data.begin(), data.end(), second.begin()));
}

TEST_P(views, two_blocks_have_no_view) {
    open();
    const auto data = counted(10);
    pmem.alloc<int>("A", Dimensions{10});
    pmem.store<int>("A", data.data(), Box{{0}, {5}});
    pmem.store<int>("A", data.data(), Box{{5}, {5}});
    expect_error(Code::unsupported, [&] { (void)pmem.view<int>("A"); },
                 {"'A'", "[0:10]", "2 blocks", "contiguous"});
    EXPECT_EQ(pmem.view<int>("A", Box{{5}, {5}})[4], 4);
}

TEST_P(views, what_cannot_be_loaded_cannot_be_viewed) {
    open();
    pmem.alloc<int>("A", Dimensions{10});
    expect_error(Code::not_found, [&] { (void)pmem.view<int>("A"); }, {"'A'"});
    expect_error(Code::not_found, [&] { (void)pmem.view<int>("B"); }, {"'B'"});
    pmem.store<int>("A", counted(10).data(), Box{{0}, {10}});
    expect_error(Code::type_mismatch, [&] { (void)pmem.view<float>("A"); }, {"int32", "float32"});
    expect_error(Code::out_of_range, [&] { (void)pmem.view<int>("A", Box{{5}, {6}}); });
    expect_error(Code::invalid_argument, [&] { (void)pmem.update<int>("A"); }, {"contiguous"});
    if (!is_available(Codec::Kind::lz4)) GTEST_SKIP() << "no codec in this build";
    pmem.store<int>("A", counted(10).data(), Box{{0}, {10}}, parse_codec("lz4"));
    expect_error(Code::unsupported, [&] { (void)pmem.view<int>("A"); }, {"compressed"});
}

TEST_P(views, updates_go_straight_into_the_pool) {
    open();
    ArrayOptions contiguous;
    contiguous.contiguous = true;
    pmem.alloc<double>("W", Dimensions{100, 10}, contiguous);
    EXPECT_TRUE(pmem.info("W").is_contiguous);
    EXPECT_FALSE(pmem.info("W").is_frozen);
    auto whole = pmem.update<double>("W");
    auto part = pmem.update<double>("W", Box{{50, 0}, {1, 10}});
    EXPECT_EQ(whole.at(99, 9), 0.0) << "what nobody wrote is zero";
    whole.at(50, 3) = 7;
    EXPECT_EQ(part.at(0, 3), 7.0);
    part.at(0, 4) = 8;
    double found[2] = {};
    pmem.load<double>("W", found, Box{{50, 3}, {1, 2}});
    EXPECT_EQ(found[0], 7.0);
    EXPECT_EQ(found[1], 8.0);
    const double stored[] = {1, 2, 3};
    pmem.store<double>("W", stored, Selection({0, 0}, {3, 1}, {2, 1}));
    EXPECT_EQ(whole.at(4, 0), 3.0);
    EXPECT_EQ(pmem.blocks("W").size(), 1u);
}

TEST_P(views, freezing_brings_an_array_under_the_promise) {
    open();
    ArrayOptions contiguous;
    contiguous.contiguous = true;
    pmem.alloc<int>("W", Dimensions{1000}, contiguous);
    auto view = pmem.update<int>("W");
    std::iota(view.begin(), view.end(), 5);
    pmem.freeze("W");
    EXPECT_TRUE(pmem.info("W").is_frozen);
    EXPECT_TRUE(pmem.blocks("W").at(0).is_frozen);
    EXPECT_TRUE(pmem.verify().empty());
    expect_error(Code::invalid_argument, [&] { (void)pmem.update<int>("W"); }, {"frozen"});
    const int one = 1;
    expect_error(Code::invalid_argument, [&] { pmem.store<int>("W", &one, Box{{0}, {1}}); }, {"frozen"});
    pmem.freeze("W");
    EXPECT_EQ(pmem.view<int>("W")[999], 1004);
    view[0] = -1;  // nobody may, and verify sees it
    ASSERT_EQ(pmem.verify().size(), 1u);
    EXPECT_EQ(pmem.verify()[0].id, "W");
    pmem.alloc<int>("A", Dimensions{4});
    expect_error(Code::invalid_argument, [&] { pmem.freeze("A"); }, {"contiguous"});
}

TEST_P(views, a_contiguous_array_survives_in_both_states) {
    open();
    ArrayOptions contiguous;
    contiguous.contiguous = true;
    pmem.alloc<int>("W", Dimensions{50'000}, contiguous);
    pmem.update<int>("W")[49'999] = 9;
    reopen();
    EXPECT_FALSE(pmem.info("W").is_frozen);
    auto view = pmem.update<int>("W");
    EXPECT_EQ(view[49'999], 9);
    pmem.freeze("W");
    view = {};
    reopen();
    EXPECT_TRUE(pmem.info("W").is_frozen);
    EXPECT_EQ(pmem.view<int>("W")[49'999], 9);
    EXPECT_TRUE(pmem.verify().empty());
}

TEST_P(views, contiguous_arrays_in_fortran_order) {
    open();
    ArrayOptions options;
    options.contiguous = true;
    options.order = Order::fortran;
    pmem.alloc<int>("W", Dimensions{3, 5}, options);
    auto view = pmem.update<int>("W");
    EXPECT_EQ(view.strides(), (Dimensions{1, 3}));
    view.at(2, 4) = 42;
    const int column[] = {7, 8, 9};
    pmem.store<int>("W", column, Box{{0, 1}, {3, 1}});
    EXPECT_EQ(view.at(1, 1), 8);
    int found = 0;
    pmem.load<int>("W", &found, Box{{2, 4}, {1, 1}});
    EXPECT_EQ(found, 42);
}

TEST_P(views, a_contiguous_array_can_neither_grow_nor_be_compressed) {
    open();
    ArrayOptions options;
    options.contiguous = true;
    expect_error(Code::invalid_argument,
                 [&] {
                     pmem.alloc<int>("W", Dimensions{unlimited, 5}, options);
                 },
                 {"contiguous"});
    options.codec = parse_codec("lz4");
    expect_error(Code::invalid_argument, [&] { pmem.alloc<int>("W", Dimensions{5}, options); },
                 {"contiguous"});
    EXPECT_FALSE(pmem.exists("W"));
}

}  // namespace
}  // namespace pmemcpy::conformance
