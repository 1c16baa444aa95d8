#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <pmemcpy/error.hpp>
#include <pmemcpy/type.hpp>
#include <random>
#include <thread>

#include "array/byte_order.hpp"

namespace pmemcpy {
namespace {

Type any_type(std::mt19937& random, int depth) {
    const auto order = random() % 2 == 0 ? ByteOrder::little : ByteOrder::big;
    const auto any_name = [&](std::size_t i) {
        return std::string(1 + random() % 9, 'a') + std::to_string(i);
    };
    switch (depth > 0 ? random() % 10 : random() % 6) {
        case 0:
        case 1:
            return Type::scalar(static_cast<Kind>(1 + random() % 15), order);
        case 2:
            return Type::opaque(1 + random() % 1000, random() % 2 == 0 ? "" : "tag");
        case 3:
            return Type::datetime64(static_cast<TimeUnit>(random() % 13), order);
        case 4:
            return random() % 2 == 0 ? Type::string()
                                     : Type::fixed_string(1 + random() % 300, random() % 2 == 0);
        case 5: {
            std::vector<EnumValue> values;
            for (std::size_t i = 0; i < random() % 20; ++i) {
                values.push_back({any_name(i), static_cast<std::int8_t>(random())});
            }
            return Type::enumeration(Type::scalar(Kind::int16, order), std::move(values));
        }
        case 6:
            return Type::sequence(any_type(random, depth - 1));
        case 7:
            return Type::array(any_type(random, depth - 1), {1 + random() % 4, 1 + random() % 4});
        default: {
            std::vector<Field> fields;
            std::uint64_t end = 0;
            const std::size_t count = 1 + random() % 5;
            for (std::size_t i = 0; i < count; ++i) {
                Type type = any_type(random, depth - 1);
                end += random() % 3;
                fields.push_back({any_name(i), end, type});
                end += type.size();
            }
            return Type::structure(std::move(fields), end + random() % 3);
        }
    }
}

/// Decoding may refuse, as corrupt, or give a type that has exactly this description.
bool decodes(const std::vector<std::byte>& bytes) {
    try {
        const Type type = Type::decode(bytes);
        EXPECT_EQ(type.encode(), bytes);
        static_cast<void>(type.name());
        return true;
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::corrupt) << error.what();
        return false;
    }
}

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
    std::vector<std::byte> bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

/// By a thread that has not made this description itself, which it would remember.
Type decoded_elsewhere(const std::vector<std::byte>& bytes) {
    return std::async(std::launch::async, [&] { return Type::decode(bytes); }).get();
}

TEST(type, survives_encoding) {
    std::mt19937 random(11);
    for (int round = 0; round < 3000; ++round) {
        const Type type = any_type(random, 4);
        const auto bytes = type.encode();
        ASSERT_EQ(type.encode(), bytes) << type.name();
        ASSERT_EQ(Type::decode(bytes), type) << type.name();
        ASSERT_EQ(decoded_elsewhere(bytes), type) << type.name();
        ASSERT_EQ(type.with_byte_order(ByteOrder::big).with_byte_order(native_order).is_native(), true);
    }
}

TEST(type, is_decoded_as_the_very_one_whose_description_the_thread_has_made) {
    const Type mine = Type::structure({{"x", 0, Type::scalar(Kind::float64)}}, 8);
    const Type equal = Type::structure({{"x", 0, Type::scalar(Kind::float64)}}, 8);
    EXPECT_EQ(Type::decode(mine.encode()).fields().data(), mine.fields().data());
    // The one that was used last counts.
    EXPECT_EQ(equal.encode(), mine.encode());
    EXPECT_EQ(Type::decode(equal.encode()), mine);
}

struct StoresAtItsEnd {
    ~StoresAtItsEnd() { *told = Type::decode(type.encode()) == type; }
    Type type;
    bool* told = nullptr;
};

TEST(type, can_be_encoded_while_its_thread_ends) {
    bool is_equal = false;
    std::thread([&] {
        // Made before what a thread remembers, so it goes after that.
        thread_local StoresAtItsEnd last;
        last.type = Type::structure({{"x", 0, Type::scalar(Kind::float64)}}, 8);
        last.told = &is_equal;
        static_cast<void>(last.type.encode());
    }).join();
    EXPECT_TRUE(is_equal);
}

TEST(type, hostile_bytes_are_corrupt_and_never_worse) {
    std::mt19937 random(12);
    int accepted = 0;
    for (int round = 0; round < 100'000; ++round) {
        std::vector<std::byte> bytes;
        if (round % 2 == 0) {
            bytes = any_type(random, 3).encode();
            for (std::size_t flips = 1 + random() % 3; flips > 0; --flips) {
                bytes[random() % bytes.size()] = static_cast<std::byte>(random());
            }
            if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 1));
        } else {
            bytes.resize(random() % 40);
            for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 28);
            if (!bytes.empty()) bytes[0] = std::byte{1};
        }
        accepted += decodes(bytes);
    }
    EXPECT_GT(accepted, 0);
    EXPECT_LT(accepted, 90'000);
}

