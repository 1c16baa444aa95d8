// Length: one promise after another of what an array is.
// The shape of arrays: dimensions, order, growth, fill value, and that creating one twice is creating it once.

#include <array>
#include <complex>
#include <cstdint>
#include <numeric>
#include <pmemcpy/pmemcpy.hpp>
#include <vector>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

PMEMCPY_SUITE(arrays);

template <class T>
std::vector<T> counted(std::size_t n, T first = T{}) {
    std::vector<T> values(n);
    std::iota(values.begin(), values.end(), first);
    return values;
}

template <class T>
std::vector<T> loaded(const PMEM& pmem, const std::string& id, const Selection& selection) {
    std::vector<T> values(selection.elements());
    pmem.load<T>(id, values.data(), selection);
    return values;
}

TEST_P(arrays, figure_2_by_pointers) {
    open();
    const std::size_t dims[] = {4, 6};
    const std::size_t offsets[] = {1, 2};
    const std::size_t counts[] = {2, 3};
    const std::vector<double> data = {1, 2, 3, 4, 5, 6};
    pmem.alloc<double>("A", 2, dims);
    pmem.store<double>("A", data.data(), 2, offsets, counts);
    std::vector<double> back(6);
    pmem.load<double>("A", back.data(), 2, offsets, counts);
    EXPECT_EQ(back, data);
    int ndims = 0;
    std::size_t found[2] = {};
    pmem.load_dims("A", &ndims, found);
    EXPECT_EQ(ndims, 2);
    EXPECT_EQ(found[0], 4u);
    EXPECT_EQ(found[1], 6u);
    pmem.load_dims("A", &ndims, nullptr);
    EXPECT_EQ(ndims, 2);
    EXPECT_EQ(pmem.load<std::vector<std::uint64_t>>("A#dims"), (std::vector<std::uint64_t>{4, 6}));
    EXPECT_EQ(loaded<std::uint64_t>(pmem, "A#dims", Box{{0}, {2}}), (std::vector<std::uint64_t>{4, 6}));
}

TEST_P(arrays, no_dimension_is_one_element) {
    open();
    pmem.alloc<double>("point", Dimensions{});
    const double value = 3.25;
    expect_error(Code::not_found, [&] { loaded<double>(pmem, "point", Box{}); }, {"point"});
    pmem.store<double>("point", &value, Box{});
    EXPECT_EQ(loaded<double>(pmem, "point", Box{}), std::vector<double>{value});
    EXPECT_EQ(pmem.load_dims("point").size(), 0);
    EXPECT_EQ(pmem.info("point").bytes, 8u);
    EXPECT_EQ(*pmem.view<double>("point").data(), value);
}

TEST_P(arrays, a_dimension_of_zero_is_no_element) {
    open();
    pmem.alloc<double>("none", Dimensions{3, 0, 5});
    pmem.store<double>("none", nullptr, Box{{0, 0, 0}, {3, 0, 5}});
    double untouched = 1;
    pmem.load<double>("none", &untouched, Box{{0, 0, 0}, {3, 0, 5}});
    EXPECT_EQ(untouched, 1);
    EXPECT_EQ(pmem.load_dims("none"), (Dimensions{3, 0, 5}));
    EXPECT_EQ(pmem.info("none").bytes, 0u);
    EXPECT_EQ(pmem.view<double>("none").size(), 0u);
    ArrayOptions in_place;
    in_place.contiguous = true;
    pmem.alloc<int>("nothing in place", Dimensions{0}, in_place);
    pmem.freeze("nothing in place");
    expect_error(Code::out_of_range, [&] {
        pmem.store<double>("none", &untouched, Box{{0, 0, 0}, {1, 1, 1}});
    });
}

