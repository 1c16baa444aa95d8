// What the library's own operations make, compared with what a loop over the elements finds.

#include "operate/array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <pmemcpy/error.hpp>
#include <random>
#include <string>
#include <vector>

namespace pmemcpy::operate {
namespace {

template <class T>
OperationArray array_of(const std::vector<T>& elements) {
    OperationArray array{
        type_of<T>(), {elements.size()}, std::vector<std::byte>(elements.size() * sizeof(T))};
    if (!elements.empty()) std::memcpy(array.data.data(), elements.data(), array.data.size());
    return array;
}

template <class T>
std::vector<T> elements_of(const OperationArray& array) {
    EXPECT_EQ(array.type, type_of<T>());
    EXPECT_EQ(array.dims.elements() * sizeof(T), array.data.size());
    std::vector<T> elements(array.data.size() / sizeof(T));
    if (!elements.empty()) std::memcpy(elements.data(), array.data.data(), array.data.size());
    return elements;
}

void expect(Code code, const std::function<void()>& call) {
    try {
        call();
        ADD_FAILURE() << "expected " << pmemcpy::name_of(code);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), code) << error.what();
    }
}

template <class T>
class of_numbers : public ::testing::Test {};
using Numbers = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                 std::uint16_t, std::uint32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(of_numbers, Numbers);

TYPED_TEST(of_numbers, are_sorted_counted_and_summed_as_by_a_loop) {
    using T = TypeParam;
    std::mt19937 random(7);
    std::vector<T> elements(1000);
    for (T& element : elements)
        element = static_cast<T>(static_cast<int>(random() % 100) - (std::is_signed_v<T> ? 50 : 0));
    const OperationArray array = array_of(elements);

    std::vector<T> in_order = elements;
    std::sort(in_order.begin(), in_order.end());
    EXPECT_EQ(elements_of<T>(sorted(array)), in_order);

    std::vector<T> unique;
    for (const T element : elements) {
        if (std::find(unique.begin(), unique.end(), element) == unique.end()) unique.push_back(element);
    }
    EXPECT_EQ(elements_of<T>(deduplicated(array)), unique);

    EXPECT_EQ(elements_of<T>(least(array)), std::vector<T>{in_order.front()});
    EXPECT_EQ(elements_of<T>(greatest(array)), std::vector<T>{in_order.back()});
    EXPECT_TRUE(least(array).dims.empty());

    double total = 0;
    for (const T element : elements) total += static_cast<double>(element);
    const OperationArray summed = sum(array);
    if constexpr (std::is_floating_point_v<T>)
        EXPECT_EQ(elements_of<double>(summed), std::vector<double>{total});
    else if constexpr (std::is_signed_v<T>)
        EXPECT_EQ(elements_of<std::int64_t>(summed), std::vector{static_cast<std::int64_t>(total)});
    else
        EXPECT_EQ(elements_of<std::uint64_t>(summed), std::vector{static_cast<std::uint64_t>(total)});

    const Histogram found = histogram(array, 10);
    EXPECT_EQ(found.low, static_cast<double>(in_order.front()));
    EXPECT_EQ(found.high, static_cast<double>(in_order.back()));
    std::vector<std::uint64_t> counts(10, 0);
    for (const T element : elements) {
        std::size_t bin = 0;
        while (bin < 9 && static_cast<double>(element) * 10 >=
                              found.low * 10 + (found.high - found.low) * static_cast<double>(bin + 1))
            ++bin;
        ++counts[bin];
    }
    EXPECT_EQ(elements_of<std::uint64_t>(found.counts), counts);
}