TEST(type, descriptions_out_of_bounds_are_corrupt) {
    EXPECT_TRUE(decodes(bytes_of({1, 12, 0})));
    EXPECT_FALSE(decodes({}));
    EXPECT_FALSE(decodes(bytes_of({2, 12, 0})));
    EXPECT_FALSE(decodes(bytes_of({1, 12, 0, 0})));
    EXPECT_FALSE(decodes(bytes_of({1, 1, 1})));            // int8 has no order
    EXPECT_FALSE(decodes(bytes_of({1, 17, 0x85, 0, 0})));  // a number written longer than it need be
    std::vector<std::byte> deep(40'000, std::byte{21});
    deep[0] = std::byte{1};
    EXPECT_FALSE(decodes(deep));
    EXPECT_FALSE(decodes(std::vector<std::byte>(70'000, std::byte{1})));
    // An array of 2^63 x 2^63 elements.
    auto huge = bytes_of({1, 22, 2});
    for (int extent = 0; extent < 2; ++extent) {
        for (int i = 0; i < 9; ++i) huge.push_back(std::byte{0x80});
        huge.push_back(std::byte{1});
    }
    huge.push_back(std::byte{12});
    huge.push_back(std::byte{0});
    EXPECT_FALSE(decodes(huge));
}

TEST(type, nested_to_the_limit_can_be_read_back) {
    Type type = Type::enumeration(Type::scalar(Kind::int32), {{"a", 1}});
    for (int depth = 0; depth < 14; ++depth) type = Type::sequence(type);
    EXPECT_EQ(decoded_elsewhere(type.encode()), type);
    EXPECT_THROW(Type::sequence(type), Error);
}

TEST(type, that_makes_no_sense_is_refused) {
    const Type f64 = Type::scalar(Kind::float64);
    EXPECT_THROW(Type::scalar(Kind::structure), Error);
    EXPECT_THROW(Type::opaque(0), Error);
    EXPECT_THROW(Type::opaque(std::uint64_t{1} << 41), Error);
    EXPECT_THROW(Type::enumeration(f64, {}), Error);
    EXPECT_THROW(Type::enumeration(Type::scalar(Kind::int8), {{"big", 128}}), Error);
    EXPECT_THROW(Type::structure({}, 8), Error);
    EXPECT_THROW(Type::structure({{"a", 0, f64}, {"b", 4, f64}}, 16), Error);
    EXPECT_THROW(Type::structure({{"a", 0, f64}, {"a", 8, f64}}, 16), Error);
    EXPECT_THROW(Type::structure({{"a", 9, f64}}, 16), Error);
    EXPECT_THROW(Type::structure({{"a", UINT64_MAX, f64}}, 16), Error);
    EXPECT_THROW(Type::array(f64, {0}), Error);
    EXPECT_THROW(Type::array(f64, {UINT64_MAX, 2}), Error);
    EXPECT_THROW(Type::sequence(Type()), Error);
    EXPECT_THROW(Type().encode(), Error);
}

TEST(type, is_named_as_people_write_it) {
    const Type big = Type::scalar(Kind::float64, ByteOrder::big);
    EXPECT_EQ(big.name(), "float64(big-endian)");
    EXPECT_EQ(Type::scalar(Kind::float64, ByteOrder::little).name(), "float64");
    EXPECT_EQ(Type::structure({{"x", 0, type_of<double>()}, {"id", 8, Type::array(type_of<int>(), {3})}}, 24)
                  .name(),
              "struct{x: float64, id: int32[3]}");
    EXPECT_EQ(Type::enumeration(type_of<int>(), {{"red", 0}, {"green", 1}}).name(),
              "enum<int32>{red=0, green=1}");
    EXPECT_EQ(Type::fixed_string(8, false).name(), "string(8, ascii)");
    EXPECT_EQ(Type().name(), "none");
}

TEST(type, loads_as_itself_and_as_little_else) {
    const Type f64 = type_of<double>(), i64 = type_of<std::int64_t>();
    EXPECT_TRUE(compatible_for_load(f64, f64));
    EXPECT_FALSE(compatible_for_load(f64, i64));
    EXPECT_FALSE(compatible_for_load(f64, f64.with_byte_order(ByteOrder::big)));
    EXPECT_FALSE(compatible_for_load(type_of<bool>(), type_of<std::uint8_t>()));
    EXPECT_TRUE(compatible_for_load(Type::enumeration(i64, {{"a", 1}}), i64));
    EXPECT_FALSE(compatible_for_load(i64, Type::enumeration(i64, {{"a", 1}})));
    EXPECT_FALSE(compatible_for_load(Type::opaque(8, "mine"), Type::opaque(8, "yours")));
    EXPECT_TRUE(compatible_for_load(Type::opaque(8, "mine"), Type::opaque(8)));
    EXPECT_FALSE(compatible_for_load(Type::opaque(8), Type::opaque(9)));
    EXPECT_TRUE(compatible_for_load(Type::fixed_string(8, false), Type::fixed_string(8, true)));
    EXPECT_FALSE(compatible_for_load(Type(), Type()));
}

TEST(type, swaps_the_bytes_of_every_number_and_of_nothing_else) {
    struct Record {
        std::int32_t numbers[2];
        char text[4];
        std::complex<float> z;
    };
    const Type type = Type::structure({{"numbers", 0, type_of<std::int32_t[2]>()},
                                       {"text", 8, Type::fixed_string(4)},
                                       {"z", 12, type_of<std::complex<float>>()}},
                                      sizeof(Record));
    std::array<Record, 2> records{};
    records[1] = {{0x01020304, 1}, {'a', 'b', 'c', 'd'}, {1, 2}};
    const auto before = records;
    array::swap_bytes(type, std::as_writable_bytes(std::span(records)));
    EXPECT_EQ(records[1].numbers[0], 0x04030201);
    EXPECT_EQ(records[1].numbers[1], 0x01000000);
    EXPECT_EQ(std::memcmp(records[1].text, "abcd", 4), 0);
    array::swap_bytes(type, std::as_writable_bytes(std::span(records)));
    EXPECT_EQ(std::memcmp(&records, &before, sizeof records), 0);
}

}  // namespace
}  // namespace pmemcpy
