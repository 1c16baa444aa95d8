#include "cli/stat/statistics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

using namespace pmemcpy;
using namespace pmemcpy::cli;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Statistics of_bytes(const Type& type, std::span<const std::byte> bytes) {
    const Columns columns = columns_of(type);
    Statistics statistics(columns.numbers.at(0).type);
    each_chunk(columns.numbers.at(0), type.size(), bytes, [&](const Chunk& chunk) { statistics.add(chunk); });
    return statistics;
}

template <class T>
Statistics of(const std::vector<T>& numbers, const Type& type = type_of<T>()) {
    return of_bytes(type, std::as_bytes(std::span(numbers)));
}

struct Probe {
    std::int32_t id;
    float at[2];
    char name[4];
};

}  // namespace

PMEMCPY_STRUCT(Probe, id, at, name);

TEST(cli_statistics, counts_what_is_special_and_leaves_it_out_of_the_mean) {
    const Statistics s = of<double>({1, not_a_number, 0, infinity, -0.0, 5, -infinity, not_a_number});
    EXPECT_EQ(s.count(), 8U);
    EXPECT_EQ(s.nan(), 2U);
    EXPECT_EQ(s.infinite(), 2U);
    EXPECT_EQ(s.zeros(), 2U);
    EXPECT_EQ(s.finite(), 4U);
    EXPECT_EQ(s.minimum(), Number(-infinity));
    EXPECT_EQ(s.maximum(), Number(infinity));
    EXPECT_EQ(s.lowest(), Number(0.0));
    EXPECT_EQ(s.highest(), Number(5.0));
    EXPECT_DOUBLE_EQ(s.mean(), 1.5);
    EXPECT_DOUBLE_EQ(s.deviation(), std::sqrt(17.0 / 4));
}

TEST(cli_statistics, of_nothing_there_is_none) {
    for (const Statistics& s : {of<double>({}), of<double>({not_a_number, not_a_number})}) {
        EXPECT_FALSE(s.minimum() || s.maximum() || s.lowest());
        EXPECT_TRUE(std::isnan(s.mean()));
        EXPECT_TRUE(std::isnan(s.deviation()));
    }
}

TEST(cli_statistics, integers_of_64_bits_are_exact) {
    const Statistics s = of<std::int64_t>({INT64_MIN, INT64_MAX, INT64_MAX - 1});
    EXPECT_EQ(s.minimum(), Number(std::int64_t{INT64_MIN}));
    EXPECT_EQ(s.maximum(), Number(std::int64_t{INT64_MAX}));
    EXPECT_EQ(of<std::uint64_t>({UINT64_MAX - 1, UINT64_MAX}).minimum(),
              Number(std::uint64_t{UINT64_MAX - 1}));
    EXPECT_EQ(s.nan(), 0U);
    EXPECT_EQ(of<std::int64_t>({INT64_MIN, 5}, Type::datetime64(TimeUnit::day)).nan(), 1U);
}

TEST(cli_statistics, a_large_mean_costs_no_digits) {
    std::vector<double> numbers;
    for (int i = 0; i < 100'000; ++i)
        numbers.push_back(1e9 + std::array{4, 7, 13, 16}[static_cast<std::size_t>(i % 4)]);
    const Statistics s = of(numbers);
    EXPECT_DOUBLE_EQ(s.mean(), 1e9 + 10);
    EXPECT_NEAR(s.deviation(), std::sqrt(22.5), 1e-12);
}

TEST(cli_statistics, chunks_that_differ_are_merged) {
    std::vector<std::int32_t> numbers(5 * most_numbers / 2);
    std::iota(numbers.begin(), numbers.end(), 0);
    const auto n = static_cast<double>(numbers.size());
    EXPECT_DOUBLE_EQ(of(numbers).mean(), (n - 1) / 2);
    EXPECT_DOUBLE_EQ(of(numbers).deviation(), std::sqrt((n * n - 1) / 12));
}

TEST(cli_statistics, huge_numbers_do_not_overflow) {
    const Statistics s = of<double>({1.5e308, 1.5e308, 1.7e308, -1.5e308});
    EXPECT_DOUBLE_EQ(s.mean(), 0.8e308);
    EXPECT_TRUE(std::isfinite(s.deviation()));
}

TEST(cli_statistics, complex_numbers_count_by_their_magnitude) {
    const Statistics s = of<std::complex<float>>({{3, 4}, {0, 0}});
    EXPECT_EQ(s.maximum(), Number(5.0F));
    EXPECT_EQ(s.zeros(), 1U);
}

TEST(cli_statistics, reads_bools_halves_and_the_other_byte_order) {
    EXPECT_DOUBLE_EQ(of_bytes(Type::scalar(Kind::boolean), std::as_bytes(std::span("\1\0\1\1", 4))).mean(),
                     0.75);
    EXPECT_EQ(of<float16>({float16(1.5F), float16(-2)}).minimum(), Number(-2.0F));
    EXPECT_EQ(of<bfloat16>({bfloat16(1.5F)}).maximum(), Number(1.5F));
    const std::array<std::uint8_t, 4> raw = {0, 0, 1, 2};
    EXPECT_EQ(of_bytes(Type::scalar(Kind::int32, ByteOrder::big), std::as_bytes(std::span(raw))).maximum(),
              Number(std::int64_t{258}));
}

TEST(cli_statistics, structures_have_a_column_for_each_field_of_numbers) {
    const Columns columns = columns_of(type_of<Probe>());
    ASSERT_EQ(columns.numbers.size(), 2U);
    EXPECT_EQ(columns.numbers[1].field, "at");
    EXPECT_EQ(columns.numbers[1].offsets, (std::vector<std::uint64_t>{4, 8}));
    EXPECT_EQ(columns.others, std::vector<std::string>{"name"});
    const std::vector<Probe> probes = {{1, {2, 3}, "a"}, {4, {5, 6}, "b"}};
    Statistics at(columns.numbers[1].type);
    each_chunk(columns.numbers[1], sizeof(Probe), std::as_bytes(std::span(probes)),
               [&](const Chunk& chunk) { at.add(chunk); });
    EXPECT_EQ(at.count(), 4U);
    EXPECT_DOUBLE_EQ(at.mean(), 4);
}