TEST_P(arrays, one_to_thirty_two_dimensions) {
    open();
    for (int n = 1; n <= max_dimensions; ++n) {
        const std::string id = "d" + std::to_string(n);
        Dimensions dims = Dimensions::filled(n, 1);
        dims[0] = 3;
        dims[n - 1] = n == 1 ? 3 : 4;
        if (n > 2) dims[n / 2] = 2;
        pmem.alloc<std::int32_t>(id, dims);
        const auto data = counted<std::int32_t>(dims.elements());
        pmem.store<std::int32_t>(id, data.data(), Box::whole(dims));
        EXPECT_EQ(pmem.load_dims(id), dims);
        EXPECT_EQ(loaded<std::int32_t>(pmem, id, Box::whole(dims)), data);
        Box last{dims, Dimensions::filled(n, 1)};
        for (int d = 0; d < n; ++d) --last.offset[d];
        EXPECT_EQ(loaded<std::int32_t>(pmem, id, last), std::vector<std::int32_t>{data.back()});
    }
    expect_error(Code::invalid_argument, [] { Dimensions::filled(33, 1); });
    const std::vector<std::size_t> many(33, 1);
    expect_error(Code::invalid_argument, [&] { pmem.alloc<int>("d33", 33, many.data()); }, {"32"});
}

TEST_P(arrays, an_unlimited_dimension_grows_by_stores) {
    open();
    pmem.alloc<float>("steps", Dimensions{unlimited, 3});
    EXPECT_EQ(pmem.load_dims("steps"), (Dimensions{0, 3}));
    EXPECT_TRUE(pmem.info("steps").is_unlimited);
    for (std::uint64_t t = 0; t < 200; ++t) {
        const std::vector<float> row(3, static_cast<float>(t));
        pmem.store<float>("steps", row.data(), Box{{t, 0}, {1, 3}});
        ASSERT_EQ(pmem.load_dims("steps"), (Dimensions{t + 1, 3}));
    }
    EXPECT_EQ(loaded<float>(pmem, "steps", Box{{199, 0}, {1, 3}}), std::vector<float>(3, 199.0F));
    expect_error(Code::out_of_range, [&] { loaded<float>(pmem, "steps", Box{{200, 0}, {1, 3}}); });
    expect_error(Code::out_of_range, [&] { loaded<float>(pmem, "steps", Box{{0, 1}, {1, 3}}); });
    const std::vector<float> far(3, 1.0F);
    pmem.store<float>("steps", far.data(), Box{{1000, 0}, {1, 3}});
    EXPECT_EQ(pmem.load_dims("steps"), (Dimensions{1001, 3}));
    expect_error(Code::not_found,
                 [&] {
                     loaded<float>(pmem, "steps", Box{{199, 0}, {2, 3}});
                 },
                 {"[200:201, 0:3]"});
    expect_error(Code::invalid_argument, [&] { pmem.alloc<int>("odd", Dimensions{3, unlimited}); });
}

// Each row was a block for ever: after 8,512 of them a store of one more took ten times as long as at the beginning, and so did a load.
TEST_P(arrays, rows_that_are_appended_one_by_one_do_not_stay_a_block_each) {
    open();
    constexpr std::uint64_t rows = 3000;
    for (const Codec& codec : {Codec{}, Codec{Codec::Kind::lz4, 5, true}}) {
        const std::string id = "a" + to_string(codec).substr(0, 3);
        ArrayOptions options;
        options.codec = codec;
        pmem.alloc<int>(id, Dimensions{unlimited, 3}, options);
        for (int row = 0; row < static_cast<int>(rows); ++row) {
            const int data[] = {row, row + 1, -row};
            pmem.store<int>(id, data, Box{{static_cast<std::uint64_t>(row), 0}, {1, 3}});
            if (row == 1000) {  // over rows that may have been joined
                const int other[] = {-1, -2};
                pmem.store<int>(id, other, Box{{500, 1}, {2, 1}});
            }
        }
        EXPECT_LT(pmem.info(id).blocks, 60u);
        const auto found = loaded<int>(pmem, id, Box{{0, 0}, {rows, 3}});
        for (std::uint64_t row = 0; row < rows; ++row) {
            const int middle = row == 500 ? -1 : row == 501 ? -2 : static_cast<int>(row) + 1;
            ASSERT_EQ(found[3 * row], static_cast<int>(row));
            ASSERT_EQ(found[3 * row + 1], middle);
            ASSERT_EQ(found[3 * row + 2], -static_cast<int>(row));
        }
        EXPECT_TRUE(pmem.verify().empty());
        pmem.erase(id);
    }
    pmem.compact();
    EXPECT_EQ(conformance::settled_info(pmem).data_bytes, 0u);
}

