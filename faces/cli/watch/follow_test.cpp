#include "cli/watch/follow.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/folder.hpp"

using namespace pmemcpy;
using namespace pmemcpy::cli;

namespace {

class cli_follow : public testing::Test {
protected:
    cli_follow() {
        Options options;
        options.max_bytes = 16 << 20;
        options.chunk_bytes = 64 << 10;
        pmem.mmap(folder_ / "pool", options);
    }
    void store(const std::string& id, Extent first) {
        const std::array<double, 5> data{};
        pmem.store(id, data.data(), Box{{first}, {5}});
    }
    PMEM pmem;

private:
    Folder folder_;
};

}  // namespace

TEST_F(cli_follow, tells_of_what_came_after_the_first_look) {
    pmem.store("old", 1);
    Follower follower("");
    EXPECT_TRUE(follower.look(pmem).empty());
    EXPECT_TRUE(follower.look(pmem).empty());
    pmem.store("new", 2.0);
    pmem.store("old", 3);
    const auto news = follower.look(pmem);
    ASSERT_EQ(news.size(), 2U);
    EXPECT_EQ(news[0].info.id, "new");  // the oldest first
    EXPECT_EQ(news[0].bytes, sizeof(double));
    EXPECT_EQ(news[1].info.id, "old");
    EXPECT_EQ(news[1].bytes, sizeof(int));
    EXPECT_GT(news[1].bytes_per_second, 0);
    EXPECT_TRUE(follower.look(pmem).empty());
}

TEST_F(cli_follow, counts_the_bytes_of_new_blocks_only) {
    pmem.alloc<double>("u", {20});
    store("u", 0);
    Follower follower("u");
    follower.look(pmem);
    store("u", 5);
    store("u", 10);
    auto news = follower.look(pmem);
    ASSERT_EQ(news.size(), 1U);
    EXPECT_EQ(news[0].bytes, 2 * 5 * sizeof(double));
    store("u", 0);  // in the place of the first block, so that there are as many as before
    news = follower.look(pmem);
    ASSERT_EQ(news.size(), 1U);
    EXPECT_EQ(news[0].bytes, 5 * sizeof(double));
}

TEST_F(cli_follow, tells_of_what_was_erased) {
    pmem.store("a", 1);
    Follower follower("");
    follower.look(pmem);
    pmem.erase("a");
    const auto news = follower.look(pmem);
    ASSERT_EQ(news.size(), 1U);
    EXPECT_TRUE(news[0].is_erased);
    EXPECT_EQ(news[0].info.id, "a");
    EXPECT_TRUE(follower.look(pmem).empty());
}

TEST_F(cli_follow, waits_for_what_is_not_there_yet) {
    Follower follower("late");
    EXPECT_TRUE(follower.look(pmem).empty());
    pmem.store("other", 1);
    EXPECT_TRUE(follower.look(pmem).empty());
    pmem.store("late", 1);
    EXPECT_EQ(follower.look(pmem).size(), 1U);
}

TEST_F(cli_follow, follows_a_group) {
    pmem.store("ocean/a", 1);
    Follower follower("ocean");
    follower.look(pmem);
    pmem.store("ocean/b", 1);
    pmem.store("atmosphere/b", 1);
    const auto news = follower.look(pmem);
    ASSERT_EQ(news.size(), 1U);
    EXPECT_EQ(news[0].info.id, "ocean/b");
}

TEST_F(cli_follow, sees_a_step_when_it_is_committed) {
    pmem.alloc<double>("u", {5});
    PMEM reader;
    Options options;
    options.mode = Mode::read;
    reader.mmap(pmem.info().path, options);
    Follower follower("u");
    follower.look(reader);
    pmem.begin(1);
    store("u", 0);
    EXPECT_TRUE(follower.look(reader).empty());
    pmem.commit(1);
    const auto news = follower.look(reader);
    ASSERT_EQ(news.size(), 1U);
    EXPECT_EQ(news[0].info.step, 1U);
}

TEST_F(cli_follow, finds_all_new_in_another_pool) {
    pmem.store("a", 1);
    Follower follower("");
    follower.look(pmem);
    follower.begin_anew();
    EXPECT_EQ(follower.look(pmem).size(), 1U);
}
