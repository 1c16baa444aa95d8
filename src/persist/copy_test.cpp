#include "persist/copy.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/crc32c.hpp"
#include "persist/kernels.hpp"

namespace {

using namespace pmemcpy;
using namespace pmemcpy::persist;

constexpr std::byte untouched{0xA5};

std::vector<std::byte> random_bytes(std::size_t size, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed + size);
    std::vector<std::byte> bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

/// A destination with room around it that must stay as it is, and a start at any distance from a line.
class Destination {
public:
    Destination(std::size_t size, std::size_t misalignment)
        : bytes_(size + 3 * line_bytes, untouched), size_(size) {
        const auto begin = reinterpret_cast<std::uintptr_t>(bytes_.data());
        start_ = line_bytes - begin % line_bytes + misalignment % line_bytes;
    }
    std::byte* data() { return bytes_.data() + start_; }
    bool holds(const std::byte* expected) const {
        return std::equal(bytes_.begin() + static_cast<std::ptrdiff_t>(start_),
                          bytes_.begin() + static_cast<std::ptrdiff_t>(start_ + size_), expected) &&
               std::all_of(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(start_),
                           is_untouched) &&
               std::all_of(bytes_.begin() + static_cast<std::ptrdiff_t>(start_ + size_), bytes_.end(),
                           is_untouched);
    }

private:
    static bool is_untouched(std::byte byte) { return byte == untouched; }

    std::vector<std::byte> bytes_;
    std::size_t size_;
    std::size_t start_;
};

std::uint32_t reference_crc(const std::byte* bytes, std::size_t size) {
    return base::crc32c_by_table(0, bytes, size);
}

void check_copies(const Medium& medium, std::size_t size, std::size_t to_offset, std::size_t from_offset) {
    SCOPED_TRACE(testing::Message() << size << " bytes, to " << to_offset << ", from " << from_offset);
    const auto source = random_bytes(size + from_offset);
    const std::byte* from = source.data() + from_offset;
    const std::uint32_t crc = reference_crc(from, size);
    Destination plain(size, to_offset);
    copy_to_medium(medium, plain.data(), from, size);
    Destination checked(size, to_offset);
    ASSERT_EQ(copy_to_medium_crc(medium, checked.data(), from, size), crc);
    Destination characterised(size, to_offset);
    ASSERT_EQ(copy_to_medium_characterised(medium, characterised.data(), from, size, Element::i32).crc, crc);
    medium.fence();
    Destination loaded(size, to_offset);
    copy_from_medium(loaded.data(), from, size);
    ASSERT_TRUE(plain.holds(from));
    ASSERT_TRUE(checked.holds(from));
    ASSERT_TRUE(characterised.holds(from));
    ASSERT_TRUE(loaded.holds(from));
    Destination filled(size, to_offset);
    fill_medium(medium, filled.data(), 7, size);
    const std::vector<std::byte> sevens(size, std::byte{7});
    ASSERT_TRUE(filled.holds(sevens.data()));
}

TEST(persist, copies_of_every_small_size_and_alignment_are_right) {
    for (const Durability durability : {Durability::none, Durability::line}) {
        for (std::size_t size = 0; size < 300; ++size)
            check_copies(Medium(durability), size, size * 7, size % 5);
        for (std::size_t offset = 0; offset < 64; ++offset)
            check_copies(Medium(durability), 1500, offset, 63 - offset);
    }
}

TEST(persist, copies_around_every_threshold_are_right) {
    for (const std::size_t around : {1024u, 4096u, 16384u, 24576u, 32768u, 65536u, 524288u, 1048576u}) {
        for (const std::size_t beside : {0u, 1u, 63u, 64u, 65u}) {
            check_copies(Medium(Durability::none), around + beside, beside, 0);
            check_copies(Medium(Durability::line), around - beside, 0, beside);
        }
    }
}

TEST(persist, copies_of_random_large_sizes_are_right) {
    std::mt19937_64 random(4);
    for (int i = 0; i < 20; ++i) {
        check_copies(Medium(Durability::none), random() % 3'000'000, random() % 64, random() % 64);
    }
}

template <class T>
std::uint64_t bits(T value) {
    if constexpr (std::is_integral_v<T>) return static_cast<std::uint64_t>(value);
    std::uint64_t result = 0;
    std::memcpy(&result, &value, sizeof value);
    return result;
}

template <class T>
void check_range(Element element) {
    std::mt19937_64 random(5);
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{3}, std::size_t{40}, std::size_t{5'000}, std::size_t{90'001}}) {
        std::vector<T> values(count);
        for (auto& value : values) {
            if constexpr (std::is_floating_point_v<T>) {
                value = static_cast<T>(static_cast<double>(random() % 1'000'000) - 500'000.0) / T{3};
            } else {
                value = static_cast<T>(random());
            }
        }
        const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
        const std::size_t size = count * sizeof(T);
        for (const std::size_t offset : {0u, 8u, 3u}) {
            Destination destination(size, offset);
            const Characteristic found = copy_to_medium_characterised(
                Medium(Durability::none), destination.data(), values.data(), size, element);
            ASSERT_TRUE(found.has_range);
            ASSERT_EQ(found.minimum, bits(*least))
                << count << " elements of kind " << static_cast<int>(element);
            ASSERT_EQ(found.maximum, bits(*greatest));
            ASSERT_TRUE(destination.holds(reinterpret_cast<const std::byte*>(values.data())));
        }
        const Characteristic in_place = characterise(values.data(), size, element);
        ASSERT_EQ(in_place.minimum, bits(*least));
        ASSERT_EQ(in_place.maximum, bits(*greatest));
        ASSERT_EQ(in_place.crc, reference_crc(reinterpret_cast<const std::byte*>(values.data()), size));
    }
}

