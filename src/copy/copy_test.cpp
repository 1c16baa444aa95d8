#include "copy/copying_suite.hpp"

#include <algorithm>
#include <array>
#include <utility>

using namespace pmemcpy;

namespace {

struct Sample {
    double x;
    std::int32_t id[2];
};

}  // namespace

PMEMCPY_STRUCT(Sample, x, id);

TEST_F(copying, keeps_the_blocks_of_an_array) {
    source.alloc<double>("u", {4, 6});
    const auto data = numbers(24);
    source.store("u", data.data(), Box{{0, 0}, {2, 6}});
    source.store("u", data.data() + 12, Box{{2, 0}, {2, 3}});
    source.store("u", data.data() + 18, Box{{2, 3}, {2, 3}});
    source.set_attribute("u", "units", "m/s");
    source.set_attribute("u", "range", std::vector<float>{-2, 40});
    copy("u");
    expect_same<double>("u");
    EXPECT_EQ(target.get_attribute<std::string>("u", "units"), "m/s");
    EXPECT_EQ(target.get_attribute<std::vector<float>>("u", "range"), (std::vector<float>{-2, 40}));
    EXPECT_EQ(copied_bytes, 24 * sizeof(double));
}

TEST_F(copying, keeps_fortran_order) {
    ArrayOptions columns;
    columns.order = Order::fortran;
    source.alloc<double>("f", {3, 4}, columns);
    source.store("f", numbers(12).data(), Box::whole({3, 4}));
    copy("f");
    expect_same<double>("f");
}

TEST_F(copying, keeps_what_newer_blocks_cover_in_part) {
    source.alloc<double>("o", {20});
    source.store("o", numbers(15).data(), Box{{0}, {15}});
    source.store("o", numbers(10, 100).data(), Box{{10}, {10}});
    source.store("o", numbers(5, 200).data(), Selection({0}, {5}, {4}));  // every fourth
    copy("o");
    expect_same<double>("o");
}

TEST_F(copying, keeps_codecs_of_arrays_and_of_single_blocks) {
    if (!is_available(Codec::Kind::lz4)) GTEST_SKIP() << "this build has no Blosc";
    ArrayOptions packed;
    packed.codec = parse_codec("lz4:3:noshuffle");
    source.alloc<double>("c", {2000}, packed);
    source.store("c", numbers(1000).data(), Box{{0}, {1000}});
    source.store("c", numbers(1000).data(), Box{{1000}, {1000}}, Codec{});
    copy("c");
    expect_same<double>("c");
}

TEST_F(copying, keeps_a_fill_value_also_where_it_does_not_show) {
    source.alloc<double>("full", {4}, ArrayOptions{}.fill(-1.0));
    source.store("full", numbers(4).data(), Box::whole({4}));
    source.alloc<double>("holes", {4}, ArrayOptions{}.fill(-1.0));
    source.store("holes", numbers(1).data(), Box{{2}, {1}});
    source.alloc<double>("nothing", {4}, ArrayOptions{}.fill(7.0));
    for (const char* id : {"full", "holes", "nothing"}) {
        copy(id);
        expect_same<double>(id);
    }
    EXPECT_EQ(loaded<double>(target, "nothing"), std::vector<double>(4, 7.0));
}

TEST_F(copying, keeps_an_array_without_a_fill_value_as_empty_as_it_is) {
    source.alloc<double>("h", {10});
    source.store("h", numbers(1).data(), Box{{3}, {1}});
    copy("h");
    EXPECT_EQ(target.blocks("h").size(), 1U);
    double one = 0;
    EXPECT_THROW(target.load("h", &one, Box{{0}, {1}}), Error);
    target.load("h", &one, Box{{3}, {1}});
}

TEST_F(copying, keeps_arrays_that_grow_and_scalars) {
    source.alloc<double>("t", {unlimited, 3});
    source.store("t", numbers(6).data(), Box{{0, 0}, {2, 3}});
    source.alloc<double>("s", Dimensions{});
    source.store("s", numbers(1, 5).data(), Box::whole({}));
    copy("t");
    copy("s");
    expect_same<double>("t");
    expect_same<double>("s");
    target.store("t", numbers(3).data(), Box{{2, 0}, {1, 3}});  // it still grows
    EXPECT_EQ(target.load_dims("t"), (Dimensions{3, 3}));
}

TEST_F(copying, keeps_contiguous_arrays_frozen_and_not) {
    ArrayOptions in_place;
    in_place.contiguous = true;
    for (const char* id : {"frozen", "open"}) {
        source.alloc<double>(id, {30, 10}, in_place);
        source.store(id, numbers(300).data(), Box::whole({30, 10}));
    }
    source.freeze("frozen");
    copy("frozen");
    copy("open");
    expect_same<double>("frozen");
    expect_same<double>("open");
    EXPECT_NO_THROW(target.update<double>("open"));
    EXPECT_THROW(target.update<double>("frozen"), Error);
}

