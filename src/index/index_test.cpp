// The index beside a pool: whatever becomes of it, a query finds what a look at every object finds.
// Length: one fixture, on which two dozen short stories stand.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <pmemcpy/error.hpp>
#include <pmemcpy/index.hpp>
#include <pmemcpy/json.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/query.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "index/evaluation.hpp"
#include "tests/folder.hpp"

namespace pmemcpy {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> found(const PMEM& pool, const std::string& text) {
    std::vector<std::string> ids;
    for (const Found& one : query(pool, text)) ids.push_back(one.id);
    return ids;
}

/// Without any index.
std::vector<std::string> looked_for(const PMEM& pool, const std::string& text) {
    std::vector<std::string> ids = pool.ids();
    const auto groups = pool.groups();
    ids.insert(ids.end(), groups.begin(), groups.end());
    std::sort(ids.begin(), ids.end());
    index::Evaluation evaluation(Query::parse(text).condition()->node());
    std::vector<std::string> met;
    for (const std::string& id : ids) {
        index::Object object(pool, id);
        std::vector<Box> boxes;
        if (evaluation.meets(object, boxes)) met.push_back(id);
    }
    return met;
}

bool by_index(const PMEM& pool, const std::string& text) {
    return explain(pool, text).find("found by the index") != std::string::npos;
}

class index_beside_a_pool : public ::testing::Test {
protected:
    PMEM open(IndexMode mode = IndexMode::none, Mode how = Mode::create_or_update) const {
        Options options;
        options.max_bytes = 64 << 20;
        options.index = mode;
        options.mode = how;
        PMEM pool;
        pool.mmap(path_, options);
        return pool;
    }
    bool is_there() const { return std::filesystem::exists(path_ + ".idx"); }
    static void expect(Code code, const std::function<void()>& call) {
        try {
            call();
            ADD_FAILURE() << "expected " << name_of(code);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), code) << error.what();
        }
    }
    /// In another process, which then dies without a word.
    void in_another(const std::function<void(PMEM&)>& f) const {
        const pid_t child = ::fork();
        if (child == 0) {
            PMEM pool = open();
            f(pool);
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_EQ(status, 0);
    }

    Folder folder_;
    std::string path_ = folder_ / "pool";
};

TEST_F(index_beside_a_pool, is_only_where_one_is_wanted) {
    PMEM pool = open();
    pool.store("a", 1);
    EXPECT_EQ(index_mode(pool), IndexMode::none);
    EXPECT_FALSE(is_there());
    EXPECT_FALSE(by_index(pool, "value = 1"));
    flush_index(pool);
    EXPECT_FALSE(is_there());
}

