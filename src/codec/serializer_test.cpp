#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <map>
#include <pmemcpy/serializer.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy {
namespace {

template <typename T>
std::vector<std::byte> encoded(SerializerType type, const T& value) {
    const auto encoder = make_encoder(type, value);
    std::vector<std::byte> bytes(encoder->size_bytes());
    encoder->encode(bytes);
    return bytes;
}

template <typename Action>
Error error_of(const Action& action) {
    try {
        action();
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "no error";
    return Error(Code::io_error, "none");
}

struct Particle {
    double position[3];
    std::int32_t id;
    friend bool operator==(const Particle&, const Particle&) = default;
};

// These are trivially copyable, and what a raw copy would keep of them is an address.
static_assert(!RawSerializable<const char*> && !RawSerializable<std::string_view> &&
              !RawSerializable<std::span<int>>);
static_assert(!RawSerializable<std::vector<bool>> && !RawSerializable<std::vector<std::string>>);
static_assert(!RawSerializable<std::map<int, int>>);
static_assert(RawSerializable<std::array<double, 3>> && RawSerializable<std::complex<float>>);
// This file includes neither header.
static_assert(!CerealSerializable<int> && !CapnpSerializable<int>);

template <typename T>
void expect_round_trip(const T& value) {
    for (const auto type : {SerializerType::none, SerializerType::bp4, SerializerType::Default}) {
        const auto bytes = encoded(type, value);
        T loaded{};
        decode_object(SerializerType::none, bytes, loaded);
        EXPECT_EQ(loaded, value);
    }
}

TEST(serializer, raw_objects_come_back_as_they_were) {
    expect_round_trip(42);
    expect_round_trip(true);
    expect_round_trip(Particle{{1, 2, 3}, 4});
    expect_round_trip(std::string("a text\0with a zero", 18));
    expect_round_trip(std::string());
    expect_round_trip(std::u32string(U"wide"));
    expect_round_trip(std::vector<double>{1, 2, 3});
    expect_round_trip(std::vector<Particle>{{{1, 2, 3}, 4}, {{5, 6, 7}, 8}});
    expect_round_trip(std::vector<float>());
}

TEST(serializer, raw_bytes_of_another_size_are_corrupt) {
    const std::vector<std::byte> five(5);
    int number = 0;
    std::vector<double> numbers;
    for (const auto& error : {error_of([&] { decode_object(SerializerType::none, five, number); }),
                              error_of([&] { decode_object(SerializerType::bp4, five, numbers); })}) {
        EXPECT_EQ(error.kind(), Code::corrupt);
        EXPECT_NE(std::string(error.what()).find("5 bytes"), std::string::npos) << error.what();
    }
}

TEST(serializer, a_bool_from_any_byte_is_a_bool) {
    bool value = false;
    decode_object(SerializerType::none, std::vector{std::byte{0x5A}}, value);
    EXPECT_TRUE(value);
}

TEST(serializer, room_of_another_size_is_refused) {
    std::vector<std::byte> room(3);
    const auto encoder = make_encoder(SerializerType::none, 42);
    EXPECT_EQ(error_of([&] { encoder->encode(room); }).kind(), Code::invalid_argument);
}

TEST(serializer, what_a_serializer_cannot_take_is_unsupported_and_says_what_to_do) {
    const std::map<int, int> map;
    for (const auto type : {SerializerType::none, SerializerType::bp4, SerializerType::cereal,
                            SerializerType::capnproto, SerializerType::Default}) {
        const Error error = error_of([&] { make_encoder(type, map); });
        EXPECT_EQ(error.kind(), Code::unsupported);
        const std::string text = error.what();
        EXPECT_NE(text.find("std::map<int, int>"), std::string::npos) << text;
        EXPECT_NE(text.find(type == SerializerType::capnproto ? "capnp.hpp" : "cereal"), std::string::npos)
            << text;
    }
}

TEST(serializer, names_parse_to_what_they_name) {
    for (const auto type : {SerializerType::Default, SerializerType::bp4, SerializerType::capnproto,
                            SerializerType::cereal, SerializerType::none})
        EXPECT_EQ(parse_serializer(name_of(type)), type);
    EXPECT_EQ(name_of(SerializerType{200}), "number 200");
    EXPECT_EQ(error_of([] { parse_serializer("xml"); }).kind(), Code::invalid_argument);
}

/// A serializer that someone adds: the bytes backwards.
struct Backwards {
    template <typename T>
    struct Reversing final : Encoder {
        explicit Reversing(const T& object) : value(object) {}
        std::uint64_t size_bytes() const override { return sizeof value; }
        void encode(std::span<std::byte> out) const override {
            const auto bytes = std::as_bytes(std::span(&value, 1));
            std::copy(bytes.rbegin(), bytes.rend(), out.begin());
        }
        const T& value;
    };

    template <typename T>
    static Reversing<T> encoder(const T& value) {
        return Reversing<T>(value);
    }
    template <typename T>
    static void decode(std::span<const std::byte> bytes, T& value) {
        if (bytes.size() != sizeof value) throw Error(Code::corrupt, "wrong size");
        std::copy(bytes.rbegin(), bytes.rend(), std::as_writable_bytes(std::span(&value, 1)).begin());
    }
};

TEST(serializer, a_registered_one_serializes_its_types) {
    constexpr SerializerType number{64};
    register_serializer<Backwards, int, Particle>(number, "backwards");
    EXPECT_EQ(name_of(number), "backwards");
    EXPECT_EQ(parse_serializer("backwards"), number);

    const auto bytes = encoded(number, 0x01020304);
    EXPECT_EQ(bytes.back(), std::byte{4});
    int loaded = 0;
    decode_object(number, bytes, loaded);
    EXPECT_EQ(loaded, 0x01020304);

    const Error error = error_of([] { make_encoder(SerializerType{64}, 1.5); });
    EXPECT_EQ(error.kind(), Code::unsupported);
    EXPECT_NE(std::string(error.what()).find("'backwards' (number 64)"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("double"), std::string::npos) << error.what();

    EXPECT_EQ(choose_serializer<int>(SerializerType::Default, number), number);
    EXPECT_EQ(choose_serializer<double>(SerializerType::Default, number), SerializerType::bp4);
    EXPECT_EQ(choose_serializer<double>(SerializerType::none, number), SerializerType::none);
}

TEST(serializer, one_number_or_name_is_registered_once) {
    constexpr SerializerType number{65};
    register_serializer<Backwards, int>(number, "once");
    EXPECT_EQ(error_of([] { register_serializer<Backwards, int>(number, "twice"); }).kind(),
              Code::already_exists);
    const Error taken = error_of([] { register_serializer<Backwards, int>(SerializerType{66}, "once"); });
    EXPECT_EQ(taken.kind(), Code::already_exists);
    EXPECT_NE(std::string(taken.what()).find("number 65"), std::string::npos) << taken.what();
    EXPECT_EQ(name_of(SerializerType{66}), "number 66");
}

TEST(serializer, built_in_numbers_cannot_be_registered) {
    for (const auto number : {SerializerType::Default, SerializerType::none, SerializerType{63}})
        EXPECT_EQ(error_of([&] { register_serializer<Backwards, int>(number, "mine"); }).kind(),
                  Code::invalid_argument);
    EXPECT_EQ(error_of([] { register_serializer<Backwards, int>(SerializerType{67}, ""); }).kind(),
              Code::invalid_argument);
}

TEST(serializer, an_unregistered_number_is_unsupported_and_named) {
    int value = 0;
    const std::vector<std::byte> bytes(4);
    const Error error = error_of([&] { decode_object(SerializerType{99}, bytes, value); });
    EXPECT_EQ(error.kind(), Code::unsupported);
    EXPECT_NE(std::string(error.what()).find("number 99"), std::string::npos) << error.what();
}

}  // namespace
}  // namespace pmemcpy
