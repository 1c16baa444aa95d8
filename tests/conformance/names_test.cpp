// Ids, groups, rename, erase and oids.

#include <algorithm>
#include <chrono>
#include <numeric>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

PMEMCPY_SUITE(names);

using Ids = std::vector<std::string>;

TEST_P(names, ids_are_sorted_and_found_by_prefix) {
    open();
    for (const char* id : {"b", "a/2", "a/1", "ab", "a/b/c", "\xC3\xA9t\xC3\xA9"}) pmem.store(id, 1);
    EXPECT_EQ(pmem.ids(), (Ids{"a/1", "a/2", "a/b/c", "ab", "b", "\xC3\xA9t\xC3\xA9"}));
    EXPECT_EQ(pmem.ids("a/"), (Ids{"a/1", "a/2", "a/b/c"}));
    EXPECT_EQ(pmem.ids("a"), (Ids{"a/1", "a/2", "a/b/c", "ab"}));
    EXPECT_EQ(pmem.ids("c"), Ids{});
    EXPECT_EQ(pmem.groups(), (Ids{"a", "a/b"}));
    EXPECT_EQ(pmem.groups("a/"), Ids{"a/b"});
    EXPECT_EQ(pmem.info().variables, 6u);
    EXPECT_EQ(pmem.info().groups, 2u);
}

TEST_P(names, it_is_known_who_created_what_and_when) {
    const auto now = [] {
        return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                              std::chrono::system_clock::now().time_since_epoch())
                                              .count());
    };
    Options solver = options();
    solver.program = "solver";
    solver.ranks = 16;
    reopen(solver);
    const std::uint64_t before = now();
    pmem.store("g/value", 1);
    pmem.alloc<double>("array", Dimensions{4});
    const std::uint64_t after = now();
    for (const char* id : {"g", "g/value", "array"}) {
        const Creation creation = pmem.creation(id);
        EXPECT_EQ(creation.program, "solver");
        EXPECT_EQ(creation.ranks, 16U);
        EXPECT_FALSE(creation.host.empty());
        EXPECT_FALSE(creation.user.empty());
        EXPECT_GE(creation.created_ns, before);
        EXPECT_LE(creation.created_ns, after);
    }
    const std::uint64_t created = pmem.creation("g/value").created_ns;
    reopen();  // another program
    pmem.store("g/value", 2);
    pmem.rename("g/value", "h/renamed");
    pmem.set_attribute("h/renamed", "unit", "K");
    EXPECT_EQ(pmem.creation("h/renamed").created_ns, created) << "stored anew and renamed it is the same";
    EXPECT_EQ(pmem.creation("h/renamed").program, "solver");
    EXPECT_NE(pmem.creation("h").program, "solver") << "the group is of whoever renamed";
    pmem.erase("h/renamed");
    pmem.store("h/renamed", 3);
    EXPECT_GT(pmem.creation("h/renamed").created_ns, created);
    EXPECT_NE(pmem.creation("h/renamed").program, "solver");
    EXPECT_EQ(pmem.creation("h/renamed").ranks, 0U);
    expect_error(Code::not_found, [&] { pmem.creation("missing"); }, {"'missing'"});
}

TEST_P(names, a_program_of_any_name_creates) {
    Options chosen = options();
    chosen.program = std::string(1000, 'p');
    reopen(chosen);
    const std::string longest(1024, 'v');
    pmem.store(longest, 1);
    EXPECT_EQ(pmem.creation(longest).program, std::string(255, 'p')) << "so much is kept of it";
    EXPECT_EQ(pmem.load<int>(longest), 1);
    chosen.program = "na\xC3\xAFve\xFF\x80";
    reopen(chosen);
    pmem.store("a", 1);
    EXPECT_EQ(pmem.creation("a").program, "na\xC3\xAFve??") << "what is read is text";
}

TEST_P(names, groups_are_made_by_ids_and_know_that_they_are) {
    open();
    pmem.store("run/1/temperature", 1.0);
    EXPECT_TRUE(pmem.exists("run"));
    EXPECT_TRUE(pmem.exists("run/1"));
    EXPECT_EQ(pmem.info("run/1").kind, VariableKind::group);
    EXPECT_EQ(pmem.info("run/1/temperature").kind, VariableKind::value);
    expect_error(Code::type_mismatch, [&] { pmem.load<double>("run"); }, {"'run'", "group"});
    expect_error(Code::type_mismatch, [&] { pmem.load_dims("run"); }, {"'run'", "group"});
}