TEST_F(index_beside_a_pool, has_what_was_stored_when_the_call_returns) {
    PMEM pool = open(IndexMode::sync);
    flush_index(pool);
    EXPECT_EQ(index_mode(pool), IndexMode::sync);
    pool.store("u/a", 1);
    pool.set_attribute("u/a", "author", "li");
    const IndexInfo info = index_info(pool);
    EXPECT_TRUE(info.is_complete);
    EXPECT_EQ(info.changes_behind, 0U);
    EXPECT_EQ(info.objects, 2U);  // the group, too
    EXPECT_EQ(info.trouble, "");
    EXPECT_TRUE(by_index(pool, "author = \"li\""));
    EXPECT_EQ(found(pool, "author = \"li\""), (std::vector<std::string>{"u/a"}));
    EXPECT_EQ(found(pool, "kind = \"group\""), (std::vector<std::string>{"u"}));
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
    std::filesystem::remove_all(path_ + ".idx");
    pool.store("v20", 7);
    EXPECT_EQ(found(pool, "value = 7").size(), 2U);
    flush_index(pool);
    EXPECT_TRUE(is_there());
    EXPECT_TRUE(by_index(pool, "value = 7"));
    EXPECT_EQ(found(pool, "value = 7").size(), 2U);
    pool.munmap();
    std::filesystem::remove_all(path_ + ".idx");
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
        if (entry.path().filename() == "data.mdb")
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
    const pid_t child = ::fork();
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

// A child of fork() has no thread and no lock of its parent's, and destroys what it has a copy of.
TEST_F(index_beside_a_pool, survives_a_fork) {
    PMEM pool = open(IndexMode::async);
    for (int i = 0; i < 200; ++i) pool.store("v" + std::to_string(i), i);
    const pid_t child = ::fork();
    if (child == 0) {
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

std::string draw_change(std::mt19937& random, PMEM& pool) {
    const auto draw = [&](unsigned n) { return static_cast<int>(random() % n); };
    std::string id = (draw(2) == 0 ? "g/" : "") + std::string("v") + std::to_string(draw(30));
    try {
        switch (draw(9)) {
            case 0:
                pool.store(id, draw(10));
                break;
            case 1:
                pool.store(id, std::string(static_cast<std::size_t>(draw(3)), 'x'));
                break;
            case 2:
                pool.alloc<double>(id, Dimensions{4, 2});
                break;
            case 3: {
                const std::vector<double> numbers(4, draw(10));
                pool.store(id, numbers.data(), Box{{static_cast<Extent>(draw(3)), 0}, {2, 2}});
                break;
            }
            case 4:
                pool.set_attribute(id, "a", draw(10) - 5);
                break;
            case 5:
                pool.set_attribute(id, "a",
                                   std::string(draw(2) == 0 ? 500U : 3U, static_cast<char>('a' + draw(3))));
                break;
            case 6:
                pool.set_attribute(
                    id, "j", nlohmann::json{{"b", draw(5)}, {"list", {draw(3), "t", {{"c", draw(3)}}}}});
                break;
            case 7:
                pool.erase(id);
                break;
            default:
                if (draw(2) == 0)
                    pool.rename(id, "r" + std::to_string(draw(5)));
                else
                    pool.remove_attribute(id, "a");
                break;
        }
    } catch (const Error&) {
        // Not there, of another kind: as good.
    }
    return id;
}

const std::vector<std::string> questions = {"value = 3",
                                            "value > 2 and a < 0",
                                            "a = \"aaa\"",
                                            "a >= \"b\"",
                                            "a begins \"bb\"",
                                            "a contains \"cc\"",
                                            "exists(a)",
                                            "not exists(a)",
                                            "a != 2",
                                            "j.b >= 2",
                                            "j.list = 1",
                                            "j.list.c = 2",
                                            "j.list.0 = 1",
                                            "j.list = \"t\"",
                                            "max > 5",
                                            "min <= 3 and kind = \"array\"",
                                            "name ~ \"g/v1*\"",
                                            "under \"g\"",
                                            "kind = \"group\"",
                                            "dtype = \"float64\" or a = 1",
                                            "bytes > 8",
                                            "group = \"/\" and value = \"x\"",
                                            "a in -3..2",
                                            "a in (1, 2, \"aaa\")",
                                            "shape = (4, 2)",
                                            "blocks >= 2",
                                            "changed > now - 1d",
                                            "exists(j)",
                                            "name contains \"1\" and (a > 0 or max > 3)",
                                            "value in 1..4 and not under \"g\"",
                                            "a ~ \"*b\""};

// Whatever is stored, erased and renamed, in whatever order, in one process or in two of which one dies now and then.
TEST_F(index_beside_a_pool, finds_what_a_look_at_all_objects_finds) {
    for (const IndexMode mode : {IndexMode::sync, IndexMode::async}) {
        for (unsigned seed = 0; seed < 6; ++seed) {
            std::filesystem::remove_all(path_ + ".idx");
            std::filesystem::remove(path_);
            std::filesystem::remove(path_ + ".rt");
            PMEM pool = open(mode);
            flush_index(pool);
            std::mt19937 random(seed);
            int used = 0;
            for (int round = 0; round < 25; ++round) {
                if (round % 8 == 7) {
                    const auto theirs = static_cast<unsigned>(random());
                    in_another([&](PMEM& other) {
                        std::mt19937 own(theirs);
                        for (int i = 0; i < 20; ++i) draw_change(own, other);
                    });
                }
                if (round == 12) std::filesystem::remove_all(path_ + ".idx");
                if (round % 10 == 9) {
                    pool.munmap();
                    pool = open();
                }
                for (int i = 0; i < 20; ++i) draw_change(random, pool);
                if (round % 5 == 4) flush_index(pool);
                for (const std::string& question : questions) {
                    std::vector<std::string> wanted;
                    try {
                        wanted = looked_for(pool, question);
                        ASSERT_EQ(found(pool, question), wanted)
                            << question << ", seed " << seed << ", round " << round << "\n"
                            << explain(pool, question);
                    } catch (const Error& error) {
                        EXPECT_EQ(error.kind(), Code::type_mismatch) << error.what();
                    }
                    used += by_index(pool, question) ? 1 : 0;
                }
            }
            EXPECT_GT(used, 200) << "seed " << seed;
        }
    }
}

// Killed anywhere, whoever kept it leaves an index that is caught up, or not believed.
TEST_F(index_beside_a_pool, is_as_good_when_those_who_keep_it_are_killed) {
    PMEM pool = open(IndexMode::sync);
    std::mt19937 random(7);
    for (int round = 0; round < 40; ++round) {
        const auto theirs = static_cast<unsigned>(random());
        const pid_t child = ::fork();
        if (child == 0) {
            PMEM other = open();
            std::mt19937 own(theirs);
            for (;;) draw_change(own, other);
        }
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        draw_change(random, pool);
        if (round % 4 != 3) continue;
        pool.munmap();  // cleans up
        pool = open();
        flush_index(pool);
        for (const std::string& question : questions) {
            std::vector<std::string> wanted;
            try {
                wanted = looked_for(pool, question);
                ASSERT_EQ(found(pool, question), wanted) << question << ", round " << round;
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), Code::type_mismatch) << error.what();
            }
        }
        EXPECT_TRUE(by_index(pool, "value = 3"));
    }
}

}  // namespace
}  // namespace pmemcpy
