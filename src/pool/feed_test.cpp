#include "pool/feed.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "os/process.hpp"
#include "pool/pool.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::pool {
namespace {

struct Nothing final : Lifecycle {
    void rebuild() override {}
    bool scavenge(std::uint64_t) override { return true; }
    bool leave() override { return true; }
};

/// One attachment of this process.
class Attached {
public:
    explicit Attached(const std::string& path, bool read_only = false)
        : pool_(path, read_only, MapSync::automatic) {
        pool_.attach(lifecycle_);
    }
    ~Attached() { pool_.detach(lifecycle_); }
    Attached(const Attached&) = delete;
    Attached& operator=(const Attached&) = delete;
    Feed& feed() { return pool_.feed(); }
    Pool& pool() { return pool_; }
    void scavenge() { pool_.scavenge_dead(lifecycle_); }

private:
    Nothing lifecycle_;
    Pool pool_;
};

constexpr std::uint64_t all = ~0ULL >> 1;

class feed : public ::testing::Test {
protected:
    feed() {
        Shape shape;
        shape.max_bytes = 4 << 20;
        shape.chunk_bytes = 64 << 10;
        Pool::create(path_, shape);
    }
    bool file_is_there() const { return std::filesystem::exists(path_ + ".feed"); }
    static std::uint64_t place(std::uint64_t i) { return 4096 + 64 * i; }

