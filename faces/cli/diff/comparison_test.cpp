#include "cli/diff/comparison.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>

using namespace pmemcpy;
using namespace pmemcpy::cli;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Atom {
    char name[4];
    std::int32_t charge;
    double at[2];
};

template <class T>
Comparison compare(const std::vector<T>& a, const std::vector<T>& b, const Tolerance& tolerance = {},
                   std::uint64_t most_places = 10, const Type& type = type_of<T>()) {
    Comparison comparison(type, tolerance, most_places);
    comparison.add(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)),
                   [](std::uint64_t k) { return Dimensions{k}; });
    return comparison;
}

}  // namespace

PMEMCPY_STRUCT(Atom, name, charge, at);

TEST(cli_comparison, counts_what_differs_and_keeps_the_first_and_the_farthest) {
    const Comparison c = compare<double>({1, 2, 3, 4, 5}, {1, 2.5, 3, 9, 5.25}, {}, 2);
    EXPECT_FALSE(c.is_equal());
    EXPECT_EQ(c.elements(), 5U);
    EXPECT_EQ(c.differing(), 3U);
    EXPECT_EQ(c.largest(), 5.0);
    EXPECT_EQ(c.largest_at(), Dimensions{3});
    ASSERT_EQ(c.places().size(), 2U);
    EXPECT_EQ(c.places()[1].index, Dimensions{3});
    EXPECT_EQ(c.places()[1].name, "value");
}

TEST(cli_comparison, tolerances_are_of_the_larger_magnitude_and_added) {
    EXPECT_TRUE(compare<double>({100}, {101}, {0.01, 0, false}).is_equal());
    EXPECT_TRUE(compare<double>({101}, {100}, {0.01, 0, false}).is_equal());  // either way round
    EXPECT_FALSE(compare<double>({100}, {102}, {0.01, 0, false}).is_equal());
    EXPECT_TRUE(compare<double>({100}, {102}, {0.01, 1, false}).is_equal());
    EXPECT_TRUE(compare<float>({0}, {1e-9F}, {0, 1e-8, false}).is_equal());
    EXPECT_TRUE(compare<std::int32_t>({10}, {11}, {0, 1, false}).is_equal());
}

TEST(cli_comparison, nan_is_nan_unless_it_is_to_differ) {
    EXPECT_TRUE(compare<double>({not_a_number, 1}, {-not_a_number, 1}).is_equal());
    EXPECT_EQ(compare<double>({not_a_number, 1}, {not_a_number, 1}, {0, 0, true}).differing(), 1U);
    EXPECT_EQ(compare<std::int64_t>({1}, {1}, {0, 0, true}).differing(), 0U);
    const Comparison c = compare<double>({not_a_number}, {1}, {1, 1, false});
    EXPECT_EQ(c.differing(), 1U);
    EXPECT_FALSE(c.largest());
}

TEST(cli_comparison, infinities_are_near_to_nothing_but_themselves) {
    EXPECT_TRUE(compare<double>({infinity, 0.0}, {infinity, -0.0}).is_equal());
    EXPECT_EQ(compare<double>({infinity, infinity}, {-infinity, 1}, {1, 1, false}).differing(), 2U);
}

TEST(cli_comparison, integers_of_64_bits_are_exact) {
    EXPECT_EQ(compare<std::int64_t>({INT64_MAX}, {INT64_MAX - 1}).largest(), 1.0);
    EXPECT_EQ(compare<std::int64_t>({INT64_MAX}, {INT64_MIN}).largest(), 0x1p64);
    EXPECT_EQ(compare<std::uint64_t>({0}, {UINT64_MAX}).differing(), 1U);
}

TEST(cli_comparison, complex_numbers_are_as_far_apart_as_points) {
    using C = std::complex<double>;
    EXPECT_EQ(compare<C>({C(0, 0)}, {C(3, 4)}).largest(), 5.0);
    EXPECT_TRUE(compare<C>({C(0, 0)}, {C(3, 4)}, {0, 5, false}).is_equal());
    EXPECT_TRUE(compare<C>({C(not_a_number, 1)}, {C(not_a_number, 1)}).is_equal());
    EXPECT_FALSE(compare<C>({C(not_a_number, 1)}, {C(not_a_number, 2)}).is_equal());
}

TEST(cli_comparison, structures_are_compared_field_by_field) {
    const Comparison c =
        compare<Atom>({{"H", 1, {0, 0}}, {"He", 2, {1, 1}}}, {{"H", 1, {0, 0}}, {"Hf", 2, {1, 3}}});
    EXPECT_EQ(c.differing(), 1U);
    ASSERT_EQ(c.places().size(), 2U);
    EXPECT_EQ(c.places()[0].name, "name");
    EXPECT_EQ(c.places()[1].name, "at[1]");
    EXPECT_EQ(c.largest(), 2.0);
}

TEST(cli_comparison, what_is_no_number_must_be_the_same) {
    const Tolerance lax{1, 1, false};
    EXPECT_FALSE(compare<std::int64_t>({1}, {2}, lax, 1, Type::datetime64(TimeUnit::day)).is_equal());
    EXPECT_FALSE(compare<std::byte>({std::byte{1}}, {std::byte{2}}, lax).is_equal());
    const Type color = Type::enumeration(type_of<std::int64_t>(), {{"red", 1}, {"blue", 2}});
    EXPECT_FALSE(compare<std::int64_t>({1}, {2}, lax, 1, color).is_equal());
    EXPECT_TRUE(compare<std::uint8_t>({1, 0}, {1, 0}, lax, 1, Type::scalar(Kind::boolean)).is_equal());
}
