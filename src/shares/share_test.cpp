#include "shares/share.hpp"

#include "tests/folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace pmemcpy::shares {
namespace {

namespace fs = std::filesystem;

class share : public testing::Test {
protected:
    static std::array<std::uint8_t, 16> identity(std::uint8_t pool) { return {pool, 1, 2, 3}; }
    std::unique_ptr<Share> open(std::uint8_t pool, const Terms& terms = {.together_bytes = 1000}) const {
        return Share::open(folder_.path(), identity(pool), terms);
    }
    static void use(const Share& its, std::uint64_t bytes) {
        its.publish([=] { return bytes; });
    }
    View look(std::uint8_t pool = 99) const { return Share::look(folder_.path(), identity(pool), {}); }
    /// Of a pool's own directory, without which it cannot have anything there.
    void make_directory(std::uint8_t pool) const {
        std::array<char, 64> name{};
        std::snprintf(name.data(), name.size(), "pmemcpy-%02x010203000000000000000000000000", pool);
        fs::create_directory(folder_.path() / name.data());
    }
    std::string file() const {
        for (const auto& entry : fs::directory_iterator(folder_.path())) {
            if (entry.path().filename().string().starts_with("pmemcpy-ledger")) return entry.path();
        }
        return {};
    }
    /// Runs it in a process that is killed then.
    template <class F>
    static void in_one_that_dies(const F& f) {
        const pid_t child = ::fork();
        if (child == 0) {
            f();
            ::kill(::getpid(), SIGKILL);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
    }

    Folder folder_;
};

TEST_F(share, who_is_alone_has_no_others_and_pays_no_look) {
    const auto mine = open(1, {});
    ASSERT_NE(mine, nullptr);
    use(*mine, 500);
    EXPECT_FALSE(mine->standing(500));
    EXPECT_TRUE(look(1).others.empty());
}

TEST_F(share, what_all_may_use_together_is_kept_by_one_alone_as_well) {
    const auto mine = open(1);
    use(*mine, 600);
    EXPECT_EQ(mine->standing(600)->room_bytes, 400U);
}

TEST_F(share, the_least_that_anybody_says_of_what_all_may_use_counts) {
    const auto mine = open(1, {});
    const auto its = open(2, {.together_bytes = 800});
    EXPECT_EQ(mine->standing(100)->room_bytes, 700U);
}

TEST_F(share, another_pool_is_seen_and_what_it_uses) {
    const auto mine = open(1, {.weight = 3, .together_bytes = 1000});
    const auto its = open(2);
    use(*its, 250);
    EXPECT_EQ(mine->standing(0)->part_bytes, 750U);
    EXPECT_EQ(mine->standing(0)->room_bytes, 750U);
    const View view = look(1);
    ASSERT_EQ(view.others.size(), 1U);
    EXPECT_EQ(view.others[0].used_bytes, 250U);
    EXPECT_TRUE(view.others[0].is_open);
    EXPECT_EQ(view.part_bytes, 750U);
    EXPECT_EQ(view.total_bytes, 1000U);
}

TEST_F(share, several_processes_of_a_pool_are_one) {
    const auto mine = open(1);
    const auto also_mine = open(1);
    const auto its = open(2);
    EXPECT_EQ(look(2).others.size(), 1U);
    EXPECT_EQ(its->standing(0)->part_bytes, 500U);
    use(*also_mine, 100);
    EXPECT_EQ(its->standing(0)->room_bytes, 900U);
}

TEST_F(share, what_the_dead_have_left_counts_and_their_part_does_not) {
    make_directory(2);
    const auto mine = open(1);
    in_one_that_dies([&] {
        const auto its = open(2);
        use(*its, 300);
    });
    EXPECT_EQ(mine->standing(0)->part_bytes, 700U);
    EXPECT_EQ(mine->standing(0)->room_bytes, 700U);
    ASSERT_EQ(look(1).others.size(), 1U);
    EXPECT_FALSE(look(1).others[0].is_open);
}

TEST_F(share, what_was_removed_under_the_ledger_is_noticed_by_the_next_who_comes) {
    in_one_that_dies([&] {
        const auto its = open(2);
        use(*its, 300);
    });
    const auto mine = open(1);
    EXPECT_EQ(mine->standing(0)->room_bytes, 1000U);
}

TEST_F(share, who_needs_room_is_given_way_until_it_has_it_or_is_gone) {
    const auto mine = open(1);
    auto its = open(2);
    use(*mine, 1000);
    EXPECT_EQ(mine->standing(1000)->excess_bytes, 0U);
    its->want(0, 600);  // more than its part
    EXPECT_EQ(mine->standing(1000)->excess_bytes, 0U);
    its->want(0, 100);
    EXPECT_EQ(mine->standing(1000)->excess_bytes, 500U);
    its.reset();
    use(*mine, 900);
    while (mine->standing(900)->room_bytes != 100) ::usleep(1000);  // who is here is asked now and then
}

TEST_F(share, slots_of_who_left_nothing_are_used_again) {
    for (int i = 0; i < 600; ++i) {
        const auto mine = open(static_cast<std::uint8_t>(i % 250 + 1));
        ASSERT_NE(mine, nullptr) << i;
        EXPECT_EQ(mine->standing(0)->part_bytes, 1000U);
    }
}

TEST_F(share, a_ledger_that_is_removed_is_noticed) {
    const auto mine = open(1);
    EXPECT_TRUE(mine->is_there());
    fs::remove(file());
    EXPECT_FALSE(mine->is_there());
    const auto its = open(2);
    EXPECT_EQ(its->standing(0)->part_bytes, 1000U);
}

TEST_F(share, a_ledger_that_is_cut_off_or_something_else_is_no_signal_and_no_ledger) {
    const auto mine = open(1);
    const auto its = open(2);
    fs::resize_file(file(), 0);
    use(*mine, 100);
    EXPECT_FALSE(mine->standing(100));
    mine->want(100, 100);
    const Share::Turn turn(mine.get(), 0);
    turn.wrote(1);
    fs::remove(file());
    std::ofstream(folder_.path() / "x") << "y";
    const auto fresh = open(1);
    const std::string path = file();
    std::ofstream(path) << std::string(16384, 'x');
    EXPECT_EQ(open(3), nullptr);
    fs::remove(path);
    fs::create_symlink(folder_.path() / "x", path);
    EXPECT_EQ(open(3), nullptr);
    EXPECT_EQ(fs::file_size(folder_.path() / "x"), 1U);
}

// Opening grew such a file to the length of a ledger, and put a ledger's mark over zeros at its begin.
TEST_F(share, a_file_of_somebody_elses_with_its_name_stays_as_it_is) {
    static_cast<void>(open(1));
    const std::string path = file();
    for (const std::string& content : {std::string("mine"), std::string("what a user has written"),
                                       std::string(100, '\0'), std::string(20000, '\0')}) {
        fs::remove(path);
        std::ofstream(path) << content;
        fs::permissions(path, fs::perms(0640));
        EXPECT_EQ(open(2), nullptr) << content.size();
        EXPECT_EQ(fs::file_size(path), content.size());
        EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
        std::ifstream in(path, std::ios::binary);
        EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(in), {}) == content);
    }
}