TEST_P(names, a_variable_and_a_group_exclude_each_other) {
    open();
    pmem.store("a", 1);
    expect_error(Code::already_exists, [&] { pmem.store("a/b", 2); }, {"'a'", "variable"});
    expect_error(Code::already_exists, [&] { pmem.alloc<int>("a/b/c", Dimensions{4}); }, {"'a'"});
    EXPECT_EQ(pmem.ids(), Ids{"a"});
    pmem.store("g/x", 1);
    expect_error(Code::already_exists, [&] { pmem.store("g", 2); }, {"'g'", "group"});
    expect_error(Code::already_exists, [&] { pmem.alloc<int>("g", Dimensions{4}); }, {"'g'"});
    pmem.erase("a");
    pmem.store("a/b", 2);
    EXPECT_EQ(pmem.load<int>("a/b"), 2);
}

TEST_P(names, an_empty_group_can_be_erased_and_a_full_one_not) {
    open();
    pmem.store("g/x", 1);
    expect_error(Code::busy, [&] { pmem.erase("g"); }, {"'g'", "not empty"});
    pmem.erase("g/x");
    EXPECT_TRUE(pmem.exists("g"));
    pmem.erase("g");
    EXPECT_FALSE(pmem.exists("g"));
    pmem.store("g", 2);
    EXPECT_EQ(pmem.load<int>("g"), 2);
}

TEST_P(names, a_group_is_made_empty_and_with_those_above_it) {
    open();
    pmem.make_group("g/h");
    EXPECT_EQ(pmem.groups(), (std::vector<std::string>{"g", "g/h"}));
    EXPECT_TRUE(pmem.ids().empty());
    pmem.set_attribute("g/h", "title", "nothing in it");
    pmem.make_group("g/h");  // which is there
    EXPECT_EQ(pmem.get_attribute<std::string>("g/h", "title"), "nothing in it");
    pmem.store("g/h/x", 1);
    pmem.store("v", 1);
    expect_error(Code::already_exists, [&] { pmem.make_group("v"); }, {"'v'"});
    expect_error(Code::already_exists, [&] { pmem.make_group("v/w"); }, {"'v'"});
    expect_error(Code::invalid_argument, [&] { pmem.make_group("a//b"); });
    expect_error(Code::invalid_argument, [&] { pmem.make_group("a#dims"); });
    reopen();
    EXPECT_EQ(pmem.groups(), (std::vector<std::string>{"g", "g/h"}));
    pmem.erase("g/h/x");
    pmem.erase("g/h");
    EXPECT_EQ(pmem.groups(), (std::vector<std::string>{"g"}));
    reopen(options(Mode::read));
    expect_error(Code::permission_denied, [&] { pmem.make_group("k"); });
}

TEST_P(names, erase_makes_room_for_anything) {
    open();
    for (int i = 0; i < 200; ++i) {
        pmem.store("x", i);
        pmem.erase("x");
        EXPECT_FALSE(pmem.exists("x"));
        expect_error(Code::not_found, [&] { pmem.erase("x"); }, {"'x'"});
        pmem.alloc<double>("x", Dimensions{100});
        const std::vector<double> data(100, i);
        pmem.store<double>("x", data.data(), Box{{0}, {100}});
        double last = 0;
        pmem.load<double>("x", &last, Box{{99}, {1}});
        EXPECT_EQ(last, i);
        pmem.erase("x");
        expect_error(Code::not_found, [&] { pmem.load<double>("x", &last, Box{{99}, {1}}); }, {"'x'"});
    }
    EXPECT_TRUE(pmem.ids().empty());
}

TEST_P(names, an_array_that_comes_again_is_empty) {
    open();
    pmem.alloc<int>("A", Dimensions{unlimited});
    const int data[] = {1, 2, 3};
    pmem.store<int>("A", data, Box{{0}, {3}});
    pmem.set_attribute("A", "units", "K");
    pmem.erase("A");
    pmem.alloc<int>("A", Dimensions{unlimited});
    EXPECT_EQ(pmem.load_dims("A"), Dimensions{0});
    EXPECT_TRUE(pmem.attributes("A").empty());
    EXPECT_TRUE(pmem.blocks("A").empty());
}

