// Scalars, strings, vectors and structs: what is stored is what is loaded, and nothing else is.

#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

#include "pool_suite.hpp"

struct Position {
    double x = 0, y = 0;
};
PMEMCPY_STRUCT(Position, x, y);

struct Particle {
    Position at;
    std::int32_t id[3] = {};
    float weight = 0;
};
PMEMCPY_STRUCT(Particle, at, id, weight);

struct Undeclared {
    std::uint16_t a = 0, b = 0;
};

enum class Colour : std::int16_t { red = 1, green = 2 };

namespace pmemcpy::conformance {
namespace {

PMEMCPY_SUITE(values);

template <class T>
void expect_round_trip(PMEM& pmem, const std::string& id, const T& value) {
    pmem.store(id, value);
    EXPECT_EQ(pmem.load<T>(id), value) << id;
    T into{};
    pmem.load(id, into);
    EXPECT_EQ(into, value) << id;
}

TEST_P(values, every_scalar_type_comes_back) {
    open();
    expect_round_trip<std::int8_t>(pmem, "i8", INT8_MIN);
    expect_round_trip<std::int16_t>(pmem, "i16", INT16_MIN);
    expect_round_trip<std::int32_t>(pmem, "i32", INT32_MIN);
    expect_round_trip<std::int64_t>(pmem, "i64", INT64_MIN);
    expect_round_trip<std::uint8_t>(pmem, "u8", UINT8_MAX);
    expect_round_trip<std::uint16_t>(pmem, "u16", UINT16_MAX);
    expect_round_trip<std::uint32_t>(pmem, "u32", UINT32_MAX);
    expect_round_trip<std::uint64_t>(pmem, "u64", UINT64_MAX);
    expect_round_trip<char>(pmem, "char", 'x');
    expect_round_trip<float>(pmem, "f32", std::numeric_limits<float>::denorm_min());
    expect_round_trip<double>(pmem, "f64", -std::numeric_limits<double>::infinity());
    expect_round_trip<long double>(pmem, "long double", 1.0L / 3);
    expect_round_trip(pmem, "c64", std::complex<float>(1, -2));
    expect_round_trip(pmem, "c128", std::complex<double>(-1e300, 2e-300));
    expect_round_trip(pmem, "f16", float16(1.5F));
    expect_round_trip(pmem, "bf16", bfloat16(-2.0F));
    expect_round_trip(pmem, "true", true);
    expect_round_trip(pmem, "false", false);
    expect_round_trip(pmem, "byte", std::byte{0xA5});
    expect_round_trip(pmem, "time", datetime64<TimeUnit::nanosecond>{1'700'000'000'123'456'789});
    expect_round_trip(pmem, "enum", Colour::green);
}

TEST_P(values, the_pool_says_of_which_type_a_value_is) {
    open();
    pmem.store("answer", 42);
    pmem.store("when", datetime64<TimeUnit::second>{7});
    pmem.store("who", Particle{});
    EXPECT_EQ(pmem.info("answer").type, type_of<int>());
    EXPECT_EQ(pmem.info("when").type, Type::datetime64(TimeUnit::second));
    const Type particle = pmem.info("who").type;
    ASSERT_EQ(particle.fields().size(), 3u);
    EXPECT_EQ(particle.fields()[1].name, "id");
    EXPECT_EQ(particle.size(), sizeof(Particle));
}

TEST_P(values, structs_come_back_with_nested_members) {
    open();
    Particle particle;
    particle.at = {1.5, -2.5};
    particle.id[2] = 99;
    particle.weight = 3;
    pmem.store("p", particle);
    const auto back = pmem.load<Particle>("p");
    EXPECT_EQ(back.at.x, 1.5);
    EXPECT_EQ(back.at.y, -2.5);
    EXPECT_EQ(back.id[2], 99);
    EXPECT_EQ(back.weight, 3);
    pmem.store("several", std::vector<Particle>(100, particle));
    EXPECT_EQ(pmem.load<std::vector<Particle>>("several").at(99).id[2], 99);
}

TEST_P(values, undeclared_structs_are_opaque_bytes) {
    open();
    pmem.store("u", Undeclared{1, 2});
    EXPECT_EQ(pmem.load<Undeclared>("u").b, 2);
    EXPECT_EQ(pmem.info("u").type.kind(), Kind::opaque);
    // Untagged bytes are given to whoever asks for a structure of that size.
    pmem.store("bytes of a position", std::array<std::byte, sizeof(Position)>{});
    expect_error(Code::type_mismatch, [&] { pmem.load<double>("u"); }, {"opaque", "float64"});
}

TEST_P(values, fixed_arrays_come_back) {
    open();
    expect_round_trip(pmem, "cube", std::array<std::array<int, 2>, 3>{{{1, 2}, {3, 4}, {5, 6}}});
    expect_round_trip(pmem, "text", std::array<char, 8>{'a', 'b'});
    EXPECT_EQ(pmem.info("text").type.kind(), Kind::fixed_string);
}

TEST_P(values, strings_and_vectors_of_any_length_come_back) {
    open();
    // Around what is kept inside a record, what fits a unit of a slab, and what needs whole chunks.
    for (const std::size_t length :
         {0U, 1U, 63U, 64U, 511U, 512U, 513U, 4095U, 32703U, 32704U, 32705U, 65536U, 1U << 20}) {
        std::string text(length, 'x');
        if (length > 0) text.front() = 'a', text.back() = 'z';
        expect_round_trip(pmem, "string " + std::to_string(length), text);
        std::vector<std::uint32_t> numbers(length / 4);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = static_cast<std::uint32_t>(i * 2654435761U);
        expect_round_trip(pmem, "vector " + std::to_string(length), numbers);
    }
    pmem.store("literal", "bonjour \xC3\xA0 tous");
    EXPECT_EQ(pmem.load<std::string>("literal"), "bonjour \xC3\xA0 tous");
    EXPECT_TRUE(pmem.verify().empty());
}

TEST_P(values, empty_ones_are_values_too) {
    open();
    pmem.store("s", std::string());
    pmem.store("v", std::vector<double>());
    EXPECT_TRUE(pmem.exists("s"));
    std::string text = "left over";
    pmem.load("s", text);
    EXPECT_EQ(text, "");
    std::vector<double> numbers = {1, 2};
    pmem.load("v", numbers);
    EXPECT_TRUE(numbers.empty());
    EXPECT_EQ(pmem.info("v").bytes, 0u);
    EXPECT_TRUE(pmem.view_bytes("s").bytes().empty());
}

TEST_P(values, a_value_is_replaced_by_one_of_any_type_and_size) {
    open();
    pmem.store("x", 1);
    pmem.store("x", 2.5);
    EXPECT_EQ(pmem.load<double>("x"), 2.5);
    expect_error(Code::type_mismatch, [&] { pmem.load<int>("x"); });
    pmem.store("x", std::string(1 << 20, 'l'));
    pmem.store("x", std::string("short"));
    EXPECT_EQ(pmem.load<std::string>("x"), "short");
    pmem.store("x", std::vector<int>(100'000, 7));
    EXPECT_EQ(pmem.load<std::vector<int>>("x").size(), 100'000u);
    pmem.store("x", true);
    EXPECT_TRUE(pmem.load<bool>("x"));
    EXPECT_EQ(pmem.ids(), std::vector<std::string>{"x"});
}

TEST_P(values, another_type_is_a_mismatch_that_names_both) {
    open();
    pmem.store("n", 42);
    expect_error(Code::type_mismatch, [&] { pmem.load<double>("n"); }, {"'n'", "int32", "float64"});
    expect_error(Code::type_mismatch, [&] { pmem.load<std::uint32_t>("n"); }, {"int32", "uint32"});
    expect_error(Code::type_mismatch, [&] { pmem.load<std::string>("n"); }, {"int32", "string"});
    pmem.store("s", "text");
    expect_error(Code::type_mismatch, [&] { pmem.load<int>("s"); }, {"string", "int32"});
    expect_error(Code::type_mismatch, [&] { pmem.load<std::vector<char>>("s"); }, {"string"});
    pmem.store("p", Position{1, 2});
    expect_error(Code::type_mismatch, [&] { pmem.load<Particle>("p"); },
                 {"struct{x: float64, y: float64}", "weight"});
    pmem.store("t", datetime64<TimeUnit::second>{1});
    expect_error(Code::type_mismatch, [&] { (void)pmem.load<datetime64<TimeUnit::day>>("t"); },
                 {"datetime64"});
    int untouched = 17;
    expect_error(Code::type_mismatch, [&] { pmem.load("s", untouched); });
    EXPECT_EQ(untouched, 17);
}

TEST_P(values, enums_load_as_their_integer_and_ascii_as_utf8) {
    open();
    pmem.store("colour", Colour::green);
    EXPECT_EQ(pmem.load<std::int16_t>("colour"), 2);
    expect_error(Code::type_mismatch, [&] { pmem.load<std::int32_t>("colour"); });
}

TEST_P(values, what_was_never_stored_is_not_found) {
    open();
    expect_error(Code::not_found, [&] { pmem.load<int>("nothing"); }, {"nothing"});
    expect_error(Code::not_found, [&] { pmem.load<std::string>("nothing"); }, {"nothing"});
    expect_error(Code::not_found, [&] { pmem.view_bytes("nothing"); }, {"nothing"});
    EXPECT_FALSE(pmem.exists("nothing"));
}

TEST_P(values, a_value_and_an_array_exclude_each_other) {
    open();
    pmem.store("v", 1);
    pmem.alloc<int>("a", Dimensions{4});
    const int four[] = {1, 2, 3, 4};
    expect_error(Code::already_exists, [&] { pmem.alloc<int>("v", Dimensions{4}); }, {"'v'"});
    expect_error(Code::already_exists, [&] { pmem.store("a", 1); }, {"'a'", "array"});
    expect_error(Code::type_mismatch, [&] { pmem.load<int>("a"); }, {"'a'", "array", "int32"});
    expect_error(Code::type_mismatch, [&] { pmem.store<int>("v", four, Box{{0}, {4}}); }, {"'v'", "int32"});
    EXPECT_EQ(pmem.load<int>("v"), 1);
}

TEST_P(values, views_of_values_stay_while_the_value_is_replaced) {
    open();
    const std::string old(100'000, 'o');
    pmem.store("big", old);
    pmem.store("small", "tiny");
    const Pinned big = pmem.view_bytes("big");
    const Pinned small = pmem.view_bytes("small");
    for (int i = 0; i < 20; ++i) pmem.store("big", std::string(100'000, 'n')), pmem.store("small", "TINY");
    pmem.erase("big");
    ASSERT_EQ(big.bytes().size(), old.size());
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(big.data()), old.size()), old);
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(small.data()), 4), "tiny");
}

}  // namespace
}  // namespace pmemcpy::conformance