TEST(of_elements, that_are_no_number_come_last_and_are_no_extreme) {
    const double nan = std::nan("");
    const OperationArray array = array_of<double>({nan, 2, 1, nan, 2});
    const auto in_order = elements_of<double>(sorted(array));
    EXPECT_EQ(std::vector<double>(in_order.begin(), in_order.begin() + 3), (std::vector<double>{1, 2, 2}));
    EXPECT_TRUE(std::isnan(in_order[3]) && std::isnan(in_order[4]));
    const auto unique = elements_of<double>(deduplicated(array));
    ASSERT_EQ(unique.size(), 3U);
    EXPECT_TRUE(std::isnan(unique[0]));
    EXPECT_EQ(unique[1], 2);
    EXPECT_EQ(elements_of<double>(least(array)), std::vector<double>{1});
    EXPECT_EQ(elements_of<double>(greatest(array)), std::vector<double>{2});
    EXPECT_TRUE(std::isnan(elements_of<double>(sum(array))[0]));
    EXPECT_EQ(elements_of<std::uint64_t>(histogram(array, 2).counts), (std::vector<std::uint64_t>{1, 2}));
}

TEST(of_elements, times_are_ordered_and_not_a_time_comes_last) {
    using Day = datetime64<TimeUnit::day>;
    const Day none{std::numeric_limits<std::int64_t>::min()};
    const OperationArray array = array_of<Day>({none, Day{3}, Day{-1}});
    EXPECT_EQ(elements_of<Day>(sorted(array)), (std::vector<Day>{Day{-1}, Day{3}, none}));
    EXPECT_EQ(elements_of<Day>(least(array)), std::vector<Day>{Day{-1}});
    expect(Code::unsupported, [&] { sum(array); });
}

TEST(of_elements, sums_of_integers_wrap_around_and_those_of_complex_numbers_are_complex) {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(elements_of<std::int64_t>(sum(array_of<std::int64_t>({most, most, 3}))),
              std::vector<std::int64_t>{1});
    const auto total =
        elements_of<std::complex<double>>(sum(array_of<std::complex<float>>({{1, 2}, {3, -5}})));
    EXPECT_EQ(total, (std::vector<std::complex<double>>{{4, -3}}));
}

TEST(of_elements, in_the_other_order_of_bytes_are_turned) {
    OperationArray array{Type::scalar(Kind::uint16, ByteOrder::big), {2}, {}};
    for (const unsigned byte : {1U, 2U, 0U, 3U}) array.data.push_back(std::byte(byte));
    make_native(array);
    EXPECT_EQ(elements_of<std::uint16_t>(array), (std::vector<std::uint16_t>{0x102, 3}));
}

TEST(of_elements, a_histogram_of_equal_numbers_has_them_in_the_middle) {
    const Histogram found = histogram(array_of<int>({5, 5, 5}), 4);
    EXPECT_EQ(found.low, 4.5);
    EXPECT_EQ(found.high, 5.5);
    EXPECT_EQ(elements_of<std::uint64_t>(found.counts), (std::vector<std::uint64_t>{0, 0, 3, 0}));
}

TEST(of_elements, a_histogram_reaches_over_all_numbers_that_there_are) {
    const double most = std::numeric_limits<double>::max();
    EXPECT_EQ(elements_of<std::uint64_t>(histogram(array_of<double>({-most, 0.5, most}), 2).counts),
              (std::vector<std::uint64_t>{1, 2}));
    expect(Code::invalid_argument, [] {
        histogram(array_of<double>({1, std::numeric_limits<double>::infinity()}), 2);
    });
}

TEST(of_elements, none_at_all_have_no_extreme_and_the_sum_zero) {
    const OperationArray empty = array_of<float>({});
    EXPECT_EQ(sorted(empty).dims, Dimensions{0});
    EXPECT_EQ(deduplicated(empty).dims, Dimensions{0});
    EXPECT_EQ(elements_of<double>(sum(empty)), std::vector<double>{0});
    expect(Code::invalid_argument, [&] { least(empty); });
    expect(Code::invalid_argument, [&] { histogram(empty, 3); });
}

TEST(of_elements, of_which_nothing_is_known_are_refused) {
    const OperationArray array{Type::opaque(4), {2}, std::vector<std::byte>(8)};
    for (const auto operate : {sorted, deduplicated, least, greatest, sum})
        expect(Code::unsupported, [&] { operate(array); });
    expect(Code::unsupported, [&] { histogram(array, 2); });
}

}  // namespace
}  // namespace pmemcpy::operate
