#include <gtest/gtest.h>

#include <pmemcpy/groups.hpp>

#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/pool_suite.hpp"

namespace {

using namespace pmemcpy;
using conformance::expect_error;
using conformance::small_pool;
using Names = std::vector<std::string>;

class Groups : public ::testing::Test {
protected:
    Groups() { pool.mmap(path, small_pool()); }
    PMEM opened(Mode mode) {
        Options options = small_pool();
        options.mode = mode;
        PMEM other;
        other.mmap(path, options);
        return other;
    }

    const Folder folder;
    const std::string path = folder / "pool";
    PMEM pool;
};

TEST_F(Groups, have_as_members_what_lies_directly_in_them) {
    EXPECT_EQ(members(pool), Names{});
    pool.store("a", 1);
    pool.alloc<int>("g/u", {3});
    pool.store("g/h/deep/er", 1);
    pool.make_group("empty");
    pool.set_attribute("g", "units", "m");
    EXPECT_EQ(members(pool), (Names{"a", "empty", "g"}));
    EXPECT_EQ(members(pool, ""), members(pool, "/"));
    EXPECT_EQ(members(pool, "g"), (Names{"h", "u"}));
    EXPECT_EQ(members(pool, "g/h"), Names{"deep"});
    for (const char* none : {"empty", "a", "g/u", "nothing", "g/"})
        EXPECT_EQ(members(pool, none), Names{}) << none;
    EXPECT_EQ(count_members(pool), 3u);
    EXPECT_EQ(count_members(pool, "g"), 2u);
    EXPECT_EQ(count_members(pool, "nothing"), 0u);
}

// The list is kept from one look to the next; so each thing that adds a name, or takes one away, has to say so.
TEST_F(Groups, are_listed_anew_after_whatever_changes_the_names_here_or_elsewhere) {
    PMEM reader = opened(Mode::read);
    PMEM writer = opened(Mode::update);
    const auto expect = [&](const Names& names) {
        for (PMEM* one : {&pool, &reader, &writer}) {
            EXPECT_EQ(members(*one, "g"), names);
            EXPECT_EQ(count_members(*one, "g"), names.size());
            EXPECT_EQ(one->ids("g/").size() + one->groups("g/").size(), names.size());
        }
    };
    expect({});
    writer.store("g/v", 1);
    expect({"v"});
    writer.store("g/v", 2);
    pool.alloc<int>("g/a", {3});
    expect({"a", "v"});
    pool.make_group("g/h");
    expect({"a", "h", "v"});
    writer.rename("g/v", "g/w");
    expect({"a", "h", "w"});
    pool.erase("g/a");
    writer.erase("g/h");
    expect({"w"});
    writer.begin(1);
    writer.store("g/in_step", 1);
    EXPECT_EQ(members(writer, "g"), (Names{"in_step", "w"}));
    EXPECT_EQ(members(reader, "g"), Names{"w"});
    writer.commit(1);
    expect({"in_step", "w"});
    pool.begin(2);
    pool.store("g/dropped", 1);
    EXPECT_EQ(members(pool, "g").size(), 3u);
    pool.abandon();
    expect({"in_step", "w"});
}

TEST_F(Groups, are_listed_by_a_reader_that_stays_while_writers_come_and_go) {
    pool.store("a", 1);
    pool.munmap();
    PMEM reader = opened(Mode::read);
    EXPECT_EQ(members(reader), Names{"a"});
    for (int i = 0; i < 3; ++i) {
        PMEM writer = opened(Mode::update);
        writer.store("b" + std::to_string(i), 1);
        writer.munmap();
        EXPECT_EQ(count_members(reader), 2u + static_cast<std::size_t>(i));
    }
}

TEST_F(Groups, are_erased_with_all_that_is_in_them) {
    pool.store("keep", 1);
    for (const char* id : {"g/a", "g/h/b", "g/h/i/c", "gg/d"}) pool.store(id, 1);
    EXPECT_EQ(erase_all(pool, "g"), 6u);
    EXPECT_EQ(members(pool), (Names{"gg", "keep"}));
    EXPECT_EQ(erase_all(pool, "keep"), 1u);
    expect_error(Code::not_found, [&] { erase_all(pool, "g"); }, {"g"});
    pool.begin(1);
    expect_error(Code::unsupported, [&] { erase_all(pool, "gg"); });
}

// One group for each step, of which the last three are kept: what a simulation writes for a restart.
TEST_F(Groups, keep_the_members_that_were_created_last) {
    for (std::uint64_t step = 1; step <= 12; ++step) {
        pool.begin(step);
        pool.store("out/" + std::to_string(step) + "/T", static_cast<int>(step));
        pool.commit(step);
        keep_newest(pool, "out", 3);
    }
    EXPECT_EQ(members(pool, "out"), (Names{"10", "11", "12"}));
    EXPECT_EQ(pool.groups("out/").size(), 3u);
    pool.store("out/10/T", 99);  // a new value makes it no newer
    EXPECT_EQ(keep_newest(pool, "out", 2), Names{"10"});
    EXPECT_EQ(keep_newest(pool, "out", 5), Names{});
    EXPECT_EQ(keep_newest(pool, "out", 0), (Names{"11", "12"}));
    expect_error(Code::not_found, [&] { keep_newest(pool, "nothing", 3); });
    pool.store("v", 1);
    expect_error(Code::type_mismatch, [&] { keep_newest(pool, "v", 3); }, {"no group"});
}

}  // namespace
