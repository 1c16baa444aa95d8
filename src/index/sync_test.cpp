// An index that who stores keeps: many changes are brought in at a time, and none is missed meanwhile.

#include <chrono>
#include <filesystem>
#include <future>
#include <vector>

#include <fcntl.h>

#include "index/index_suite.hpp"
#include "os/lock.hpp"
#include "store/store.hpp"

namespace pmemcpy {
namespace {

constexpr std::uint64_t most_behind = 256;

TEST_F(index_beside_a_pool, finds_what_was_stored_when_the_call_returns) {
    PMEM pool = open(IndexMode::sync);
    flush_index(pool);
    EXPECT_EQ(index_mode(pool), IndexMode::sync);
    pool.store("u/a", 1);
    pool.set_attribute("u/a", "author", "li");
    for (int look = 0; look < 2; ++look) {
        EXPECT_TRUE(index_info(pool).is_complete);
        EXPECT_TRUE(by_index(pool, "author = \"li\""));
        EXPECT_EQ(found(pool, "author = \"li\""), (std::vector<std::string>{"u/a"}));
        EXPECT_EQ(found(pool, "kind = \"group\""), (std::vector<std::string>{"u"}));
        wait_until_all_is_in(pool);
    }
    EXPECT_EQ(index_info(pool).objects, 2U);  // the group, too
    EXPECT_EQ(index_info(pool).trouble, "");
}

// It comes into being with what is stored in it, which may be gone before anybody looks what has been stored.
TEST_F(index_beside_a_pool, finds_a_group_whose_content_is_gone_again) {
    PMEM pool = open(IndexMode::async);
    flush_index(pool);
    for (int i = 0; i < 200; ++i) {
        const std::string group = "g" + std::to_string(i);
        pool.store(group + "/deep/x", i);
        pool.erase(group + "/deep/x");
        pool.erase(group + "/deep");
    }
    flush_index(pool);
    EXPECT_EQ(found(pool, "kind = \"group\"").size(), 200U);
    EXPECT_TRUE(by_index(pool, "kind = \"group\""));
    EXPECT_EQ(index_info(pool).objects, 200U);
}

// Each change had a transaction of its own once: an object of 512 KiB took four times as long to store as without an index.
TEST_F(index_beside_a_pool, is_never_far_behind_who_stores) {
    PMEM pool = open(IndexMode::sync);
    flush_index(pool);
    for (int i = 0; i < 1000; ++i) {
        pool.store("v" + std::to_string(i), i);
        EXPECT_LE(index_info(pool).changes_behind, most_behind) << i;
        EXPECT_TRUE(by_index(pool, "value = " + std::to_string(i))) << i;
        EXPECT_EQ(found(pool, "value = " + std::to_string(i)).size(), 1U) << i;
    }
    wait_until_all_is_in(pool);
}

// Others' changes count as well: whoever comes to the 257th brings in all, and who has come by the same number meanwhile does not again.
TEST_F(index_beside_a_pool, is_never_far_behind_several_who_store) {
    PMEM pool = open(IndexMode::sync);
    flush_index(pool);
    constexpr int processes = 3;
    constexpr int objects = 400;
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i) {
        children.push_back(quiet_fork());
        if (children.back() != 0) continue;
        PMEM mine = open();
        bool is_good = true;
        for (int k = 0; k < objects; ++k) {
            mine.store("p" + std::to_string(i) + "/" + std::to_string(k), k);
            // Each of the others may have stored one more, and not be back.
            is_good = is_good && index_info(mine).changes_behind <= most_behind + processes;
        }
        ::_exit(is_good ? 0 : 1);  // and dies with what is not in it yet
    }
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(found(pool, "value = 399").size(), 3U);
    EXPECT_EQ(found(pool, "value >= 0").size(), 1200U);
    flush_index(pool);
    EXPECT_EQ(found(pool, "value >= 0").size(), 1200U);
}

// Once, all who stored stood still while one brought in what all had changed. But who says that he is at it, and is stopped there, holds
// nobody up for ever.
TEST_F(index_beside_a_pool, is_not_waited_for_as_long_as_it_is_not_far_behind) {
    PMEM pool = open(IndexMode::sync);
    flush_index(pool);
    const auto other = store::Store::open(path_, Options{.mode = Mode::update});
    {
        const auto is_at_it = other->try_to_index();
        ASSERT_TRUE(is_at_it);
        for (int i = 0; i < 600; ++i) {
            pool.store("v" + std::to_string(i), i);
            EXPECT_LE(index_info(pool).changes_behind, most_behind) << i;
        }
        EXPECT_EQ(found(pool, "value >= 0").size(), 600U);
    }
    other->close();
    wait_until_all_is_in(pool);
    EXPECT_EQ(found(pool, "value >= 0").size(), 600U);
}

// A newcomer waited in the kernel for a process that was stopped while it wrote the index, though the index had long been there.
TEST_F(index_beside_a_pool, keeps_nobody_from_opening_the_pool_while_it_is_being_written) {
    PMEM pool = open(IndexMode::async);
    pool.store("x", 1);
    flush_index(pool);
    std::vector<os::File> locked;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_ + ".idx")) {
        if (!entry.is_regular_file()) continue;
        locked.push_back(os::File::open(entry.path(), O_RDWR));
        os::lock(locked.back(), os::LockKind::exclusive, 0, 4096);
    }
    EXPECT_FALSE(locked.empty());
    auto newcomer = std::async(std::launch::async, [this] {
        PMEM other;
        other.mmap(path_, Options{.mode = Mode::update});
        return other.load<int>("x");
    });
    const bool is_in_time = newcomer.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    EXPECT_TRUE(is_in_time);
    locked.clear();
    EXPECT_EQ(newcomer.get(), 1);
}

TEST_F(index_beside_a_pool, has_soon_what_is_to_be_there_soon) {
    PMEM pool = open(IndexMode::async);
    pool.make_group("urgent");
    set_index_mode(pool, "urgent", IndexMode::sync);
    for (int i = 0; i < 50; ++i) {
        for (int k = 0; k < 20; ++k) pool.store("v", k);
        pool.store("urgent/v", i);
        EXPECT_LE(index_info(pool).changes_behind, most_behind) << i;
    }
}

}  // namespace
}  // namespace pmemcpy