    Folder folder_;
    std::string path_ = folder_ / "p";
};

TEST_F(feed, is_nothing_before_somebody_follows) {
    Attached one(path_);
    const std::uint64_t position = one.feed().position();
    one.feed().append(place(1));
    EXPECT_FALSE(one.feed().is_running());
    EXPECT_FALSE(file_is_there());
    EXPECT_EQ(one.feed().position(), position);
    EXPECT_TRUE(one.feed().since(position, all).offsets.empty());
    EXPECT_TRUE(one.feed().since(position + 1, all).lost);
}

TEST_F(feed, tells_all_changes_in_order_to_writers_and_readers) {
    Attached one(path_);
    Attached two(path_);
    Attached reader(path_, true);
    one.feed().start();
    two.feed().start();  // the same
    const std::uint64_t begin = reader.feed().position();
    one.feed().append(place(1));
    two.feed().append(place(2));
    two.feed().append_commit();
    one.feed().append(place(1));
    for (Attached* follower : {&one, &two, &reader}) {
        const Changes changes = follower->feed().since(begin, all);
        EXPECT_EQ(changes.offsets, (std::vector<std::uint64_t>{place(1), place(2), place(1)}));
        EXPECT_TRUE(changes.committed);
        EXPECT_FALSE(changes.lost);
        EXPECT_EQ(changes.next, follower->feed().position());
        EXPECT_EQ(changes.left, 0U);
        EXPECT_TRUE(follower->feed().since(changes.next, all).offsets.empty());
    }
    const Changes first = one.feed().since(begin, 1);
    EXPECT_EQ(first.offsets, (std::vector<std::uint64_t>{place(1)}));
    EXPECT_EQ(first.left, 3U);
    EXPECT_EQ(one.feed().since(first.next, 1).offsets, (std::vector<std::uint64_t>{place(2)}));
    EXPECT_EQ(one.feed().since(first.next, 0).left, 3U);
}

// A pool that was restored from a backup had as many changes as before; the index of those that were given up was taken for its own.
TEST_F(feed, of_two_sessions_that_begin_alike_is_at_no_position_of_the_other) {
    const std::string backup = folder_ / "backup";
    std::uint64_t before = 0;
    const auto run = [&] {
        Attached one(path_);
        one.feed().start();
        before = one.feed().position();
        one.feed().append(place(1));
        return one.feed().position();
    };
    run();
    std::filesystem::copy_file(path_, backup);
    const std::uint64_t given_up = run();
    const std::uint64_t began = before;
    std::filesystem::copy_file(backup, path_, std::filesystem::copy_options::overwrite_existing);
    const std::uint64_t other = run();
    EXPECT_EQ(before, began) << "they begin alike";
    EXPECT_NE(other, given_up);
    Attached one(path_);
    EXPECT_TRUE(one.feed().since(given_up, all).lost);
    one.feed().start();
    EXPECT_TRUE(one.feed().since(given_up, all).lost);
    EXPECT_FALSE(one.feed().since(other, all).lost);
}

TEST_F(feed, goes_on_where_it_was_after_an_orderly_close_only) {
    std::uint64_t end = 0;
    {
        Attached one(path_);
        one.feed().start();
        one.feed().append(place(1));
        end = one.feed().position();
    }
    EXPECT_FALSE(file_is_there());
    {
        Attached one(path_);
        EXPECT_EQ(one.feed().position(), end);
        one.feed().start();
        EXPECT_FALSE(one.feed().since(end, all).lost);
        EXPECT_TRUE(one.feed().since(end - 1, all).lost);
    }
    const pid_t child = ::fork();
    if (child == 0) {
        Nothing lifecycle;
        Pool mine(path_, false, MapSync::automatic);
        mine.attach(lifecycle);
        mine.feed().start();
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(file_is_there());
    Attached one(path_);
    EXPECT_FALSE(file_is_there());
    one.feed().start();
    EXPECT_TRUE(one.feed().since(end, all).lost);
}

TEST_F(feed, says_when_it_could_not_keep_all) {
    Attached one(path_);
    one.feed().start();
    const std::uint64_t begin = one.feed().position();
    one.feed().append(place(0));
    const std::uint64_t second = one.feed().position();
    for (std::uint64_t i = 1; i < feed_slots; ++i) one.feed().append(place(i));
    EXPECT_FALSE(one.feed().since(begin, all).lost);
    one.feed().append(place(0));
    EXPECT_TRUE(one.feed().since(begin, all).lost);
    const Changes changes = one.feed().since(second, all);
    EXPECT_FALSE(changes.lost);
    EXPECT_EQ(changes.offsets.size(), feed_slots);
    EXPECT_EQ(changes.offsets.back(), place(0));
}

// Each thread's changes are all there, in its own order, while the ring goes round several times.
TEST_F(feed, keeps_what_many_say_at_once) {
    constexpr std::uint64_t threads = 4;
    constexpr std::uint64_t each = 100'000;
    Attached one(path_);
    Attached two(path_);
    one.feed().start();
    std::uint64_t position = one.feed().position();
    std::vector<std::thread> said;
    std::atomic<std::uint64_t> allowed = feed_slots / 2;
    for (std::uint64_t t = 0; t < threads; ++t) {
        said.emplace_back([&, t] {
            Feed& mine = (t % 2 == 0 ? one : two).feed();
            for (std::uint64_t i = 0; i < each; ++i) {
                while (threads * i >= allowed) std::this_thread::yield();
                mine.append(place(t * each + i));
            }
        });
    }
    std::vector<std::uint64_t> next(threads, 0);
    std::uint64_t seen = 0;
    while (seen < threads * each) {
        const Changes changes = two.feed().since(position, all);
        ASSERT_FALSE(changes.lost);
        position = changes.next;
        for (const std::uint64_t offset : changes.offsets) {
            const std::uint64_t i = (offset - place(0)) / 64;
            ASSERT_EQ(i % each, next[i / each]++);
        }
        seen += changes.offsets.size();
        allowed += changes.offsets.size();
    }
    for (std::thread& thread : said) thread.join();
}

// Killed anywhere, it leaves no hole at which others would wait; and whoever cleans up says that something may be missing.
TEST_F(feed, goes_on_when_those_who_say_are_killed) {
    Attached one(path_);
    one.feed().start();
    for (int round = 0; round < 50; ++round) {
        const std::uint64_t begin = one.feed().position();
        const pid_t child = ::fork();
        if (child == 0) {
            Nothing lifecycle;
            Pool mine(path_, false, MapSync::automatic);
            mine.attach(lifecycle);
            for (std::uint64_t i = 0;; ++i) mine.feed().append(place(i % 1000));
        }
        while (one.feed().position() == begin) std::this_thread::yield();
        os::sleep_ns(static_cast<std::uint64_t>(round) * 7'000);
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        const std::uint64_t before = one.feed().position();
        one.feed().append(place(7000));
        const Changes changes = one.feed().since(before, all);
        ASSERT_GE(changes.offsets.size(), 1U);
        ASSERT_EQ(changes.offsets.back(), place(7000));
        ASSERT_FALSE(changes.lost);
        one.scavenge();
        ASSERT_TRUE(one.feed().since(before, all).lost);
    }
}

TEST_F(feed, is_not_believed_when_somebody_has_removed_its_file) {
    Attached one(path_);
    one.feed().start();
    const std::uint64_t begin = one.feed().position();
    std::filesystem::remove(path_ + ".feed");
    {
        Attached late(path_);
        late.feed().append(place(1));  // nobody can hear it
    }
    EXPECT_TRUE(one.feed().since(begin, all).lost);
    one.feed().append(place(2));
    one.feed().start();
    EXPECT_TRUE(file_is_there());
    EXPECT_TRUE(one.feed().since(begin, all).lost);
    const std::uint64_t again = one.feed().position();
    one.feed().append(place(3));
    EXPECT_EQ(one.feed().since(again, all).offsets, (std::vector<std::uint64_t>{place(3)}));
}

TEST_F(feed, may_be_read_by_whoever_may_read_the_pool) {
    for (const auto& [pool_mode, wanted] :
         std::map<unsigned, unsigned>{{0644, 0644}, {0600, 0600}, {0664, 0664}}) {
        std::filesystem::permissions(path_, std::filesystem::perms{pool_mode});
        Attached one(path_);
        one.feed().start();
        EXPECT_EQ(static_cast<unsigned>(std::filesystem::status(path_ + ".feed").permissions()), wanted);
    }
}

TEST_F(feed, calls_back_after_each_change_that_this_process_says) {
    Attached one(path_);
    std::vector<std::uint64_t> said;
    one.feed().set_after_append([&](std::uint64_t what) { said.push_back(what); });
    one.feed().append(place(1));
    EXPECT_TRUE(said.empty());
    one.feed().start();
    one.feed().append(place(1));
    one.feed().append_commit();
    EXPECT_EQ(said, (std::vector<std::uint64_t>{place(1), 0}));
}

}  // namespace
}  // namespace pmemcpy::pool