TEST_P(names, rename_moves_everything_and_nothing_else) {
    open();
    pmem.alloc<int>("A", Dimensions{3});
    const int data[] = {1, 2, 3};
    pmem.store<int>("A", data, Box{{0}, {3}});
    pmem.set_attribute("A", "units", "K");
    pmem.store("n", 5);
    pmem.rename("A", "old/A");
    pmem.rename("n", "m");
    EXPECT_EQ(pmem.ids(), (Ids{"m", "old/A"}));
    EXPECT_FALSE(pmem.exists("A"));
    expect_error(Code::not_found, [&] { pmem.load_dims("A"); });
    int back[3] = {};
    pmem.load<int>("old/A", back, Box{{0}, {3}});
    EXPECT_TRUE(std::equal(data, data + 3, back));
    EXPECT_EQ(pmem.get_attribute<std::string>("old/A", "units"), "K");
    EXPECT_EQ(pmem.load<int>("m"), 5);
    pmem.store("m", 6);
    EXPECT_EQ(pmem.load<int>("m"), 6);
}

TEST_P(names, rename_back_and_forth_and_over_erased_names) {
    open();
    pmem.store("x", 0);
    for (int i = 0; i < 300; ++i) {
        pmem.store("x", i);
        pmem.rename("x", "y");
        pmem.store("x", -i);
        EXPECT_EQ(pmem.load<int>("y"), i);
        pmem.erase("x");
        pmem.rename("y", "z");
        pmem.rename("z", "x");
        EXPECT_EQ(pmem.load<int>("x"), i);
    }
    EXPECT_EQ(pmem.ids(), Ids{"x"});
    pmem.erase("x");
    EXPECT_EQ(pmem.ids(), Ids{});
    pmem.store("y", 1);
    pmem.store("z", 2);
    EXPECT_EQ(pmem.ids(), (Ids{"y", "z"}));
}

TEST_P(names, rename_to_a_taken_name_changes_nothing) {
    open();
    pmem.store("a", 1);
    pmem.store("b", 2);
    expect_error(Code::already_exists, [&] { pmem.rename("a", "b"); }, {"'b'"});
    expect_error(Code::not_found, [&] { pmem.rename("c", "d"); }, {"'c'"});
    expect_error(Code::already_exists, [&] { pmem.rename("a", "b/c"); }, {"'b'"});
    expect_error(Code::invalid_argument, [&] { pmem.rename("a", ""); });
    expect_error(Code::already_exists, [&] { pmem.rename("a", "a"); });
    pmem.store("g/x", 3);
    expect_error(Code::unsupported, [&] { pmem.rename("g", "h"); }, {"'g'", "group"});
    expect_error(Code::already_exists, [&] { pmem.rename("a", "g"); });
    EXPECT_EQ(pmem.load<int>("a"), 1);
    EXPECT_EQ(pmem.load<int>("b"), 2);
    EXPECT_EQ(pmem.ids(), (Ids{"a", "b", "g/x"}));
}