// What another stores over a row at the same time must win, or lose, as if the rows had not been joined.
TEST_P(arrays, rows_are_joined_by_compact_where_another_writer_kept_them_apart) {
    open();
    PMEM other;
    other.mmap(path(), options());
    pmem.alloc<int>("a", Dimensions{unlimited});
    pmem.alloc<int>("fixed", Dimensions{100, 2});
    for (int i = 0; i < 100; ++i) {
        const int row[] = {i, i};
        pmem.store<int>("a", &i, Box{{static_cast<std::uint64_t>(i)}, {1}});
        pmem.store<int>("fixed", row, Box{{static_cast<std::uint64_t>(i), 0}, {1, 2}});
    }
    EXPECT_EQ(pmem.info("a").blocks, 100u);
    pmem.compact();
    EXPECT_EQ(pmem.info("a").blocks, 100u);
    other.munmap();
    const auto view = pmem.view<int>("a", Box{{50}, {1}});
    pmem.compact();
    EXPECT_EQ(pmem.info("a").blocks, 1u);
    EXPECT_EQ(pmem.info("fixed").blocks, 1u);
    EXPECT_EQ(loaded<int>(pmem, "a", Box{{0}, {100}}), counted<int>(100));
    EXPECT_EQ(view[0], 50);
    const int last = -7;
    pmem.store<int>("a", &last, Box{{50}, {1}});
    EXPECT_EQ(loaded<int>(pmem, "a", Box{{50}, {1}}), std::vector<int>{-7});
    EXPECT_EQ(view[0], 50);
    reopen();
    EXPECT_EQ(loaded<int>(pmem, "a", Box{{49}, {3}}), (std::vector<int>{49, -7, 51}));
}

// Of the index 2^64 - 2 the length was the number that stands for no length, and of others more elements than can be counted.
TEST_P(arrays, an_unlimited_dimension_grows_to_less_than_two_to_the_64_bytes) {
    open();
    const std::vector<std::int8_t> byte = {1};
    const std::vector<double> row = {1, 2, 3};
    pmem.alloc<std::int8_t>("bytes", Dimensions{unlimited});
    pmem.alloc<double>("rows", Dimensions{unlimited, 3});
    constexpr std::uint64_t most_rows = UINT64_MAX / (3 * sizeof(double));
    const auto store_byte = [&](std::uint64_t at) {
        pmem.store<std::int8_t>("bytes", byte.data(), Box{{at}, {1}});
    };
    const auto store_row = [&](std::uint64_t at) {
        pmem.store<double>("rows", row.data(), Box{{at, 0}, {1, 3}});
    };
    expect_error(Code::out_of_range, [&] { store_byte(UINT64_MAX - 1); }, {"bytes", "2^64"});
    for (const std::uint64_t at : {most_rows, std::uint64_t{1} << 62, UINT64_MAX - 1})
        expect_error(Code::out_of_range, [&] { store_row(at); }, {"rows", "2^64"});
    EXPECT_EQ(pmem.load_dims("bytes"), Dimensions{0});
    store_byte(UINT64_MAX - 2);
    store_row(most_rows - 1);
    EXPECT_EQ(pmem.load_dims("bytes"), Dimensions{UINT64_MAX - 1});
    EXPECT_EQ(pmem.load_dims("rows"), (Dimensions{most_rows, 3}));
    EXPECT_EQ(loaded<double>(pmem, "rows", Box{{most_rows - 1, 0}, {1, 3}}), row);
    reopen();
    EXPECT_EQ(loaded<std::int8_t>(pmem, "bytes", Box{{UINT64_MAX - 2}, {1}}), byte);
}

