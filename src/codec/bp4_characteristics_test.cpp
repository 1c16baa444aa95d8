#include "codec/bp4_characteristics.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <pmemcpy/error.hpp>
#include <random>

#include "codec/bp4_type.hpp"
#include "codec/mapped_memory.hpp"

namespace pmemcpy::codec::bp4 {
namespace {

Element element(double value) { return element_of(std::as_bytes(std::span(&value, 1))); }

Characteristics block() {
    Characteristics made;
    made.type = Type::float64;
    made.step = 3;
    made.dimensions = 2;
    made.count = {2, 3};
    made.shape = {4, 6};
    made.offset = {2, 3};
    made.min = element(-1.5);
    made.max = element(8);
    made.record_offset = 100;
    made.payload_offset = 192;
    return made;
}

void expect_equal(const Characteristics& a, const Characteristics& b) {
    EXPECT_EQ(a.type, b.type);
    EXPECT_EQ(a.step, b.step);
    EXPECT_EQ(a.file_index, b.file_index);
    EXPECT_EQ(a.dimensions, b.dimensions);
    EXPECT_EQ(a.count, b.count);
    EXPECT_EQ(a.shape, b.shape);
    EXPECT_EQ(a.offset, b.offset);
    EXPECT_EQ(a.value, b.value);
    EXPECT_EQ(a.text, b.text);
    EXPECT_EQ(a.min, b.min);
    EXPECT_EQ(a.max, b.max);
    EXPECT_EQ(a.record_offset, b.record_offset);
    EXPECT_EQ(a.payload_offset, b.payload_offset);
}

Code code_of_decoding(Type type, std::span<const std::byte> bytes) {
    try {
        (void)decode_characteristics(type, bytes);
    } catch (const Error& error) {
        return error.kind();
    }
    return Code{0};
}

TEST(bp4_characteristics, what_was_encoded_is_decoded) {
    const Characteristics array = block();
    expect_equal(decode_characteristics(array.type, encode_characteristics(array)), array);

    Characteristics scalar;
    scalar.type = Type::float64;
    scalar.value = element(3.25);
    expect_equal(decode_characteristics(scalar.type, encode_characteristics(scalar)), scalar);

    Characteristics text;
    text.type = Type::string;
    text.text = "of any kind";
    expect_equal(decode_characteristics(text.type, encode_characteristics(text)), text);

    Characteristics large = block();
    large.dimensions = max_dimensions;
    large.count.fill(1);
    large.shape.fill(2);
    large.offset.fill(1);
    large.min.reset();
    large.max.reset();
    expect_equal(decode_characteristics(large.type, encode_characteristics(large)), large);
}

TEST(bp4_characteristics, the_bytes_are_those_of_the_format) {
    if constexpr (std::endian::native != std::endian::little)
        GTEST_SKIP() << "the bytes below are little-endian";
    Characteristics small;
    small.type = Type::int16;
    small.step = 1;
    small.dimensions = 1;
    small.count = {2};
    small.shape = {5};
    small.offset = {3};
    small.min = element_of(std::vector{std::byte{1}, std::byte{0}});
    small.max = element_of(std::vector{std::byte{9}, std::byte{0}});
    small.record_offset = 64;
    small.payload_offset = 128;
    const std::vector<int> expected = {6,  63,  0,  0, 0,               // six characteristics in 63 bytes
                                       8,  1,   0,  0, 0,               // step
                                       7,  0,   0,  0, 0,               // file
                                       4,  1,   24, 0,                  // one dimension
                                       2,  0,   0,  0, 0, 0, 0, 0,      // count
                                       5,  0,   0,  0, 0, 0, 0, 0,      // shape
                                       3,  0,   0,  0, 0, 0, 0, 0,      // offset
                                       12, 1,   0,  1, 0, 9, 0,         // min and max of one part
                                       3,  64,  0,  0, 0, 0, 0, 0, 0,   // record
                                       6,  128, 0,  0, 0, 0, 0, 0, 0};  // payload
    const auto bytes = encode_characteristics(small);
    ASSERT_EQ(bytes.size(), expected.size());
    for (std::size_t i = 0; i < bytes.size(); ++i)
        EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << i;
}

TEST(bp4_characteristics, what_the_format_cannot_hold_is_refused) {
    const auto code_of = [](const Characteristics& wrong) {
        try {
            (void)encode_characteristics(wrong);
        } catch (const Error& error) {
            return error.kind();
        }
        return Code{0};
    };
    Characteristics deep = block();
    deep.dimensions = 33;
    Characteristics half = block();
    half.max.reset();
    Characteristics typeless = block();
    typeless.type = Type{99};
    Characteristics text;
    text.type = Type::string;
    text.text.assign(65536, 'x');
    for (const auto& wrong : {half, typeless, text}) EXPECT_EQ(code_of(wrong), Code::invalid_argument);
    std::vector<std::byte> room(10000);
    EXPECT_THROW(encode_characteristics(deep, room), Error);
    EXPECT_THROW(encode_characteristics(block(), room), Error);
}

TEST(bp4_characteristics, damaged_records_are_corrupt_and_nothing_beyond_them_is_read) {
    const auto sound = encode_characteristics(block());
    for (std::size_t size = 0; size < sound.size(); ++size) {
        const GuardedBytes guarded(size);
        std::copy_n(sound.begin(), size, guarded.bytes().begin());
        EXPECT_EQ(code_of_decoding(Type::float64, guarded.bytes()), Code::corrupt) << size;
    }
    std::mt19937 random(5);
    const GuardedBytes guarded(sound.size());
    for (int round = 0; round < 20000; ++round) {
        std::copy(sound.begin(), sound.end(), guarded.bytes().begin());
        for (int change = 0; change < 2; ++change)
            guarded.bytes()[random() % sound.size()] = static_cast<std::byte>(random());
        const Code code = code_of_decoding(round % 2 == 0 ? Type::float64 : Type::string, guarded.bytes());
        EXPECT_TRUE(code == Code{0} || code == Code::corrupt);
    }
    EXPECT_EQ(code_of_decoding(Type{99}, sound), Code::corrupt);
}

TEST(bp4_characteristics, a_box_outside_its_array_is_corrupt) {
    Characteristics outside = block();
    outside.offset = {3, 3};
    EXPECT_EQ(code_of_decoding(Type::float64, encode_characteristics(outside)), Code::corrupt);
    outside.offset = {~std::uint64_t{0}, 3};
    EXPECT_EQ(code_of_decoding(Type::float64, encode_characteristics(outside)), Code::corrupt);
}

TEST(bp4_characteristics, types_of_the_library_have_the_size_they_have_in_bp4) {
    for (const auto kind :
         {Kind::int8, Kind::int16, Kind::int32, Kind::int64, Kind::uint8, Kind::uint16, Kind::uint32,
          Kind::uint64, Kind::float32, Kind::float64, Kind::complex64, Kind::complex128, Kind::boolean}) {
        const auto type = pmemcpy::Type::scalar(kind);
        const auto found = type_of(type);
        ASSERT_TRUE(found) << type.name();
        EXPECT_EQ(size_bytes(*found), type.size()) << type.name();
    }
    EXPECT_EQ(type_of(pmemcpy::Type::string()), Type::string);
    EXPECT_EQ(type_of(pmemcpy::Type::datetime64(TimeUnit::second)), Type::int64);
    EXPECT_EQ(type_of(pmemcpy::Type::scalar(Kind::float16)), std::nullopt);
    EXPECT_EQ(type_of(pmemcpy::Type::opaque(8)), std::nullopt);
    const auto other = native_order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;
    EXPECT_EQ(type_of(pmemcpy::Type::scalar(Kind::float64, other)), std::nullopt);
}

}  // namespace
}  // namespace pmemcpy::codec::bp4
