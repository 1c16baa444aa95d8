// How a pool is opened: r, r+, a, w, x; and what one PMEM may do.

#include <sys/stat.h>

#include <filesystem>
#include <pmemcpy/pmemcpy.hpp>
#include <utility>
#include <vector>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

PMEMCPY_SUITE(modes);

TEST_P(modes, read_needs_a_pool_and_changes_nothing) {
    expect_error(Code::not_found, [&] { pmem.mmap(path(), options(Mode::read)); }, {path()});
    EXPECT_FALSE(pmem.is_mapped());
    open();
    pmem.store("v", 1);
    pmem.alloc<int>("A", Dimensions{4});
    const int data[] = {1, 2, 3, 4};
    pmem.store<int>("A", data, Box{{0}, {4}});
    pmem.set_attribute("v", "n", 2);
    for (const bool beside_a_writer : {true, false}) {
        SCOPED_TRACE(beside_a_writer);
        if (!beside_a_writer) pmem.munmap();
        PMEM reader;
        reader.mmap(path(), options(Mode::read));
        EXPECT_EQ(reader.load<int>("v"), 1);
        EXPECT_EQ(reader.view<int>("A")[3], 4);
        EXPECT_EQ(reader.get_attribute<int>("v", "n"), 2);
        EXPECT_EQ(reader.ids().size(), 2u);
        EXPECT_EQ(reader.info().variables, 2u);
        EXPECT_EQ(reader.blocks("A").size(), 1u);
        EXPECT_EQ(reader.open(reader.oid("v")), "v");
        const std::function<void()> writes[] = {
            [&] { reader.store("v", 2); },
            [&] {
                reader.store<int>("A", data, Box{{0}, {4}});
            },
            [&] { reader.alloc<int>("B", Dimensions{4}); },
            [&] { reader.erase("v"); },
            [&] { reader.rename("v", "w"); },
            [&] { reader.set_attribute("v", "n", 3); },
            [&] { reader.remove_attribute("v", "n"); },
            [&] { (void)reader.update<int>("A"); },
            [&] { reader.freeze("A"); },
            [&] { reader.begin(1); },
            [&] { reader.commit(1); },
            [&] { reader.compact(); },
            [&] { reader.trim(); },
            [&] { reader.prepare(); },
        };
        for (const auto& write : writes) expect_error(Code::permission_denied, write, {"reading only"});
    }
}