TEST_P(arrays, an_unlimited_strided_store_ends_at_its_last_element) {
    open();
    pmem.alloc<int>("u", Dimensions{unlimited});
    const auto data = counted<int>(4);
    pmem.store<int>("u", data.data(), Selection({2}, {4}, {3}));  // 2, 5, 8, 11
    EXPECT_EQ(pmem.load_dims("u"), Dimensions{12});
    EXPECT_EQ(loaded<int>(pmem, "u", Selection({2}, {4}, {3})), data);
    expect_error(Code::not_found, [&] { loaded<int>(pmem, "u", Box{{2}, {2}}); }, {"[3:4]"});
}

TEST_P(arrays, a_fill_value_stands_for_what_was_never_stored) {
    open();
    pmem.alloc<double>("f", Dimensions{4, 4}, ArrayOptions{}.fill(-1.0));
    EXPECT_EQ(loaded<double>(pmem, "f", Box{{0, 0}, {4, 4}}), std::vector<double>(16, -1.0));
    const double one[] = {1, 2};
    pmem.store<double>("f", one, Box{{1, 1}, {1, 2}});
    EXPECT_EQ(loaded<double>(pmem, "f", Box{{1, 0}, {2, 4}}),
              (std::vector<double>{-1, 1, 2, -1, -1, -1, -1, -1}));
    EXPECT_EQ(pmem.info("f").fill_value, ArrayOptions{}.fill(-1.0).fill_value);
    ArrayOptions wrong;
    wrong.fill(1.0F);
    expect_error(Code::invalid_argument, [&] { pmem.alloc<double>("g", Dimensions{4}, wrong); },
                 {"fill", "4", "8"});
    EXPECT_FALSE(pmem.exists("g"));
}

TEST_P(arrays, missing_elements_are_named_and_nothing_is_invented) {
    open();
    pmem.alloc<int>("holes", Dimensions{10, 10});
    const auto data = counted<int>(100);
    pmem.store<int>("holes", data.data(), Box{{0, 0}, {4, 10}});
    pmem.store<int>("holes", data.data(), Box{{6, 0}, {4, 10}});
    expect_error(Code::not_found,
                 [&] {
                     loaded<int>(pmem, "holes", Box{{0, 0}, {10, 10}});
                 },
                 {"'holes'", "[4:6, 0:10]"});
    expect_error(Code::not_found, [&] { loaded<int>(pmem, "holes", Box{{3, 2}, {2, 3}}); }, {"[4:5, 2:5]"});
    EXPECT_EQ(loaded<int>(pmem, "holes", Box{{3, 2}, {1, 2}}), (std::vector<int>{32, 33}));
}

TEST_P(arrays, the_newest_of_overlapping_boxes_wins) {
    open();
    pmem.alloc<int>("o", Dimensions{6, 6});
    const std::vector<int> ones(36, 1), twos(36, 2), threes(36, 3);
    pmem.store<int>("o", ones.data(), Box{{0, 0}, {6, 6}});
    pmem.store<int>("o", twos.data(), Box{{1, 1}, {4, 4}});
    pmem.store<int>("o", threes.data(), Box{{0, 3}, {6, 2}});
    pmem.store<int>("o", ones.data(), Box{{2, 2}, {1, 2}});
    const std::vector<int> expected = {1, 1, 1, 3, 3, 1, 1, 2, 2, 3, 3, 1, 1, 2, 1, 1, 3, 1,
                                       1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3, 1, 1, 1, 1, 3, 3, 1};
    EXPECT_EQ(loaded<int>(pmem, "o", Box{{0, 0}, {6, 6}}), expected);
    pmem.compact();
    EXPECT_EQ(loaded<int>(pmem, "o", Box{{0, 0}, {6, 6}}), expected);
}

TEST_P(arrays, a_store_of_the_same_box_replaces_its_block) {
    open();
    pmem.alloc<int>("same", Dimensions{8});
    for (int i = 0; i < 50; ++i) {
        const std::vector<int> data(8, i);
        pmem.store<int>("same", data.data(), Box{{0}, {8}});
    }
    EXPECT_EQ(loaded<int>(pmem, "same", Box{{0}, {8}}), std::vector<int>(8, 49));
    EXPECT_EQ(pmem.blocks("same").size(), 1u);
}