TEST_P(names, oids_follow_a_rename_and_survive_a_restart) {
    open();
    pmem.store("a", 1);
    pmem.alloc<int>("g/A", Dimensions{4});
    const Oid a = pmem.oid("a");
    const Oid array = pmem.oid("g/A");
    const Oid group = pmem.oid("g");
    EXPECT_EQ(pmem.open(a), "a");
    EXPECT_EQ(pmem.open(array), "g/A");
    EXPECT_EQ(pmem.open(group), "g");
    EXPECT_FALSE(a == array);
    pmem.rename("a", "h/b");
    pmem.rename("h/b", "c");
    EXPECT_EQ(pmem.open(a), "c");
    EXPECT_EQ(pmem.oid("c"), a);
    pmem.store("c", std::string(100'000, 'x'));
    EXPECT_EQ(pmem.oid("c"), a);
    reopen();
    EXPECT_EQ(pmem.open(a), "c");
    EXPECT_EQ(pmem.open(array), "g/A");
    pmem.munmap();
    in_killed_process([](PMEM& own) { own.store("other", 1); });
    open();
    EXPECT_EQ(pmem.open(a), "c");
    EXPECT_EQ(pmem.open(group), "g");
}

TEST_P(names, a_stale_oid_is_not_found) {
    open();
    pmem.store("a", 1);
    const Oid stale = pmem.oid("a");
    pmem.erase("a");
    expect_error(Code::not_found, [&] { pmem.open(stale); });
    for (int i = 0; i < 100; ++i) {
        pmem.store("a", i);
        expect_error(Code::not_found, [&] { pmem.open(stale); });
        EXPECT_FALSE(pmem.oid("a") == stale);
        pmem.erase("a");
    }
    expect_error(Code::not_found, [&] { pmem.open(Oid{}); });
    expect_error(Code::not_found, [&] { pmem.open(Oid{UINT64_MAX, UINT64_MAX}); });
    expect_error(Code::not_found, [&] { pmem.open(Oid{12345, 678}); });
    expect_error(Code::not_found, [&] { pmem.oid("a"); }, {"'a'"});
}

TEST_P(names, info_tells_what_a_variable_is) {
    open();
    Options chosen = options();
    chosen.rank = 3;
    reopen(chosen);
    pmem.alloc<double>("A", Dimensions{unlimited, 4});
    const std::vector<double> data = {3, -1, 4, 1, -5, 9, 2, 6};
    pmem.store<double>("A", data.data(), Box{{0, 0}, {2, 4}});
    pmem.store<double>("A", data.data(), Box{{5, 0}, {1, 4}});
    pmem.set_attribute("A", "units", "m");
    const Info info = pmem.info("A");
    EXPECT_EQ(info.id, "A");
    EXPECT_EQ(info.kind, VariableKind::array);
    EXPECT_EQ(info.type, type_of<double>());
    EXPECT_EQ(info.dims, (Dimensions{6, 4}));
    EXPECT_TRUE(info.is_unlimited);
    EXPECT_EQ(info.blocks, 2u);
    EXPECT_EQ(info.bytes, 24u * 8);
    EXPECT_EQ(info.stored_bytes, 12u * 8);
    EXPECT_EQ(info.attributes, 1u);
    EXPECT_GT(info.written_ns, 1'600'000'000'000'000'000u);
    const auto blocks = pmem.blocks("A");
    ASSERT_EQ(blocks.size(), 2u);
    EXPECT_EQ(blocks[0].box, Selection(Box({0, 0}, {2, 4})));
    EXPECT_EQ(blocks[1].box, Selection(Box({5, 0}, {1, 4})));
    EXPECT_TRUE(blocks[0].has_range);
    EXPECT_EQ(blocks[0].min_as<double>(), -5.0);
    EXPECT_EQ(blocks[0].max_as<double>(), 9.0);
    EXPECT_EQ(blocks[1].min_as<double>(), -1.0);
    EXPECT_EQ(blocks[1].max_as<double>(), 4.0);
    EXPECT_EQ(blocks[0].writer_rank, 3);
    EXPECT_EQ(blocks[0].writer_pid, static_cast<std::uint32_t>(::getpid()));
    EXPECT_LT(blocks[0].version, blocks[1].version);
    EXPECT_EQ(blocks[0].bytes, 64u);
    expect_error(Code::not_found, [&] { pmem.info("nothing"); }, {"nothing"});
    expect_error(Code::not_found, [&] { pmem.blocks("nothing"); }, {"nothing"});
}

template <class T>
void expect_range(PMEM& pmem, const std::string& id, const std::vector<T>& data, T least, T greatest) {
    pmem.alloc<T>(id, Dimensions{data.size()});
    pmem.store<T>(id, data.data(), Box{{0}, {data.size()}});
    const BlockInfo block = pmem.blocks(id).at(0);
    ASSERT_TRUE(block.has_range) << id;
    EXPECT_EQ(block.min_as<T>(), least) << id;
    EXPECT_EQ(block.max_as<T>(), greatest) << id;
}

TEST_P(names, blocks_know_their_range_for_every_number_type) {
    open();
    expect_range<std::int8_t>(pmem, "i8", {3, -128, 127}, -128, 127);
    expect_range<std::int16_t>(pmem, "i16", {3, INT16_MIN, 5}, INT16_MIN, 5);
    expect_range<std::int32_t>(pmem, "i32", {3, INT32_MIN, 5}, INT32_MIN, 5);
    expect_range<std::int64_t>(pmem, "i64", {3, INT64_MIN, 5}, INT64_MIN, 5);
    expect_range<std::uint8_t>(pmem, "u8", {3, 255, 5}, 3, 255);
    expect_range<std::uint16_t>(pmem, "u16", {3, 65535, 5}, 3, 65535);
    expect_range<std::uint32_t>(pmem, "u32", {3, UINT32_MAX, 5}, 3, UINT32_MAX);
    expect_range<std::uint64_t>(pmem, "u64", {3, UINT64_MAX, 5}, 3, UINT64_MAX);
    expect_range<float>(pmem, "f32", {3, -2.5F, 5}, -2.5F, 5);
    std::vector<double> many(100'003);
    std::iota(many.begin(), many.end(), -50'000.0);
    expect_range<double>(pmem, "f64", many, -50'000.0, 50'002.0);
    Options plain = options();
    plain.characterise = false;
    plain.checksums = false;
    reopen(plain);
    pmem.alloc<int>("plain", Dimensions{1});
    const int one = 1;
    pmem.store<int>("plain", &one, Box{{0}, {1}});
    EXPECT_FALSE(pmem.blocks("plain").at(0).has_range);
}

}  // namespace
}  // namespace pmemcpy::conformance
