#include <gtest/gtest.h>

// First, because <cereal/types/complex.hpp> does not include what it uses.
#include <pmemcpy/cereal.hpp>

#include <cereal/types/complex.hpp>
#include <cereal/types/deque.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/polymorphic.hpp>
#include <cereal/types/set.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/variant.hpp>
#include <cereal/types/vector.hpp>
#include <complex>
#include <limits>
#include <map>
#include <optional>
#include <pmemcpy/serializer.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "codec/mapped_memory.hpp"

namespace pmemcpy::codec {
namespace {

template <typename T>
std::vector<std::byte> encoded(const T& value) {
    const auto encoder = make_encoder(SerializerType::cereal, value);
    std::vector<std::byte> bytes(encoder->size_bytes());
    encoder->encode(bytes);
    return bytes;
}

template <typename T>
Code code_of_decoding(std::span<const std::byte> bytes, T& value) {
    try {
        decode_object(SerializerType::cereal, bytes, value);
    } catch (const Error& error) {
        return error.kind();
    }
    return Code{0};
}

struct Mesh {
    std::string name;
    std::vector<double> points;
    std::map<std::string, std::vector<std::int32_t>> regions;
    std::vector<std::complex<float>> spectrum;
    std::vector<std::vector<std::string>> labels;
    std::optional<std::uint16_t> level;
    std::shared_ptr<Mesh> parent;
    std::shared_ptr<Mesh> same_parent;

    template <typename Archive>
    void serialize(Archive& archive) {
        archive(name, points, regions, spectrum, labels, level, parent, same_parent);
    }
};

Mesh make_mesh() {
    Mesh mesh;
    mesh.name = "sphere";
    mesh.points = {1, 2.5, -3};
    mesh.regions = {{"inlet", {1, 2, 3}}, {"outlet", {}}};
    mesh.spectrum = {{1, 2}, {3, 4}};
    mesh.labels = {{"a", "b"}, {}, {"c"}};
    mesh.level = 7;
    mesh.parent = std::make_shared<Mesh>();
    mesh.parent->name = "parent";
    mesh.same_parent = mesh.parent;
    return mesh;
}

TEST(cereal, an_object_with_everything_comes_back) {
    const Mesh mesh = make_mesh();
    Mesh loaded;
    decode_object(SerializerType::cereal, encoded(mesh), loaded);
    EXPECT_EQ(loaded.name, mesh.name);
    EXPECT_EQ(loaded.points, mesh.points);
    EXPECT_EQ(loaded.regions, mesh.regions);
    EXPECT_EQ(loaded.spectrum, mesh.spectrum);
    EXPECT_EQ(loaded.labels, mesh.labels);
    EXPECT_EQ(loaded.level, mesh.level);
    ASSERT_TRUE(loaded.parent);
    EXPECT_EQ(loaded.parent->name, "parent");
    EXPECT_EQ(loaded.parent, loaded.same_parent);
}

TEST(cereal, numbers_and_containers_of_all_kinds_come_back) {
    const std::vector<bool> flags = {true, false, true};
    std::vector<bool> loaded_flags;
    decode_object(SerializerType::cereal, encoded(flags), loaded_flags);
    EXPECT_EQ(loaded_flags, flags);

    using Mixed = std::pair<std::variant<int, std::string>, std::deque<std::set<std::int8_t>>>;
    const Mixed mixed = {"text", {{1, 2}, {}, {-3}}};
    Mixed loaded_mixed;
    decode_object(SerializerType::cereal, encoded(mixed), loaded_mixed);
    EXPECT_EQ(loaded_mixed, mixed);

    double number = 0;
    decode_object(SerializerType::cereal, encoded(1.5), number);
    EXPECT_EQ(number, 1.5);
}

TEST(cereal, the_bytes_are_those_of_cereals_own_archive) {
    const Mesh mesh = make_mesh();
    std::ostringstream stream;
    cereal::PortableBinaryOutputArchive{stream}(mesh);
    const std::string theirs = stream.str();
    const auto ours = encoded(mesh);
    EXPECT_EQ(theirs, std::string(reinterpret_cast<const char*>(ours.data()), ours.size()));
}

TEST(cereal, bytes_from_a_machine_of_the_other_byte_order_are_read) {
    using Archive = cereal::PortableBinaryOutputArchive;
    std::ostringstream stream;
    const std::vector<std::uint32_t> numbers = {1, 0x01020304};
    const auto options = std::endian::native == std::endian::little ? Archive::Options::BigEndian()
                                                                    : Archive::Options::LittleEndian();
    Archive{stream, options}(numbers);
    const std::string bytes = stream.str();
    std::vector<std::uint32_t> loaded;
    decode_object(SerializerType::cereal, std::as_bytes(std::span(bytes)), loaded);
    EXPECT_EQ(loaded, numbers);
}

struct Shape {
    virtual ~Shape() = default;
    template <typename Archive>
    void serialize(Archive&) {}
};
struct Circle : Shape {
    double radius = 0;
    template <typename Archive>
    void serialize(Archive& archive) {
        archive(cereal::base_class<Shape>(this), radius);
    }
};

}  // namespace
}  // namespace pmemcpy::codec

CEREAL_REGISTER_TYPE(pmemcpy::codec::Circle)