TEST_P(arrays, a_covering_store_takes_the_blocks_below_it_away) {
    open();
    pmem.alloc<int>("cover", Dimensions{64});
    const auto data = counted<int>(64);
    for (std::uint64_t i = 0; i < 64; ++i) pmem.store<int>("cover", &data[i], Box{{i}, {1}});
    EXPECT_EQ(pmem.blocks("cover").size(), 64u);
    pmem.store<int>("cover", data.data(), Box{{0}, {63}});
    EXPECT_EQ(pmem.blocks("cover").size(), 2u);
    EXPECT_EQ(loaded<int>(pmem, "cover", Box{{0}, {64}}), data);
}

TEST_P(arrays, fortran_order_runs_the_first_index_fastest) {
    open();
    ArrayOptions options;
    options.order = Order::fortran;
    pmem.alloc<int>("F", Dimensions{3, 4}, options);
    const auto data = counted<int>(12);  // element (i, j) is i + 3 j
    pmem.store<int>("F", data.data(), Box{{0, 0}, {3, 4}});
    EXPECT_EQ(pmem.info("F").order, Order::fortran);
    EXPECT_EQ(pmem.load_dims("F"), (Dimensions{3, 4}));
    EXPECT_EQ(loaded<int>(pmem, "F", Box{{1, 2}, {2, 2}}), (std::vector<int>{7, 8, 10, 11}));
    EXPECT_EQ(loaded<int>(pmem, "F", Selection({0, 1}, {2, 2}, {2, 2})), (std::vector<int>{3, 5, 9, 11}));
    ASSERT_EQ(pmem.blocks("F").size(), 1u);
    EXPECT_EQ(pmem.blocks("F")[0].box, Selection(Box({0, 0}, {3, 4})));
    const auto view = pmem.view<int>("F", Box{{1, 1}, {2, 3}});
    EXPECT_EQ(view.at(0, 0), 4);
    EXPECT_EQ(view.at(1, 2), 11);
    expect_error(Code::out_of_range, [&] { loaded<int>(pmem, "F", Box{{0, 0}, {4, 3}}); });
    pmem.alloc<int>("G", Dimensions{3, 4}, options);
    pmem.store<int>("G", data.data(), Box{{0, 0}, {1, 4}});
    expect_error(Code::not_found, [&] { loaded<int>(pmem, "G", Box{{0, 0}, {3, 4}}); }, {"[1:3, 0:4]"});
}

TEST_P(arrays, elements_of_the_other_byte_order_are_swapped_on_load) {
    open();
    pmem.alloc("big", Type::scalar(Kind::uint32, ByteOrder::big), Dimensions{3});
    const std::uint8_t bytes[] = {0, 0, 0, 1, 0x12, 0x34, 0x56, 0x78, 0xFF, 0, 0, 0};
    pmem.store("big", Type::scalar(Kind::uint32, ByteOrder::big), bytes, Box{{0}, {3}});
    EXPECT_EQ(loaded<std::uint32_t>(pmem, "big", Box{{0}, {3}}),
              (std::vector<std::uint32_t>{1, 0x12345678, 0xFF000000}));
    std::vector<std::uint8_t> raw(12);
    pmem.load("big", Type::scalar(Kind::uint32, ByteOrder::big), raw.data(), Box{{0}, {3}});
    EXPECT_TRUE(std::equal(raw.begin(), raw.end(), bytes));
    EXPECT_EQ(pmem.info("big").type.byte_order(), ByteOrder::big);
    pmem.alloc("complex", Type::scalar(Kind::complex64, ByteOrder::big), Dimensions{1});
    const std::uint8_t one_two[] = {0x3F, 0x80, 0, 0, 0x40, 0, 0, 0};
    pmem.store("complex", Type::scalar(Kind::complex64, ByteOrder::big), one_two, Box{{0}, {1}});
    EXPECT_EQ(loaded<std::complex<float>>(pmem, "complex", Box{{0}, {1}})[0], std::complex<float>(1, 2));
    expect_error(Code::type_mismatch,
                 [&] {
                     loaded<std::int32_t>(pmem, "big", Box{{0}, {3}});
                 },
                 {"uint32(big-endian)", "int32"});
}