TEST(persist, the_range_of_every_element_type_is_found) {
    check_range<float>(Element::f32);
    check_range<double>(Element::f64);
    check_range<std::int8_t>(Element::i8);
    check_range<std::int16_t>(Element::i16);
    check_range<std::int32_t>(Element::i32);
    check_range<std::int64_t>(Element::i64);
    check_range<std::uint8_t>(Element::u8);
    check_range<std::uint16_t>(Element::u16);
    check_range<std::uint32_t>(Element::u32);
    check_range<std::uint64_t>(Element::u64);
}

TEST(persist, nans_count_for_neither_end_of_a_range_and_infinities_for_both) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const std::size_t count : {std::size_t{5}, std::size_t{100}, std::size_t{20'000}}) {
        std::vector<double> values(count, std::nan(""));
        std::vector<double> copy(count);
        const auto range_of_copy = [&] {
            return copy_to_medium_characterised(Medium(Durability::none), copy.data(), values.data(),
                                                count * 8, Element::f64);
        };
        EXPECT_FALSE(range_of_copy().has_range);
        values[count / 2] = -3.5;
        EXPECT_EQ(range_of_copy().minimum, bits(-3.5));
        EXPECT_EQ(range_of_copy().maximum, bits(-3.5));
        values[1] = infinity;
        values[0] = -infinity;
        EXPECT_EQ(range_of_copy().minimum, bits(-infinity));
        EXPECT_EQ(range_of_copy().maximum, bits(infinity));
    }
}

TEST(persist, a_rest_smaller_than_an_element_has_no_range) {
    const std::vector<std::byte> bytes(3);
    std::vector<std::byte> copy(3);
    EXPECT_FALSE(
        copy_to_medium_characterised(Medium(Durability::none), copy.data(), bytes.data(), 3, Element::f64)
            .has_range);
    EXPECT_FALSE(characterise(bytes.data(), 3, Element::none).has_range);
    EXPECT_FALSE(characterise(nullptr, 0, Element::u8).has_range);
}

TEST(persist, ranges_join) {
    Range range;
    const std::int16_t left[] = {-5, 3};
    const std::int16_t right[] = {-2, 9};
    Range other;
    widen(other, right, sizeof right, Element::i16);
    widen(range, Range{}, Element::i16);
    EXPECT_FALSE(range.has_range);
    widen(range, left, sizeof left, Element::i16);
    widen(range, other, Element::i16);
    EXPECT_EQ(range.minimum, bits(std::int16_t{-5}));
    EXPECT_EQ(range.maximum, bits(std::int16_t{9}));
}