TEST_P(modes, readers_see_what_writers_store) {
    open();
    PMEM reader;
    pmem.store("v", 0);
    reader.mmap(path(), options(Mode::read));
    for (int i = 1; i < 100; ++i) {
        pmem.store("v", i);
        EXPECT_EQ(reader.load<int>("v"), i);
    }
    pmem.store("big", std::string(100'000, 'b'));
    const Pinned view = reader.view_bytes("big");
    for (int i = 1; i < 100; ++i) pmem.store("big", std::string(100'000, 'c'));
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(view.data()), 100'000),
              std::string(100'000, 'b'));
    EXPECT_EQ(reader.load<std::string>("big"), std::string(100'000, 'c'));
}

TEST_P(modes, a_reader_does_not_recover_and_says_who_can) {
    in_killed_process([](PMEM& own) { own.store("v", 1); });
    expect_error(Code::busy, [&] { pmem.mmap(path(), options(Mode::read)); }, {path(), "recovered"});
    open();
    PMEM reader;
    reader.mmap(path(), options(Mode::read));
    EXPECT_EQ(reader.load<int>("v"), 1);
}

TEST_P(modes, update_needs_a_pool) {
    expect_error(Code::not_found, [&] { pmem.mmap(path(), options(Mode::update)); }, {path()});
    open();
    pmem.store("v", 1);
    reopen(options(Mode::update));
    pmem.store("v", 2);
    EXPECT_EQ(pmem.load<int>("v"), 2);
}

TEST_P(modes, replace_begins_anew_but_not_while_in_use) {
    pmem.mmap(path(), options(Mode::replace));
    pmem.store("v", 1);
    PMEM other;
    expect_error(Code::busy, [&] { other.mmap(path(), options(Mode::replace)); }, {path(), "in use"});
    EXPECT_EQ(pmem.load<int>("v"), 1);
    reopen(options(Mode::replace));
    EXPECT_TRUE(pmem.ids().empty());
    pmem.munmap();
    in_killed_process([](PMEM& own) { own.store("v", 1); });
    pmem.mmap(path(), options(Mode::replace));
    EXPECT_TRUE(pmem.ids().empty());
}

TEST_P(modes, exclusive_insists_on_a_new_pool) {
    pmem.mmap(path(), options(Mode::exclusive));
    PMEM other;
    expect_error(Code::already_exists, [&] { other.mmap(path(), options(Mode::exclusive)); }, {path()});
    other.mmap(path("other"), options(Mode::exclusive));
}

TEST_P(modes, the_options_of_an_old_pool_are_its_own) {
    open();
    const PoolInfo created = pmem.info();
    EXPECT_EQ(created.chunk_bytes, 64u << 10);
    EXPECT_LE(created.max_bytes, 64u << 20);
    Options others = options();
    others.max_bytes = 1 << 30;
    others.chunk_bytes = 1 << 20;
    reopen(others);
    EXPECT_EQ(pmem.info().chunk_bytes, created.chunk_bytes);
    EXPECT_EQ(pmem.info().max_bytes, created.max_bytes);
    EXPECT_EQ(pmem.info().uuid, created.uuid);
    EXPECT_EQ(pmem.info().created_ns, created.created_ns);
    EXPECT_EQ(pmem.info().layout, GetParam() == Layout::file ? "file" : "directory");
    EXPECT_EQ(pmem.info().attached, 1u);
    EXPECT_EQ(pmem.info().durability, pmem.durability());
    EXPECT_FALSE(pmem.info().durability_reason.empty());
}

TEST_P(modes, permissions_are_those_asked_for) {
    if (GetParam() != Layout::file) GTEST_SKIP() << "about the one file";
    Options chosen = options();
    chosen.permissions = 0640;
    pmem.mmap(path(), chosen);
    struct stat found {};
    ASSERT_EQ(::stat(path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0640u);
}

TEST_P(modes, any_number_of_attachments_in_one_process) {
    std::vector<PMEM> many(20);
    for (PMEM& each : many) each.mmap(path(), options());
    for (std::size_t i = 0; i < many.size(); ++i) many[i].store("v" + std::to_string(i), static_cast<int>(i));
    for (const PMEM& each : many) EXPECT_EQ(each.ids().size(), many.size());
    EXPECT_EQ(many[0].info().attached, many.size());
    many.resize(3);
    EXPECT_EQ(many[0].info().attached, 3u);
}

TEST_P(modes, one_pmem_has_one_pool_at_a_time) {
    open();
    expect_error(Code::invalid_argument, [&] { pmem.mmap(path("other"), options()); }, {"munmap"});
    pmem.store("v", 1);
    pmem.munmap();
    pmem.munmap();
    EXPECT_FALSE(pmem.is_mapped());
    pmem.mmap(path("other"), options());
    EXPECT_FALSE(pmem.exists("v"));
    PMEM moved = std::move(pmem);
    EXPECT_FALSE(pmem.is_mapped());
    EXPECT_TRUE(moved.is_mapped());
    moved = PMEM();
    EXPECT_FALSE(moved.is_mapped());
}

TEST_P(modes, before_mmap_everything_says_so) {
    int n = 0;
    const std::function<void()> calls[] = {
        [&] { pmem.store("v", 1); }, [&] { pmem.load<int>("v"); },
        [&] { pmem.load("v", n); },  [&] { pmem.alloc<int>("A", Dimensions{4}); },
        [&] { pmem.ids(); },         [&] { pmem.info(); },
        [&] { pmem.exists("v"); },   [&] { pmem.erase("v"); },
        [&] { pmem.sync(); },        [&] { (void)pmem.view<int>("A"); },
        [&] { pmem.begin(1); },      [&] { pmem.set_attribute("v", "n", 1); },
        [&] { pmem.verify(); },      [&] { (void)pmem.durability(); },
    };
    for (const auto& call : calls) expect_error(Code::invalid_argument, call, {"no pool is open"});
    EXPECT_FALSE(pmem.is_mapped());
}

}  // namespace
}  // namespace pmemcpy::conformance