TEST_P(arrays, alloc_is_idempotent) {
    open();
    for (int i = 0; i < 3; ++i) pmem.alloc<double>("A", Dimensions{4, 5});
    const auto data = counted<double>(20);
    pmem.store<double>("A", data.data(), Box{{0, 0}, {4, 5}});
    pmem.alloc<double>("A", Dimensions{4, 5});
    EXPECT_EQ(loaded<double>(pmem, "A", Box{{0, 0}, {4, 5}}), data);
    pmem.alloc<int>("u", Dimensions{unlimited});
    pmem.store<int>("u", std::vector<int>(3, 1).data(), Box{{0}, {3}});
    pmem.alloc<int>("u", Dimensions{unlimited});
}

TEST_P(arrays, alloc_of_another_shape_shows_both) {
    open();
    pmem.alloc<double>("A", Dimensions{4, 5});
    expect_error(Code::already_exists,
                 [&] {
                     pmem.alloc<double>("A", Dimensions{5, 4});
                 },
                 {"'A'", "4 x 5", "5 x 4"});
    expect_error(Code::already_exists,
                 [&] {
                     pmem.alloc<float>("A", Dimensions{4, 5});
                 },
                 {"float64", "float32"});
    expect_error(Code::already_exists,
                 [&] {
                     pmem.alloc<double>("A", Dimensions{unlimited, 5});
                 },
                 {"unlimited x 5"});
    ArrayOptions fortran;
    fortran.order = Order::fortran;
    expect_error(Code::already_exists,
                 [&] {
                     pmem.alloc<double>("A", Dimensions{4, 5}, fortran);
                 },
                 {"order"});
    expect_error(Code::already_exists,
                 [&] {
                     pmem.alloc<double>("A", Dimensions{4, 5}, ArrayOptions{}.fill(0.0));
                 },
                 {"fill"});
}

TEST_P(arrays, impossible_arrays_are_refused) {
    open();
    const std::uint64_t huge = 1ULL << 40;
    expect_error(Code::invalid_argument, [&] { pmem.alloc<double>("h", Dimensions{huge, huge}); });
    expect_error(Code::invalid_argument, [&] { pmem.alloc("s", Type::string(), Dimensions{4}); }, {"string"});
    expect_error(Code::invalid_argument, [&] { pmem.alloc("n", Type(), Dimensions{4}); });
    expect_error(Code::invalid_argument, [&] { pmem.alloc<int>("x#dims", Dimensions{4}); }, {"#dims"});
    EXPECT_TRUE(pmem.ids().empty());
}

TEST_P(arrays, structs_bools_and_halves_are_elements_too) {
    open();
    pmem.alloc<bool>("b", Dimensions{4});
    const bool flags[] = {true, false, true, true};
    pmem.store<bool>("b", flags, Box{{0}, {4}});
    bool back[4] = {};
    pmem.load<bool>("b", back, Box{{0}, {4}});
    EXPECT_TRUE(std::equal(flags, flags + 4, back));
    pmem.alloc<float16>("h", Dimensions{2});
    const float16 halves[] = {float16(0.5F), float16(-4.0F)};
    pmem.store<float16>("h", halves, Box{{0}, {2}});
    EXPECT_EQ(loaded<float16>(pmem, "h", Box{{1}, {1}})[0], float16(-4.0F));
    struct Odd {
        char bytes[7];
    };
    pmem.alloc<Odd>("odd", Dimensions{5});
    const std::vector<Odd> odd(5, Odd{"sieben"});
    pmem.store<Odd>("odd", odd.data(), Box{{0}, {5}});
    EXPECT_STREQ(loaded<Odd>(pmem, "odd", Box{{3}, {1}})[0].bytes, "sieben");
}

}  // namespace
}  // namespace pmemcpy::conformance