namespace pmemcpy::codec {
namespace {

TEST(cereal, registered_polymorphic_objects_come_back_as_what_they_are) {
    auto circle = std::make_unique<Circle>();
    circle->radius = 2.5;
    const std::unique_ptr<Shape> shape = std::move(circle);
    std::unique_ptr<Shape> loaded;
    decode_object(SerializerType::cereal, encoded(shape), loaded);
    ASSERT_NE(dynamic_cast<Circle*>(loaded.get()), nullptr);
    EXPECT_EQ(dynamic_cast<Circle&>(*loaded).radius, 2.5);
}

/// Taught to load from one archive only, as in programs that keep their templates out of headers.
struct Narrow {
    int value = 0;
    void save(cereal::PortableBinaryOutputArchive& archive) const { archive(value); }
    void load(cereal::PortableBinaryInputArchive& archive) { archive(value); }
};

TEST(cereal, a_type_that_only_knows_cereals_archive_is_loaded_by_it) {
    const Narrow narrow{5};
    Narrow loaded;
    auto bytes = encoded(narrow);
    decode_object(SerializerType::cereal, bytes, loaded);
    EXPECT_EQ(loaded.value, 5);
    EXPECT_EQ(code_of_decoding(std::span(bytes).first(3), loaded), Code::corrupt);
    bytes.push_back({});
    EXPECT_EQ(code_of_decoding(bytes, loaded), Code::corrupt);
}

TEST(cereal, default_takes_it_for_what_is_not_raw) {
    EXPECT_EQ(choose_serializer<Mesh>(SerializerType::Default), SerializerType::cereal);
    EXPECT_EQ(choose_serializer<double>(SerializerType::Default), SerializerType::bp4);
}

TEST(cereal, every_truncation_is_corrupt) {
    const auto bytes = encoded(make_mesh());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        Mesh mesh;
        EXPECT_EQ(code_of_decoding(std::span(bytes).first(size), mesh), Code::corrupt) << size;
    }
    auto longer = bytes;
    longer.push_back(std::byte{0});
    Mesh mesh;
    EXPECT_EQ(code_of_decoding(longer, mesh), Code::corrupt);
}

TEST(cereal, scribbled_bytes_load_or_are_corrupt_and_nothing_else) {
    const auto sound = encoded(make_mesh());
    std::mt19937 random(1);
    const GuardedBytes guarded(sound.size());
    for (int round = 0; round < 20000; ++round) {
        std::copy(sound.begin(), sound.end(), guarded.bytes().begin());
        for (int change = 0; change < 3; ++change)
            guarded.bytes()[random() % sound.size()] = static_cast<std::byte>(random());
        Mesh mesh;
        const Code code = code_of_decoding(guarded.bytes(), mesh);
        EXPECT_TRUE(code == Code{0} || code == Code::corrupt);
    }
}

TEST(cereal, a_hostile_count_allocates_nothing) {
    if (!memory_is_countable) GTEST_SKIP() << "sanitizers keep memory of their own";
    // A vector that says it has 2^33 elements, with 16 MiB behind it.
    std::vector<double> honest(1 << 21, 1.0);
    auto bytes = encoded(honest);
    for (const std::uint64_t count : {std::uint64_t{1} << 33, std::uint64_t{1} << 24, std::uint64_t{1} << 62,
                                      std::numeric_limits<std::uint64_t>::max()}) {
        std::memcpy(bytes.data() + 1, &count, sizeof count);
        std::vector<double> loaded;
        std::vector<std::string> texts;
        const auto before = anonymous_bytes();
        EXPECT_EQ(code_of_decoding(bytes, loaded), Code::corrupt);
        EXPECT_EQ(loaded.capacity(), 0u);
        EXPECT_EQ(code_of_decoding(bytes, texts), Code::corrupt);
        EXPECT_LE(texts.capacity() * sizeof(std::string), bytes.size());
        EXPECT_LT(anonymous_bytes() - before, std::int64_t{17} << 20);
    }
}

TEST(cereal, an_object_that_changes_while_stored_is_an_error_and_stays_inside_its_room) {
    std::vector<int> numbers(10, 1);
    const auto encoder = make_encoder(SerializerType::cereal, numbers);
    for (const std::size_t count : {11u, 9u}) {
        const GuardedBytes room(encoder->size_bytes());
        numbers.resize(count);
        try {
            encoder->encode(room.bytes());
            ADD_FAILURE() << "no error for " << count << " elements";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::invalid_argument);
        }
    }
}

TEST(cereal, a_large_object_goes_into_the_mapping_without_a_buffer) {
    if (!memory_is_countable) GTEST_SKIP() << "sanitizers keep memory of their own";
    constexpr std::size_t count = (256u << 20) / sizeof(double);
    std::pair<std::string, std::vector<double>> object("field", std::vector<double>(count));
    for (std::size_t i = 0; i < count; ++i) object.second[i] = static_cast<double>(i);

    const auto before = anonymous_bytes();
    const auto encoder = make_encoder(SerializerType::cereal, object);
    const SharedMapping mapping(encoder->size_bytes());
    encoder->encode(mapping.bytes());
    EXPECT_LT(anonymous_bytes() - before, std::int64_t{16} << 20);

    object.second = {};
    std::pair<std::string, std::vector<double>> loaded;
    const auto unloaded = anonymous_bytes();
    decode_object(SerializerType::cereal, mapping.bytes(), loaded);
    EXPECT_LT(anonymous_bytes() - unloaded, std::int64_t{256 + 16} << 20);
    ASSERT_EQ(loaded.second.size(), count);
    EXPECT_EQ(loaded.second[count - 1], static_cast<double>(count - 1));
}

}  // namespace
}  // namespace pmemcpy::codec
