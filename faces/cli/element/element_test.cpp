#include "cli/element/element.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <complex>
#include <cstdint>
#include <limits>
#include <pmemcpy/error.hpp>

#include "cli/element/datetime.hpp"

using namespace pmemcpy;
using namespace pmemcpy::cli;

namespace {

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

template <class T>
std::string text_of(const T& value, const Type& type = type_of<T>()) {
    std::string out;
    append_text(out, type, bytes_of(value));
    return out;
}

struct Point {
    std::int8_t id;
    float at[2];
};

}  // namespace

PMEMCPY_STRUCT(Point, id, at);

TEST(cli_element, prints_numbers_by_their_type) {
    EXPECT_EQ(text_of(std::int8_t{-5}), "-5");
    EXPECT_EQ(text_of(std::uint64_t{UINT64_MAX}), "18446744073709551615");
    EXPECT_EQ(text_of(0.1F), "0.1");
    EXPECT_EQ(text_of(0.1), "0.1");
    EXPECT_EQ(text_of(float16(1.5F)), "1.5");
    EXPECT_EQ(text_of(true), "true");
    EXPECT_EQ(text_of(std::complex<double>(1, -2.5)), "1-2.5i");
    EXPECT_EQ(text_of(std::byte{0x7f}), "0x7f");
}

TEST(cli_element, rounds_what_has_a_fraction_to_so_many_digits) {
    const auto rounded = [](const auto& value, Precision precision) {
        std::string out;
        append_text(out, type_of<std::decay_t<decltype(value)>>(), bytes_of(value), precision);
        return out;
    };
    EXPECT_EQ(rounded(2.0 / 3, 3), "0.667");
    EXPECT_EQ(rounded(0.1F, 17), "0.10000000149011612");
    EXPECT_EQ(rounded(123456, 3), "123456");
    EXPECT_EQ(rounded(std::complex<double>(1.0 / 3, 2.0 / 3), 2), "0.33+0.67i");
    EXPECT_EQ(rounded(Point{7, {1.0F / 3, -1}}, 2), "{id: 7, at: [0.33, -1]}");
    EXPECT_EQ(text_of(std::complex<float>(0.1F, 0.1F)), "0.1+0.1i");
    EXPECT_EQ(text_of(std::complex<float>(0.1F, -std::numeric_limits<float>::infinity())), "0.1-infi");
}

TEST(cli_element, turns_foreign_byte_order) {
    const auto foreign = native_order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;
    EXPECT_EQ(text_of(std::array<std::uint8_t, 4>{0, 0, 1, 2}, Type::scalar(Kind::int32, ByteOrder::big)),
              "258");
    const double value = 1.5;
    auto raw = std::bit_cast<std::array<std::byte, 8>>(value);
    std::reverse(raw.begin(), raw.end());
    EXPECT_EQ(text_of(raw, Type::scalar(Kind::float64, foreign)), "1.5");
}

TEST(cli_element, prints_structs_arrays_enums_and_text) {
    EXPECT_EQ(text_of(Point{7, {0.5F, -1}}), "{id: 7, at: [0.5, -1]}");
    const Type color = Type::enumeration(type_of<std::int32_t>(), {{"red", 0}, {"blue", 5}});
    EXPECT_EQ(text_of(std::int32_t{5}, color), "blue");
    EXPECT_EQ(text_of(std::int32_t{6}, color), "6");
    EXPECT_EQ(text_of(std::array<char, 5>{'o', 'c', 'e', 'a', '\0'}), "ocea");
}

TEST(cli_element, says_in_json_what_json_can_say) {
    EXPECT_EQ(to_json(type_of<float>(), bytes_of(0.1F)).dump(), "0.1");
    EXPECT_EQ(to_json(type_of<double>(), bytes_of(std::numeric_limits<double>::quiet_NaN())).dump(),
              "\"nan\"");
    EXPECT_EQ(to_json(type_of<Point>(), bytes_of(Point{7, {0.5F, -1}})).dump(), R"({"id":7,"at":[0.5,-1]})");
    const std::array<std::int16_t, 6> six = {1, 2, 3, 4, 5, 6};
    EXPECT_EQ(to_json(Type::array(type_of<std::int16_t>(), {2, 3}), bytes_of(six)).dump(),
              "[[1,2,3],[4,5,6]]");
    EXPECT_EQ(to_json(type_of<std::complex<float>>(), bytes_of(std::complex<float>(1, 2))).dump(), "[1,2]");
}

TEST(cli_element, reads_sequences_and_refuses_broken_ones) {
    const std::array<std::int32_t, 3> three = {1, 2, 3};
    EXPECT_EQ(value_text(type_of<std::vector<std::int32_t>>(), bytes_of(three)), "1\n2\n3\n");
    EXPECT_EQ(value_json(type_of<std::vector<std::int32_t>>(), bytes_of(three)).dump(), "[1,2,3]");
    EXPECT_THROW(value_text(type_of<std::vector<std::int32_t>>(), bytes_of(three).first(5)), Error);
    EXPECT_THROW(value_json(type_of<std::int32_t>(), bytes_of(three)), Error);
}

TEST(cli_element, prints_dates_as_numpy_does) {
    EXPECT_EQ(datetime_text(56, TimeUnit::year), "2026");
    EXPECT_EQ(datetime_text(-1, TimeUnit::month), "1969-12");
    EXPECT_EQ(datetime_text(-1, TimeUnit::day), "1969-12-31");
    EXPECT_EQ(datetime_text(1, TimeUnit::week), "1970-01-08");
    EXPECT_EQ(datetime_text(25, TimeUnit::hour), "1970-01-02T01");
    EXPECT_EQ(datetime_text(-1, TimeUnit::minute), "1969-12-31T23:59");
    EXPECT_EQ(datetime_text(-1, TimeUnit::millisecond), "1969-12-31T23:59:59.999");
    EXPECT_EQ(datetime_text(1, TimeUnit::attosecond), "1970-01-01T00:00:00.000000000000000001");
    EXPECT_EQ(datetime_text(INT64_MIN, TimeUnit::day), "NaT");
    EXPECT_EQ(datetime_text(INT64_MAX, TimeUnit::year), "9223372036854775807 years since 1970");
    EXPECT_EQ(datetime_text(INT64_MAX, TimeUnit::minute), "9223372036854775807 minutes since 1970");
}