TEST_F(copying, keeps_values_byte_by_byte) {
    source.store("number", 42);
    source.store("text", "ocean");
    source.store("list", std::vector<double>{0.5, -2});
    source.store("struct", Sample{0.25, {1, 2}});
    source.store("large", numbers(10'000));
    const std::string made = "bytes of a serializer that this process does not know";
    source.store_encoded("opaque", Type::opaque(1, "Mesh"), SerializerType{77},
                         BytesEncoder(std::as_bytes(std::span(made))));
    for (const char* id : {"number", "text", "list", "struct", "large", "opaque"}) {
        source.set_attribute(id, "made", Sample{1, {3, 4}});
        copy(id);
        EXPECT_EQ(source.info(id).type, target.info(id).type) << id;
        EXPECT_EQ(source.info(id).serializer, target.info(id).serializer) << id;
        const Pinned from = source.view_bytes(id), to = target.view_bytes(id);
        EXPECT_TRUE(std::ranges::equal(from.bytes(), to.bytes())) << id;
        EXPECT_EQ(target.get_attribute<Sample>(id, "made").id[1], 4) << id;
    }
    EXPECT_TRUE(target.verify().empty());
}

TEST_F(copying, keeps_foreign_byte_order) {
    const Type type = Type::scalar(Kind::float64, ByteOrder::big);
    source.alloc("b", type, {4});
    source.store("b", type, numbers(4).data(), Box::whole({4}));
    copy("b");
    EXPECT_EQ(target.info("b").type, type);
    std::array<double, 4> raw{};
    target.load("b", type, raw.data(), Box::whole({4}));
    EXPECT_TRUE(std::equal(raw.begin(), raw.end(), numbers(4).begin()));
}

TEST_F(copying, replaces_only_by_force) {
    source.store("a", 1);
    target.store("a", 2);
    target.set_attribute("a", "old", 1);
    try {
        copy("a");
        FAIL() << "it is there already";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::already_exists);
    }
    EXPECT_EQ(target.load<int>("a"), 2);
    EXPECT_EQ(target.ids(), std::vector<std::string>{"a"});  // the copy that could not take its place is gone
    copy("a", true);
    EXPECT_EQ(target.load<int>("a"), 1);
    EXPECT_TRUE(target.attributes("a").empty());
    EXPECT_EQ(target.ids(), std::vector<std::string>{"a"});
}

TEST_F(copying, leaves_nothing_when_it_is_ended) {
    source.alloc<double>("u", {20});
    for (Extent i = 0; i < 4; ++i) source.store("u", numbers(5).data(), Box{{5 * i}, {5}});
    struct Ended {};
    int blocks = 0;
    EXPECT_THROW(copy_variable(source, "u", target, "u", false,
                               [&](std::uint64_t) {
                                   if (++blocks == 3) throw Ended{};
                               }),
                 Ended);
    EXPECT_TRUE(target.ids().empty());
}

TEST_F(copying, refuses_what_is_damaged) {
    // A flipped bit would get a fresh checksum in the copy, and nobody could tell any more.
    ArrayOptions in_place;
    in_place.contiguous = true;
    source.alloc<double>("v", {1000}, in_place);
    source.store("v", numbers(1000).data(), Box::whole({1000}));
    const auto view = source.update<double>("v");
    source.freeze("v");
    view.data()[7] = -1;  // as a stray pointer would
    try {
        copy("v");
        FAIL() << "its checksum does not hold";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::corrupt) << error.what();
    }
    EXPECT_TRUE(target.ids().empty());
}

TEST_F(copying, begins_anew_when_somebody_stores_meanwhile) {
    source.alloc<double>("u", {10});
    source.store("u", numbers(5).data(), Box{{0}, {5}});
    source.store("u", numbers(5, 5).data(), Box{{5}, {5}});
    bool has_stored = false;
    copy_variable(source, "u", target, "u", false, [&](std::uint64_t) {
        if (!std::exchange(has_stored, true)) source.store("u", numbers(5, 100).data(), Box{{0}, {5}});
    });
    EXPECT_EQ(loaded<double>(source, "u"), loaded<double>(target, "u"));
    // Who never pauses cannot be copied.
    EXPECT_THROW(copy_variable(source, "u", target, "again", false,
                               [&](std::uint64_t) {
                                   source.store("u", numbers(5).data(), Box{{0}, {5}});
                               }),
                 Error);
    EXPECT_FALSE(target.exists("again"));
    // But what only grows can.
    source.alloc<double>("t", {unlimited});
    source.store("t", numbers(5).data(), Box{{0}, {5}});
    copy_variable(source, "t", target, "t", false, [&](std::uint64_t) {
        source.store("t", numbers(5).data(), Box{{5}, {5}});
    });
    EXPECT_EQ(target.load_dims("t"), Dimensions{5});
}

TEST_F(copying, works_inside_one_pool) {
    source.alloc<double>("u", {4});
    source.store("u", numbers(4).data(), Box::whole({4}));
    source.store("v", 3);
    copy_variable(source, "u", source, "group/u", false, [](std::uint64_t) {});
    copy_variable(source, "v", source, "w", false, [](std::uint64_t) {});
    EXPECT_EQ(loaded<double>(source, "group/u"), numbers(4));
    EXPECT_EQ(source.load<int>("w"), 3);
}

TEST_F(copying, adds_attributes_and_replaces_them_by_force) {
    source.store("g/a", 1);
    target.store("g/a", 1);
    source.set_attribute("g", "title", "new");
    source.set_attribute("g", "more", 1);
    target.set_attribute("g", "title", "old");
    copy_attributes(source, "g", target, "g", false);
    EXPECT_EQ(target.get_attribute<std::string>("g", "title"), "old");
    EXPECT_EQ(target.get_attribute<int>("g", "more"), 1);
    copy_attributes(source, "g", target, "g", true);
    EXPECT_EQ(target.get_attribute<std::string>("g", "title"), "new");
}
