// Length: one promise after another of the same pool and its index.
// The index beside a pool: whatever becomes of it, a query finds what a look at every object finds.

#include "index/index_suite.hpp"

#include <fcntl.h>

#include <cstdlib>
#include <fstream>

#include "index/engine/engine.hpp"
#include "index/engine/format.hpp"
#include "index/index.hpp"
#include "os/file.hpp"
#include "os/lock.hpp"

namespace pmemcpy {
namespace {

TEST_F(index_beside_a_pool, is_only_where_one_is_wanted) {
    PMEM pool = open();
    pool.store("a", 1);
    EXPECT_EQ(index_mode(pool), IndexMode::none);
    EXPECT_FALSE(is_there());
    EXPECT_FALSE(by_index(pool, "value = 1"));
    flush_index(pool);
    EXPECT_FALSE(is_there());
}

// Each change that is told costs an index that is up to date at once a transaction. (It took 56 ms with so many attributes when each was
// looked for by its name, and setting them one by one four minutes.)
TEST_F(index_beside_a_pool, is_told_of_several_attributes_once) {
    PMEM pool = open(IndexMode::sync);
    flush_index(pool);
    pool.store("v", 1);
    std::vector<Attribute> most = {{"author", "li"}, {"dt", 0.1}};
    for (int i = 2; i < 4096; ++i) most.emplace_back("n" + std::to_string(i), i);
    const std::uint64_t before = index::Index::of(pool).position();
    pool.set_attributes("v", most);
    EXPECT_EQ(index::Index::of(pool).position(), before + 1);
    EXPECT_EQ(found(pool, "author = 'li' and n7 = 7 and dt = 0.1").size(), 1U);
    EXPECT_THROW(pool.set_attributes("v", {{"author", "wu"}, {"one more", 1}}), Error);
    EXPECT_EQ(found(pool, "author = 'wu'").size(), 1U) << "the one before it is set, and known";
    EXPECT_TRUE(by_index(pool, "author = 'wu'"));
}

TEST_F(index_beside_a_pool, has_what_was_stored_a_moment_ago) {
    PMEM pool = open(IndexMode::async);
    for (int i = 0; i < 100; ++i) pool.store("v" + std::to_string(i), i);
    EXPECT_EQ(found(pool, "value = 42").size(), 1U);
    flush_index(pool);
    EXPECT_EQ(index_info(pool).objects, 100U);
    EXPECT_TRUE(by_index(pool, "value = 42"));
    pool.store("v42", 43);
    EXPECT_TRUE(found(pool, "value = 42").empty());  // at once, whether the thread has come to it or not
    EXPECT_EQ(found(pool, "value = 43").size(), 2U);
}

TEST_F(index_beside_a_pool, can_be_begun_and_ended_later) {
    PMEM pool = open();
    for (int i = 0; i < 500; ++i) pool.store("v" + std::to_string(i), i);
    set_index_mode(pool, IndexMode::async);
    EXPECT_EQ(found(pool, "value < 10").size(), 10U);
    flush_index(pool);
    EXPECT_TRUE(by_index(pool, "value < 10"));
    EXPECT_EQ(found(pool, "value < 10").size(), 10U);
    set_index_mode(pool, IndexMode::none);
    EXPECT_FALSE(is_there());
    EXPECT_FALSE(by_index(pool, "value < 10"));
    pool.store("v500", 1);
    set_index_mode(pool, IndexMode::sync);
    flush_index(pool);
    EXPECT_EQ(found(pool, "value < 10").size(), 11U);
}

void expect_refused(PMEM& pool, IndexMode mode) {
    try {
        set_index_mode(pool, mode);
        ADD_FAILURE() << "it is set in a step";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::unsupported) << error.what();
    }
}

// It said "the pool has no index any more", and after the commit there was a mode without an index.
TEST_F(index_beside_a_pool, is_neither_begun_nor_ended_in_a_step) {
    PMEM pool = open();
    pool.begin(1);
    for (const IndexMode mode : {IndexMode::async, IndexMode::sync, IndexMode::none})
        expect_refused(pool, mode);
    pool.store("v", 1);
    pool.commit(1);
    EXPECT_EQ(index_mode(pool), IndexMode::none);
    EXPECT_FALSE(is_there());
    set_index_mode(pool, IndexMode::sync);
    flush_index(pool);
    EXPECT_TRUE(by_index(pool, "value = 1"));
    pool.begin(2);
    expect_refused(pool, IndexMode::none);
    pool.store("v", 2);
    pool.commit(2);
    flush_index(pool);
    EXPECT_EQ(found(pool, "value = 2").size(), 1U);
    EXPECT_TRUE(by_index(pool, "value = 2"));
}

TEST_F(index_beside_a_pool, keeps_the_mode_of_an_object_that_a_step_has_given_it) {
    PMEM pool = open(IndexMode::sync);
    pool.store("g/v", 1);
    pool.begin(1);
    set_index_mode(pool, "g", IndexMode::none);
    pool.store("g/v", 2);
    pool.commit(1);
    EXPECT_EQ(index_mode(pool, "g/v"), IndexMode::none);
    flush_index(pool);
    EXPECT_EQ(found(pool, "value = 2").size(), 1U);
    pool.begin(2);
    set_index_mode(pool, "g", std::nullopt);
    pool.commit(2);
    flush_index(pool);
    EXPECT_TRUE(by_index(pool, "value = 2"));
}

TEST_F(index_beside_a_pool, is_told_of_what_it_is_not_to_have) {
    PMEM pool = open(IndexMode::sync);
    for (int i = 0; i < 20; ++i) pool.store("scratch/v" + std::to_string(i), i);
    pool.store("kept", 7);
    EXPECT_EQ(index_mode(pool, "scratch/v7"), IndexMode::sync);
    set_index_mode(pool, "scratch", IndexMode::none);
    set_index_mode(pool, "scratch/v3", IndexMode::sync);
    EXPECT_EQ(index_mode(pool, "scratch/v7"), IndexMode::none);
    EXPECT_EQ(index_mode(pool, "scratch/v3"), IndexMode::sync);
    EXPECT_EQ(index_mode(pool, "kept"), IndexMode::sync);
    flush_index(pool);
    EXPECT_NE(explain(pool, "value = 7").find("looked at: 21"), std::string::npos)
        << "19 and their group are not known, nor what v3 has of that group; kept is: "
        << explain(pool, "value = 7");
    EXPECT_EQ(found(pool, "value = 7"), (std::vector<std::string>{"kept", "scratch/v7"}));
    pool.store("scratch/v7", 8);
    pool.store("scratch/new", 7);
    EXPECT_EQ(found(pool, "value = 7"), (std::vector<std::string>{"kept", "scratch/new"}));
    pool.munmap();
    pool = open();
    EXPECT_EQ(index_mode(pool, "scratch/new"), IndexMode::none) << "it is kept in the pool";
    set_index_mode(pool, "scratch", {});
    flush_index(pool);
    EXPECT_NE(explain(pool, "value = 7").find("looked at: 0"), std::string::npos)
        << explain(pool, "value = 7");
    EXPECT_EQ(found(pool, "value = 7"), (std::vector<std::string>{"kept", "scratch/new"}));
}

// The feed has 131,072 places, and what it has forgotten costs a look at everything: a burst without an end is not waited for.
TEST_F(index_beside_a_pool, is_kept_while_one_stores_without_a_pause) {
    PMEM pool = open(IndexMode::async);
    flush_index(pool);
    for (int i = 0; i < 120'000; ++i) pool.store("v", i);
    EXPECT_LT(index_info(pool).changes_behind, 120'000U);
    EXPECT_TRUE(index_info(pool).is_complete);
}

TEST_F(index_beside_a_pool, refuses_modes_of_what_is_not_there) {
    PMEM pool = open();
    pool.store("a", 1);
    expect(Code::invalid_argument, [&] { set_index_mode(pool, "a", IndexMode::sync); });
    set_index_mode(pool, IndexMode::async);
    expect(Code::not_found, [&] { set_index_mode(pool, "b", IndexMode::sync); });
    expect(Code::not_found, [&] { index_mode(pool, "b"); });
    PMEM reader = open(IndexMode::none, Mode::read);
    expect(Code::permission_denied, [&] { set_index_mode(reader, "a", IndexMode::none); });
    EXPECT_EQ(index_mode(reader, "a"), IndexMode::async);
    expect(Code::invalid_argument, [&] { set_index_mode(pool, "/", {}); });
    set_index_mode(pool, "/", IndexMode::sync);
    EXPECT_EQ(index_mode(pool), IndexMode::sync);
    EXPECT_EQ(index_mode(pool, "/"), IndexMode::sync);
}

TEST_F(index_beside_a_pool, follows_what_other_processes_do) {
    PMEM pool = open(IndexMode::sync);
    flush_index(pool);
    in_another([](PMEM& other) {
        other.store("theirs", 5);
        other.munmap();
    });
    EXPECT_TRUE(by_index(pool, "value = 5"));
    EXPECT_EQ(found(pool, "value = 5"), (std::vector<std::string>{"theirs"}));
    in_another([](PMEM& other) {
        other.rename("theirs", "mine");
        other.munmap();
    });
    EXPECT_EQ(found(pool, "value = 5"), (std::vector<std::string>{"mine"}));
    in_another([](PMEM& other) { other.erase("mine"); });  // and dies
    EXPECT_TRUE(found(pool, "value = 5").empty());
}

// A group comes into being with what is renamed into it.
TEST_F(index_beside_a_pool, finds_a_group_that_something_was_renamed_into) {
    PMEM pool = open(IndexMode::sync);
    pool.store("a", 1);
    flush_index(pool);
    pool.rename("a", "g/a");
    flush_index(pool);
    EXPECT_EQ(found(pool, "kind = \"group\""), (std::vector<std::string>{"g"}));
    EXPECT_EQ(index_info(pool).objects, 2U);
}

TEST_F(index_beside_a_pool, is_good_again_after_an_orderly_close) {
    {
        PMEM pool = open(IndexMode::async);
        for (int i = 0; i < 50; ++i) pool.store("v" + std::to_string(i), i);
    }
    {
        const PMEM reader = open(IndexMode::none, Mode::read);
        EXPECT_TRUE(by_index(reader, "value = 7")) << explain(reader, "value = 7");
        EXPECT_EQ(found(reader, "value = 7"), (std::vector<std::string>{"v7"}));
    }
    PMEM pool = open();
    EXPECT_TRUE(by_index(pool, "value = 7")) << explain(pool, "value = 7");
}

TEST_F(index_beside_a_pool, finds_in_a_step_what_only_this_process_sees) {
    PMEM pool = open(IndexMode::sync);
    PMEM other = open();
    flush_index(pool);
    pool.store("v", 1);
    pool.begin(1);
    pool.store("v", 2);
    pool.set_attribute("v", "unit", "K");
    EXPECT_EQ(found(pool, "value = 2").size(), 1U);
    EXPECT_TRUE(found(other, "value = 2").empty());
    EXPECT_EQ(found(other, "value = 1").size(), 1U);
    EXPECT_TRUE(found(other, "exists(unit)").empty());
    pool.commit(1);
    for (const PMEM* one : {&pool, &other}) {
        EXPECT_TRUE(by_index(*one, "value = 2"));
        EXPECT_EQ(found(*one, "value = 2").size(), 1U);
        EXPECT_TRUE(found(*one, "value = 1").empty());
        EXPECT_EQ(found(*one, "exists(unit)").size(), 1U);
    }
    pool.begin(2);
    pool.store("v", 3);
    pool.abandon();
    EXPECT_EQ(found(pool, "value = 2").size(), 1U);
    EXPECT_TRUE(found(pool, "value = 3").empty());
}

// Readers of a step that is open meanwhile must not post what they do not see, and must look again when they do.
TEST_F(index_beside_a_pool, follows_steps_that_overlap) {
    PMEM one = open(IndexMode::sync);
    PMEM two = open();
    flush_index(one);
    one.begin(1);
    one.store("a", 1);
    two.begin(2);
    two.store("b", 2);
    one.commit(1);
    EXPECT_EQ(found(one, "value > 0"), (std::vector<std::string>{"a"}));
    two.commit(2);
    EXPECT_EQ(found(one, "value > 0"), (std::vector<std::string>{"a", "b"}));
}

TEST_F(index_beside_a_pool, may_be_deleted_at_any_moment) {
    PMEM pool = open(IndexMode::sync);
    for (int i = 0; i < 20; ++i) pool.store("v" + std::to_string(i), i);
    flush_index(pool);
    remove_index();
    pool.store("v20", 7);
    EXPECT_EQ(found(pool, "value = 7").size(), 2U);
    flush_index(pool);
    EXPECT_TRUE(is_there());
    EXPECT_TRUE(by_index(pool, "value = 7"));
    EXPECT_EQ(found(pool, "value = 7").size(), 2U);
    pool.munmap();
    remove_index();
    {
        const PMEM reader = open(IndexMode::none, Mode::read);
        EXPECT_FALSE(by_index(reader, "value = 7"));
        EXPECT_EQ(found(reader, "value = 7").size(), 2U);
        EXPECT_FALSE(is_there());  // a reader makes none
    }
    pool = open();
    flush_index(pool);
    EXPECT_TRUE(by_index(pool, "value = 7"));
}

TEST_F(index_beside_a_pool, is_made_anew_when_it_makes_no_sense) {
    {
        PMEM pool = open(IndexMode::sync);
        for (int i = 0; i < 20; ++i) pool.store("v" + std::to_string(i), i);
        flush_index(pool);
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_ + ".idx")) {
        if (entry.path().filename() == index::tree_file)
            std::ofstream(entry.path(), std::ios::trunc) << std::string(50'000, 'x');
    }
    {
        const PMEM reader = open(IndexMode::none, Mode::read);
        EXPECT_EQ(found(reader, "value = 7").size(), 1U);
    }
    PMEM pool = open();
    flush_index(pool);
    EXPECT_EQ(index_info(pool).trouble, "");
    EXPECT_TRUE(by_index(pool, "value = 7"));
    EXPECT_EQ(found(pool, "value = 7").size(), 1U);
}

// Of ids that were added before the damage is met none stays.
TEST_F(index_beside_a_pool, gives_no_id_twice_where_its_names_make_no_sense) {
    PMEM pool = open(IndexMode::sync);
    for (int i = 0; i < 500; ++i) pool.store("v" + std::to_string(i), i);
    flush_index(pool);
    const std::vector<std::string> all = looked_for(pool, "name begins \"v\"");
    EXPECT_EQ(ids(pool, "name begins \"v\""), all);
    const auto engine = index::open_engine_if_there(generation(), 1ULL << 40);
    {
        const auto writing = engine->write();
        std::string key;
        writing->walk(index::Table::names, "", [&](std::string_view at, std::string_view) {
            key = at;
            return true;
        });
        writing->put(index::Table::names, key, "nonsense");
        writing->commit();
    }
    EXPECT_EQ(ids(pool, "name begins \"v\""), all);
    EXPECT_EQ(found(pool, "name begins \"v\""), all);
    // (What index_info() has to tell of it, the thread that keeps the index may have forgotten by then.)
    EXPECT_NE(explain(pool, "name begins \"v\"").find("make no sense"), std::string::npos);
}

TEST_F(index_beside_a_pool, is_not_that_of_another_pool_of_this_name) {
    {
        PMEM pool = open(IndexMode::sync);
        pool.store("old", 7);
        flush_index(pool);
    }
    std::filesystem::remove(path_);
    std::filesystem::remove(path_ + ".rt");
    PMEM pool = open(IndexMode::sync);
    flush_index(pool);
    EXPECT_TRUE(found(pool, "value = 7").empty());
    pool.store("new", 7);
    EXPECT_EQ(found(pool, "value = 7"), (std::vector<std::string>{"new"}));
    pool.munmap();
    pool = open(IndexMode::none, Mode::replace);
    EXPECT_FALSE(is_there());
}

TEST_F(index_beside_a_pool, grows_when_it_is_full) {
    ::setenv("PMEMCPY_INDEX_BYTES", "2097152", 1);  // NOLINT(concurrency-mt-unsafe): no thread is there yet
    PMEM pool = open(IndexMode::sync);
    flush_index(pool);
    for (int i = 0; i < 3000; ++i) {
        const std::string id = "a/long/name/of/something/" + std::to_string(i);
        pool.store(id, i);
        pool.set_attribute(id, "text", std::string(300, static_cast<char>('a' + i % 26)) + std::to_string(i));
    }
    flush_index(pool);
    ::unsetenv("PMEMCPY_INDEX_BYTES");  // NOLINT(concurrency-mt-unsafe): nor any that asks
    EXPECT_EQ(index_info(pool).trouble, "");
    EXPECT_GT(index_info(pool).bytes, 2U << 20);
    EXPECT_TRUE(by_index(pool, "value = 2999"));
    EXPECT_EQ(found(pool, "value >= 2990").size(), 10U);
    EXPECT_EQ(found(pool, "text contains \"b2991\"").size(),
              found(pool, "value = 2991 and text contains \"b2991\"").size());
}

TEST_F(index_beside_a_pool, is_read_by_who_may_only_read) {
    {
        PMEM pool = open(IndexMode::sync);
        for (int i = 0; i < 20; ++i) pool.store("v" + std::to_string(i), i);
        flush_index(pool);
    }
    if (::getuid() != 0) GTEST_SKIP() << "another user can only be played by root";
    std::filesystem::permissions(folder_.path(), std::filesystem::perms{0755});
    PMEM pool = open();
    pool.store("v20", 7);  // not in the copy
    const pid_t child = quiet_fork();
    if (child == 0) {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
        const PMEM reader = open(IndexMode::none, Mode::read);
        const bool is_good = by_index(reader, "value = 7") && found(reader, "value = 7").size() == 2;
        if (!is_good) std::fputs(explain(reader, "value = 7").c_str(), stderr);
        ::_exit(is_good ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST_F(index_beside_a_pool, refuses_readers_that_would_change_it) {
    { const PMEM pool = open(IndexMode::sync); }
    PMEM reader = open(IndexMode::none, Mode::read);
    expect(Code::permission_denied, [&] { set_index_mode(reader, IndexMode::none); });
    expect(Code::permission_denied, [&] { flush_index(reader); });
    PMEM closed;
    expect(Code::invalid_argument, [&] { flush_index(closed); });
}

// A reader's place is its process's for as long as that has a lock on it; else others take it for dead, and use again what it reads. The locks of an
// earlier engine were lost when anybody in the process opened that file and closed it again.
TEST_F(index_beside_a_pool, is_known_by_others_to_be_in_use) {
    PMEM pool = open(IndexMode::sync);
    pool.store("a", 1);
    flush_index(pool);
    EXPECT_EQ(found(pool, "value = 1").size(), 1U);
    const std::string file = generation() + "/" + index::tree_file;
    { const os::File once_more = os::File::open(file, O_RDWR); }
    const pid_t child = quiet_fork();
    if (child == 0) {
        const os::File theirs = os::File::open(file, O_RDWR);
        ::_exit(os::conflicts(theirs, os::LockKind::exclusive, index::slots_at, 1) ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

// A child of fork() has no thread and no lock of its parent's, and destroys what it has a copy of.
TEST_F(index_beside_a_pool, survives_a_fork) {
    PMEM pool = open(IndexMode::async);
    for (int i = 0; i < 200; ++i) pool.store("v" + std::to_string(i), i);
    EXPECT_EQ(found(pool, "value = 1").size(), 1U);
    const pid_t child = quiet_fork();
    if (child == 0) {
        try {
            found(pool, "value = 1");
            ::_exit(2);  // it has read by its parent's place among the readers
        } catch (const Error&) {
        }
        pool = PMEM();
        PMEM mine = open();
        mine.store("child", 1);
        flush_index(mine);
        const bool is_good = found(mine, "value = 1").size() == 2;
        mine.munmap();
        ::_exit(is_good ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    pool.store("parent", 1);
    flush_index(pool);
    EXPECT_EQ(found(pool, "value = 1").size(), 3U);
}

}  // namespace
}  // namespace pmemcpy
