// An index that nobody tells of changes, because the file of the feed is gone or cannot be made.

#include "index/index_suite.hpp"

namespace pmemcpy {
namespace {

class index_without_a_feed : public index_beside_a_pool {};

// Under `ulimit -f` the feed could not be made, and to bring the index up to date never ended: nothing told it of what had changed.
TEST_F(index_without_a_feed, fails_where_no_feed_can_be_made_and_does_not_wait_for_one) {
    open(IndexMode::sync).munmap();
    std::filesystem::create_directory(path_ + ".feed");
    PMEM pool = open();
    pool.store("a", 1);
    EXPECT_THROW(flush_index(pool), Error);
    EXPECT_EQ(found(pool, "value = 1"), std::vector<std::string>{"a"});
    std::filesystem::remove(path_ + ".feed");
    flush_index(pool);
    EXPECT_EQ(found(pool, "value = 1"), std::vector<std::string>{"a"});
}

TEST_F(index_without_a_feed, takes_another_feed_when_its_own_was_removed) {
    PMEM pool = open(IndexMode::sync);
    pool.store("a", 1);
    flush_index(pool);
    std::filesystem::remove(path_ + ".feed");
    in_another([](PMEM& other) { other.store("b", 2); });
    flush_index(pool);
    EXPECT_EQ(found(pool, "value > 0"), (std::vector<std::string>{"a", "b"}));
    pool.store("c", 3);
    flush_index(pool);
    EXPECT_EQ(found(pool, "value > 0"), (std::vector<std::string>{"a", "b", "c"}));
}

// One that was cut off in the middle was taken for a user's own file, and nobody heard anything any more. A mere reader, which may not say
// that it is no feed, ended by a signal.
TEST_F(index_without_a_feed, takes_another_feed_when_its_own_was_cut_off) {
    int i = 0;
    for (const std::uint64_t keep : {std::uint64_t{0}, std::uint64_t{4096}}) {
        PMEM pool = open(IndexMode::sync);
        const PMEM reader = open(IndexMode::none, Mode::read);
        pool.store("a", i);
        flush_index(pool);
        EXPECT_EQ(found(reader, "value = " + std::to_string(i)).size(), 1U);
        std::filesystem::resize_file(path_ + ".feed", keep);
        EXPECT_EQ(found(reader, "value = " + std::to_string(i)).size(), 1U);
        pool.store("a", ++i);
        EXPECT_EQ(found(reader, "value = " + std::to_string(i)).size(), 1U);
        flush_index(pool);
        EXPECT_TRUE(by_index(pool, "value = 1"));
        EXPECT_EQ(index_info(pool).changes_behind, 0U);
        EXPECT_EQ(found(pool, "value = " + std::to_string(i)).size(), 1U);
    }
}

}  // namespace
}  // namespace pmemcpy