// A process made it for its own user, and was killed before it let the others in: they were shut out for ever.
TEST_F(share, lets_in_others_where_its_maker_did_not_come_to_it) {
    fs::permissions(folder_.path(), fs::perms::all);
    static_cast<void>(open(1));
    const std::string path = file();
    fs::remove(path);
    ::close(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
    EXPECT_NE(open(1), nullptr);
    EXPECT_EQ(fs::status(path).permissions(), fs::perms(0666));
    if (::getuid() != 0) GTEST_SKIP() << "only root can be another user";
    const pid_t other = ::fork();
    if (other == 0) ::_exit(::setuid(12345) == 0 && open(2) != nullptr ? 0 : 1);
    int status = -1;
    ::waitpid(other, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST_F(share, any_words_in_it_are_some_shares) {
    const auto mine = open(1);
    const auto its = open(2);
    std::string bytes(16384, '\xff');
    const std::string was = [&] {
        std::ifstream in(file(), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    }();
    bytes.replace(0, 8, was.substr(0, 8));
    bytes.replace(64, 8, was.substr(64, 8));
    const int fd = ::open(file().c_str(), O_WRONLY);
    ASSERT_EQ(::pwrite(fd, bytes.data(), bytes.size(), 0), 16384);
    ::close(fd);
    EXPECT_LE(mine->standing(100).value_or(Standing{}).room_bytes, 1000U);
    const Share::Turn turn(mine.get(), 0);
    turn.wrote(100 << 20);
    EXPECT_LE(look(1).others.size(), 255U);
}

// Counted, not timed: two that always have something to write, as fast as they can.
TEST_F(share, who_has_three_times_the_share_writes_three_times_as_much) {
    const auto one = open(1, {.weight = 1});
    const auto three = open(2, {.weight = 3});
    constexpr std::uint64_t piece = 1 << 20;
    constexpr std::uint64_t most = 400;  // pieces, of the one that comes there first
    std::atomic<std::uint64_t> of_one = 0, of_three = 0;
    std::atomic<bool> ends = false;
    std::atomic<int> ready = 0;
    const auto write = [&](const Share& its, std::atomic<std::uint64_t>& count) {
        const Share::Turn turn(&its, 10);
        ++ready;
        while (ready < 2) std::this_thread::yield();
        while (!ends) {
            turn.wrote(piece, [&] { return !ends; });
            if (!ends && ++count == most) ends = true;
        }
    };
    std::thread other([&] { write(*one, of_one); });
    write(*three, of_three);
    other.join();
    EXPECT_EQ(of_three, most);
    EXPECT_NEAR(static_cast<double>(of_one), most / 3.0, most / 3.0 * 0.1);
}

TEST_F(share, who_was_away_is_not_ahead_and_not_behind_when_it_comes_back) {
    const auto mine = open(1, {});
    {
        const Share::Turn turn(mine.get(), 0);
        turn.wrote(std::uint64_t{1} << 40);
    }
    const auto its = open(2, {});
    const Share::Turn turn(its.get(), 10);
    const Share::Turn again(mine.get(), 10);
    int waits = 0;
    const auto count = [&] {
        ++waits;
        return false;
    };
    again.wrote(1 << 20, count);  // a lead of a piece is allowed
    turn.wrote(1 << 20, count);
    EXPECT_EQ(waits, 0);
    turn.wrote(100 << 20, count);
    EXPECT_EQ(waits, 1);
}

TEST_F(share, nobody_waits_for_who_is_dead_or_has_nothing_to_write) {
    const auto mine = open(1, {});
    in_one_that_dies([&] {
        const auto its = open(2, {});
        const Share::Turn turn(its.get(), 10);
        turn.wrote(1);
        ::kill(::getpid(), SIGKILL);
    });
    const auto idle = open(3, {});
    const Share::Turn turn(mine.get(), 10);
    turn.wrote(std::uint64_t{1} << 30, [] {
        ADD_FAILURE() << "waits";
        return false;
    });
}

// It is waited for until what it said is over, a second here; and then not again.
TEST_F(share, who_is_stopped_in_its_turn_does_not_hold_others_up_for_ever) {
    const auto mine = open(1, {});
    std::array<int, 2> said{};
    ASSERT_EQ(::pipe(said.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto its = open(2, {});
        const Share::Turn turn(its.get(), 0);
        static_cast<void>(!::write(said[1], "x", 1));
        ::raise(SIGSTOP);
        ::_exit(0);
    }
    char x = 0;
    ASSERT_EQ(::read(said[0], &x, 1), 1);
    int status = 0;
    ::waitpid(child, &status, WUNTRACED);
    const Share::Turn turn(mine.get(), 0);
    int waits = 0;
    for (int i = 0; i < 100; ++i) {
        turn.wrote(10 << 20, [&] {
            ++waits;
            return true;
        });
    }
    EXPECT_GT(waits, 0);
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    ::close(said[0]);
    ::close(said[1]);
}

}  // namespace
}  // namespace pmemcpy::shares
