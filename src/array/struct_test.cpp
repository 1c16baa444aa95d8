#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <pmemcpy/error.hpp>
#include <pmemcpy/type.hpp>
#include <utility>

namespace sample {

struct Point {
    double x, y;
};

enum class Colour : std::uint8_t { red, green };

struct Particle {
    Point where;
    float history[2][3];
    std::array<int, 4> ids;
    char name[16];
    bool alive;
    Colour colour;
};

struct Station {
    std::string name;
    std::vector<double> depths;
    int id;
};

struct Undeclared {
    int a;
    double b;
};

struct Many {
    int a00, a01, a02, a03, a04, a05, a06, a07, a08, a09, a10, a11, a12, a13, a14, a15;
    int b00, b01, b02, b03, b04, b05, b06, b07, b08, b09, b10, b11, b12, b13, b14, b15;
};

}  // namespace sample

PMEMCPY_STRUCT(sample::Point, x, y);
PMEMCPY_STRUCT(sample::Particle, alive, where, history, ids, name, colour);
PMEMCPY_STRUCT(sample::Station, name, depths, id);
PMEMCPY_STRUCT(sample::Many, a00, a01, a02, a03, a04, a05, a06, a07, a08, a09, a10, a11, a12, a13, a14, a15,
               b00, b01, b02, b03, b04, b05, b06, b07, b08, b09, b10, b11, b12, b13, b14, b15);

namespace pmemcpy {
namespace {

/// By a thread that has not made this description itself, which it would remember.
Type decoded_elsewhere(const std::vector<std::byte>& bytes) {
    return std::async(std::launch::async, [&] { return Type::decode(bytes); }).get();
}

TEST(type_of, arithmetic_types_goes_by_size_and_sign) {
    EXPECT_EQ(type_of<int>().name(), "int32");
    EXPECT_EQ(type_of<long>().name(), "int64");
    EXPECT_EQ(type_of<long long>(), type_of<std::int64_t>());
    EXPECT_EQ(type_of<const unsigned short>().name(), "uint16");
    EXPECT_EQ(type_of<double>().name(), "float64");
    EXPECT_EQ(type_of<std::complex<float>>().name(), "complex64");
    EXPECT_EQ(type_of<bool>().name(), "bool");
    EXPECT_EQ(type_of<sample::Colour>().name(), "uint8");
    EXPECT_EQ(type_of<std::byte>().name(), "opaque(1)");
    EXPECT_EQ(type_of<bfloat16>().name(), "bfloat16");
    EXPECT_EQ(type_of<datetime64<TimeUnit::nanosecond>>().name(), "datetime64[ns]");
    EXPECT_EQ(type_of<long double>().name(), "opaque(16, long double)");
    EXPECT_EQ((type_of<std::array<std::array<double, 3>, 2>>().name()), "float64[2, 3]");
    EXPECT_EQ(type_of<std::vector<std::string>>().name(), "sequence<string>");
}

TEST(type_of, a_declared_struct_names_its_members_in_the_order_of_memory) {
    const Type& type = type_of<sample::Particle>();
    EXPECT_EQ(type.name(),
              "struct{where: struct{x: float64, y: float64}, history: float32[2, 3], ids: int32[4], "
              "name: string(16), alive: bool, colour: uint8}");
    EXPECT_EQ(type.size(), sizeof(sample::Particle));
    EXPECT_EQ(type.alignment(), alignof(sample::Particle));
    EXPECT_EQ(type.fields()[2].offset, offsetof(sample::Particle, ids));
    EXPECT_EQ(type_of<sample::Many>().fields().size(), 32u);
    EXPECT_EQ(decoded_elsewhere(type.encode()), type);
}

TEST(type_of, an_undeclared_struct_is_opaque_and_loads_as_what_was_declared_later) {
    EXPECT_EQ(type_of<sample::Undeclared>().name(), "opaque(16)");
    EXPECT_TRUE(compatible_for_load(type_of<sample::Undeclared>(), type_of<sample::Point>()));
    EXPECT_FALSE(compatible_for_load(type_of<sample::Undeclared>(), type_of<sample::Many>()));
    EXPECT_FALSE(compatible_for_load(type_of<sample::Undeclared>(), type_of<std::complex<double>>()));
}

TEST(type_of, a_struct_with_members_of_variable_length_has_no_fixed_size) {
    const Type& type = type_of<sample::Station>();
    EXPECT_EQ(type.name(), "struct{name: string, depths: sequence<float64>, id: int32}");
    EXPECT_FALSE(type.is_fixed_size());
    EXPECT_EQ(decoded_elsewhere(type.encode()), type);
    std::string seen;
    sample::Station station{"north", {1, 2}, 7};
    for_each_member(station, [&](const char* name, auto& member) {
        seen += std::string(name) + ",";
        if constexpr (std::is_same_v<decltype(member), int&>) member = 8;
    });
    EXPECT_EQ(seen, "name,depths,id,");
    EXPECT_EQ(station.id, 8);
}

// What may be stored as its bytes, and what may not: compiled or not at all.
static_assert(Element<double> && Element<sample::Particle> && Element<std::array<int, 3>> &&
              Element<std::byte>);
static_assert(!Element<int*> && !Element<std::string> && !Element<std::vector<int>> &&
              !Element<sample::Station>);
static_assert(!Element<std::string_view> && !Element<std::span<int>> && !Element<int* [3]>);
static_assert(DeclaredStruct<sample::Point> && !DeclaredStruct<sample::Undeclared>);

}  // namespace
}  // namespace pmemcpy