TEST(persist, rows_go_where_they_belong_and_nowhere_else) {
    struct Shape {
        std::size_t row_bytes, rows, to_stride, from_stride, offset;
    };
    for (const Shape& shape :
         {Shape{0, 5, 64, 64, 0}, Shape{8, 100, 16, 8, 0}, Shape{64, 3000, 64, 192, 0},
          Shape{128, 20'000, 128, 256, 0}, Shape{512, 777, 1024, 512, 0}, Shape{1000, 1'500, 1000, 1100, 5},
          Shape{4096, 301, 4096, 8192, 0}, Shape{70'000, 33, 70'400, 70'000, 9},
          Shape{65'536, 18, 131'072, 65'536, 0}, Shape{100, 50, 100, 100, 1}}) {
        SCOPED_TRACE(testing::Message() << shape.row_bytes << " x " << shape.rows);
        const auto source = random_bytes(shape.from_stride * shape.rows);
        const std::size_t size = shape.to_stride * shape.rows;
        std::vector<std::byte> expected(size, untouched);
        for (std::size_t row = 0; row < shape.rows; ++row) {
            std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(row * shape.from_stride),
                        shape.row_bytes,
                        expected.begin() + static_cast<std::ptrdiff_t>(row * shape.to_stride));
        }
        for (const Durability durability : {Durability::none, Durability::line}) {
            Destination stored(size, shape.offset);
            copy_rows_to_medium(Medium(durability), stored.data(), shape.to_stride, source.data(),
                                shape.from_stride, shape.row_bytes, shape.rows);
            EXPECT_TRUE(stored.holds(expected.data()));
        }
        Destination loaded(size, shape.offset);
        copy_rows_from_medium(loaded.data(), shape.to_stride, source.data(), shape.from_stride,
                              shape.row_bytes, shape.rows);
        EXPECT_TRUE(loaded.holds(expected.data()));
    }
}

// What is chosen by CPUID here is one of several: the others run on other machines, and must be as right.
TEST(persist, every_instruction_set_of_this_processor_does_the_same) {
    const std::size_t size = 160'000;
    const auto source = random_bytes(size + 8);
    const std::byte* from = source.data() + 8;
    const std::uint32_t crc = reference_crc(from, size);
    const Characteristic range = characterise(from, size, Element::i32);
    for (const Kernels* kernels : runnable_kernels()) {
        SCOPED_TRACE(kernels->name);
        Destination plain(size, 0);
        kernels->stream(plain.data(), from, size);
        Destination kept(size, 5);
        kernels->keep(kept.data(), from, size);
        EXPECT_TRUE(kept.holds(from));
        Destination checked(size, 0);
        EXPECT_EQ(~kernels->stream_crc(~0u, checked.data(), from, size), crc);
        Destination characterised(size, 0);
        Range found;
        EXPECT_EQ(~kernels->stream_characterised(~0u, found, Element::i32, characterised.data(), from, size),
                  crc);
        Destination rows(size, 0);
        kernels->stream_rows(rows.data(), 64, from, 64, 64, size / 64);
        Destination filled(size, 0);
        kernels->stream_fill(filled.data(), 0x1F3, size);
        store_fence();
        EXPECT_EQ(found.minimum, range.minimum);
        EXPECT_EQ(found.maximum, range.maximum);
        EXPECT_TRUE(plain.holds(from));
        EXPECT_TRUE(checked.holds(from));
        EXPECT_TRUE(characterised.holds(from));
        EXPECT_TRUE(rows.holds(from));
        const std::vector<std::byte> f3(size, std::byte{0xF3});
        EXPECT_TRUE(filled.holds(f3.data()));
    }
    EXPECT_STREQ(copy_instruction_set(), runnable_kernels().front()->name);
}

}  // namespace
