#include "heat/tally.hpp"

#include "os/calls.hpp"
#include "tests/folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pmemcpy::heat {
namespace {

constexpr double hour_s = 3600;

class tally : public testing::Test {
protected:
    tally() { std::ofstream(path_) << "a pool"; }
    std::shared_ptr<Tally> open(std::uint8_t pool = 1, bool read_only = false) const {
        std::array<std::uint8_t, 16> uuid{};
        uuid[0] = pool;
        return Tally::open(os::File::open(path_, O_RDWR), uuid, read_only);
    }
    double reads(const Tally& it, std::uint64_t key) const {
        const auto past = it.past_of(key, hour_s);
        return past ? past->reads : -1;
    }

    const Folder here_;
    const std::string path_ = here_ / "pool";
};

TEST_F(tally, counts_what_all_who_have_it_open_count) {
    const auto one = open();
    const auto two = open();
    one->read(7, hour_s);
    two->read(7, hour_s);
    two->add(Count::brought_up, 3);
    one->add(2, Flow::read_bytes, 100);
    EXPECT_NEAR(reads(*one, 7), 2, 0.01);
    EXPECT_EQ(one->count(Count::brought_up), 3U);
    EXPECT_EQ(two->flow(2, Flow::read_bytes), 100U);
    EXPECT_EQ(two->flow(3, Flow::read_bytes), 0U);
    EXPECT_EQ(reads(*one, 8), -1) << "nothing is known of what nobody read";
    EXPECT_NEAR(reads(*open(1, true), 7), 2, 0.01) << "who may only read the pool sees it";
}

TEST_F(tally, what_is_read_fades) {
    const auto it = open();
    it->read(7, 0.02, 64);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto past = it->past_of(7, 0.02);
    ASSERT_TRUE(past);
    EXPECT_LT(past->reads, 3);
}

TEST_F(tally, outlives_those_who_count_and_is_begun_anew_for_another_pool) {
    open()->read(7, hour_s);
    EXPECT_NEAR(reads(*open(), 7), 1, 0.01);
    EXPECT_EQ(reads(*open(2), 7), -1);
    EXPECT_EQ(open(1, true), nullptr) << "it is the other pool's now, and who may only read makes none";
}

TEST_F(tally, may_vanish_and_may_hold_anything) {
    auto it = open();
    std::filesystem::remove(path_ + ".heat");
    it->read(7, hour_s);
    EXPECT_NEAR(reads(*it, 7), 1, 0.01);
    EXPECT_EQ(reads(*open(), 7), -1);
    {
        std::fstream file(path_ + ".heat", std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(offsetof(HeatFile, least_score)));
        const std::vector<char> noise(sizeof(HeatFile) - offsetof(HeatFile, least_score), '\xfe');
        file.write(noise.data(), static_cast<std::streamsize>(noise.size()));
    }
    it = open();
    ASSERT_NE(it, nullptr);
    EXPECT_LE(it->least_score(0), tier::most_heat);
    it->read(7, hour_s);
    EXPECT_NEAR(reads(*it, 7), 1, 0.01);
}

// A process that has it open counts in memory: where that was cut off, each load in the pool was a signal.
TEST_F(tally, of_a_file_that_is_cut_off_is_no_signal_and_counts_nothing) {
    const auto it = open();
    it->read(7, hour_s);
    std::filesystem::resize_file(path_ + ".heat", 0);
    it->add(Count::loads);
    it->add(2, Flow::reads, 1);
    it->read(7, hour_s);
    it->mark(7, mark_soon, 0);
    it->begin_counting();
    it->set_least_score(0, 1);
    EXPECT_EQ(reads(*it, 7), -1);
    EXPECT_EQ(it->count(Count::loads) + it->flow(2, Flow::reads) + it->least_score(0) + it->since_ns(), 0U);
    EXPECT_EQ(it->marks_of(7), 0U);

    // Between the look at its length and the look into it.
    static std::string cut_off;
    std::filesystem::remove(path_ + ".heat");
    open()->read(7, hour_s);
    cut_off = path_ + ".heat";
    os::Calls fake = os::system_calls();
    fake.mmap = [](void* at, std::size_t length, int access, int flags, int fd, off_t offset) {
        if (fd >= 0 && !cut_off.empty()) std::filesystem::resize_file(std::exchange(cut_off, ""), 0);
        return os::system_calls().mmap(at, length, access, flags, fd, offset);
    };
    const os::ScopedCalls scope(fake);
    EXPECT_EQ(open(1, true), nullptr);
}

TEST_F(tally, leaves_what_is_no_such_file_alone_and_goes_without) {
    std::ofstream(path_ + ".heat") << "what a user has written";
    EXPECT_EQ(open(), nullptr);
    EXPECT_EQ(std::filesystem::file_size(path_ + ".heat"), 23U);
    std::filesystem::resize_file(path_ + ".heat", 0);
    EXPECT_NE(open(), nullptr);
}

TEST_F(tally, a_link_in_its_place_is_not_followed) {
    std::ofstream(here_ / "precious") << "precious";
    std::filesystem::create_symlink(here_ / "precious", path_ + ".heat");
    static_cast<void>(open());
    EXPECT_EQ(std::filesystem::file_size(here_ / "precious"), 8U);
}

TEST_F(tally, a_pool_without_room_beside_it_goes_without) {
    std::filesystem::create_directory(path_ + ".heat");
    EXPECT_EQ(open(), nullptr);
}

TEST_F(tally, what_is_read_stays_in_a_table_through_which_others_pass) {
    const auto it = open();
    for (int i = 0; i < 50; ++i) it->read(1, hour_s);
    for (std::uint64_t key = 2; key < 10 * bucket_count * bucket_things; ++key) it->read(key, hour_s);
    EXPECT_NEAR(reads(*it, 1), 50, 1);
}

TEST_F(tally, marks_are_set_taken_away_and_told) {
    const auto it = open();
    EXPECT_EQ(it->mark_known(7, mark_left, 0), 0U);
    EXPECT_EQ(it->marks_of(7), 0U) << "nothing is made for what is not known";
    EXPECT_EQ(it->mark(7, mark_soon, mark_no_more), 0U);
    EXPECT_EQ(it->past_of(7, hour_s)->need, tier::Need::soon);
    EXPECT_EQ(it->mark(7, mark_no_more, mark_soon), mark_soon);
    EXPECT_EQ(it->past_of(7, hour_s)->need, tier::Need::no_more);
}

TEST_F(tally, processes_and_threads_that_count_at_once_lose_nothing_and_may_be_killed) {
    constexpr int processes = 3;
    constexpr int rounds = 20000;
    std::vector<pid_t> children;
    for (int k = 0; k < processes; ++k) {
        const pid_t child = fork();
        if (child == 0) {
            const auto it = open();
            std::thread other([&] {
                for (int i = 0; i < rounds; ++i) it->add(Count::loads);
            });
            for (int i = 0; i < rounds; ++i) it->read(static_cast<std::uint64_t>(1 + i % 4), hour_s);
            other.join();
            _exit(0);
        }
        children.push_back(child);
    }
    const pid_t doomed = fork();
    if (doomed == 0) {
        const auto it = open();
        for (std::uint64_t i = 100;; ++i) it->read(i, hour_s);
    }
    for (const pid_t child : children) {
        int status = -1;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    kill(doomed, SIGKILL);
    waitpid(doomed, nullptr, 0);
    EXPECT_EQ(open()->count(Count::loads), static_cast<std::uint64_t>(processes) * rounds);
    open()->read(1, hour_s);
}

}  // namespace
}  // namespace pmemcpy::heat
