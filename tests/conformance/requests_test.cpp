// What is asked of whoever works in the background of a pool: it is done, by one process or another, and nobody waits for it.

#include <pmemcpy/messages.hpp>
#include <pmemcpy/tiers.hpp>

#include "tests/conformance/pool_suite.hpp"
#include "tests/folder.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::uint64_t width = 8192;  // numbers of 64 KiB

class asking : public testing::Test {
protected:
    asking() { fs::create_directory(here_ / "pfs"); }

    PMEM open(Mode mode = Mode::create_or_update) const {
        Options options;
        options.mode = mode;
        options.max_bytes = 8 << 20;
        options.chunk_bytes = 64 << 10;
        PMEM pool;
        pool.mmap(here_ / "pool", options);
        return pool;
    }
    /// In which nothing is flushed or brought up unless somebody asks for it.
    Hierarchy hierarchy(double bytes_per_second = 0) const {
        Hierarchy h;
        const bool is_slow = bytes_per_second > 0;
        h.targets = {{.name = "pool", .kind = TargetKind::tmpfs, .write = {8e9, 1e-6}, .read = {9e9, 1e-6}},
                     {.name = "pfs",
                      .kind = TargetKind::shared,
                      .path = here_ / "pfs",
                      .write = {is_slow ? bytes_per_second : 1e9, 1e-4},
                      .read = {1e9, 1e-4},
                      .limited = is_slow}};
        h.granularity_bytes = 64 << 10;
        h.mode = Buffering::none;
        h.promotion = Promotion::never;
        return h;
    }
    static void fill(PMEM& pool, const std::string& id, std::size_t blocks = 2) {
        pool.alloc<double>(id, {blocks, width});
        const std::vector<double> numbers(width, 1.5);
        for (std::size_t i = 0; i < blocks; ++i)
            pool.store<double>(id, numbers.data(), Box{{i, 0}, {1, width}});
    }
    static bool is_flushed(const PMEM& pool, const std::string& id) {
        for (const Receipt& each : receipts(pool, id)) {
            if (!each.is_flushed) return false;
        }
        return true;
    }
    static bool is_in(const PMEM& pool, const std::string& id, const std::string& target) {
        for (const Receipt& each : receipts(pool, id)) {
            if (each.target != target) return false;
        }
        return true;
    }
    static bool comes_true(const std::function<bool()>& what) {
        for (int i = 0; i < 1000; ++i) {
            if (what()) return true;
            std::this_thread::sleep_for(10ms);
        }
        return what();
    }
    /// Of a process that does this, and leaves from within it by _exit(), so that what it has open is not closed.
    static int status_of_a_process(const std::function<void()>& what) {
        const pid_t child = ::fork();
        if (child == 0) {
            what();
            ::_exit(3);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return status;
    }
    static void be_another_user() {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    }
    Folder here_;
};

TEST_F(asking, has_a_variable_flushed_and_no_other) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    fill(pool, "u");
    fill(pool, "w");
    EXPECT_EQ(requests(pool), 0U);
    request(pool, Request::flush, "u");
    EXPECT_TRUE(comes_true([&] { return requests(pool) == 0; }));
    EXPECT_TRUE(is_flushed(pool, "u"));
    EXPECT_FALSE(is_flushed(pool, "w"));
    request(pool, Request::flush);
    EXPECT_TRUE(comes_true([&] { return is_flushed(pool, "w"); }));
}

// It was as fast as it went.
TEST_F(asking, takes_no_more_of_the_bandwidth_than_flushing_may) {
    PMEM pool = open();
    Hierarchy h = hierarchy();
    h.flush.bytes_per_second = 1 << 20;
    set_hierarchy(pool, h);
    fill(pool, "u", 8);  // half a MiB
    const auto begun = std::chrono::steady_clock::now();
    request(pool, Request::flush, "u");
    EXPECT_TRUE(comes_true([&] { return is_flushed(pool, "u") && requests(pool) == 0; }));
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 250ms);
}

TEST_F(asking, has_what_lies_below_brought_up) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    fill(pool, "g/u");
    move(pool, "g", "pfs");
    EXPECT_TRUE(is_in(pool, "g/u", "pfs"));
    request(pool, Request::bring_up, "g");
    EXPECT_TRUE(comes_true([&] { return is_in(pool, "g/u", "pool"); }));
}

// A message has room for 56 bytes.
TEST_F(asking, is_for_any_name_however_long) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    for (const std::size_t length : {56U, 57U, 3000U}) {
        const std::string id(length, 'u');
        fill(pool, id);
        request(pool, Request::flush, id);
        EXPECT_TRUE(comes_true([&] { return is_flushed(pool, id); })) << length;
    }
}

TEST_F(asking, may_be_another_process_and_the_answer_too) {
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy());
        fill(pool, "u");
    }
    const Organizer organizer(here_ / "pool");
    const int status = status_of_a_process([&] {
        PMEM pool = open();
        request(pool, Request::flush, "u", most_urgent);
        ::_exit(0);  // at once, so that it is not it that does it
    });
    EXPECT_EQ(status, 0);
    const PMEM reader = open(Mode::read);
    EXPECT_TRUE(comes_true([&] { return is_flushed(reader, "u"); }));
    EXPECT_EQ(organizer.trouble(), "");
}

TEST_F(asking, is_answered_by_who_opens_the_pool_next) {
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy(40e3));  // a block takes 1.6 s
        fill(pool, "u", 1);
        request(pool, Request::flush, "u");
    }
    PMEM pool = open();
    EXPECT_EQ(requests(pool), 1U) << "nobody has waited for it";
    EXPECT_TRUE(comes_true([&] { return requests(pool) == 0; }));
    EXPECT_TRUE(is_flushed(pool, "u"));
}

TEST_F(asking, is_answered_by_another_when_the_first_is_killed_at_it) {
    PMEM pool;
    const pid_t child = ::fork();
    if (child == 0) {
        PMEM mine = open();
        set_hierarchy(mine, hierarchy(100e3));  // a block takes 0.65 s
        fill(mine, "u");
        request(mine, Request::flush, "u");
        ::pause();
    }
    const auto has_begun = [&] {
        for (const auto& entry : fs::recursive_directory_iterator(here_ / "pfs")) {
            if (entry.path().filename().string().starts_with("copying-")) return true;
        }
        return false;
    };
    EXPECT_TRUE(comes_true(has_begun));
    pool = open();
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(comes_true([&] { return is_flushed(pool, "u"); }));
    EXPECT_TRUE(comes_true([&] { return requests(pool) == 0; }));
}

TEST_F(asking, may_be_a_program_of_its_own_that_knows_the_queue) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    fill(pool, "u");
    fill(pool, "w");
    request(pool, Request::flush, "w");
    auto queue = MessageQueue::open(here_ / "pool.requests");
    queue.push(Message::of(99, "of another library"));
    queue.push(Message::of(static_cast<std::uint32_t>(Request::flush), "gone since"));
    queue.push(Message::of(static_cast<std::uint32_t>(Request::flush), "u"));
    EXPECT_TRUE(comes_true([&] { return is_flushed(pool, "u"); }));
    EXPECT_TRUE(comes_true([&] { return requests(pool) == 0; }));
}

TEST_F(asking, is_refused_where_nobody_could_answer) {
    PMEM pool = open();
    fill(pool, "u");
    conformance::expect_error(Code::invalid_argument, [&] { request(pool, Request::flush, "u"); });
    set_hierarchy(pool, hierarchy());
    conformance::expect_error(Code::not_found, [&] { request(pool, Request::flush, "v"); });
    conformance::expect_error(Code::invalid_argument,
                              [&] { request(pool, Request::flush, "u", most_urgent + 1); });
    EXPECT_FALSE(fs::exists(here_ / "pool.requests"));
    PMEM reader = open(Mode::read);
    conformance::expect_error(Code::permission_denied, [&] { request(reader, Request::flush, "u"); });
    EXPECT_EQ(requests(reader), 0U);
}

// In a directory that others may write, too, somebody may put a file of that name.
TEST_F(asking, stands_in_nobodys_way_where_something_else_lies) {
    {
        PMEM pool = open();
        Hierarchy h = hierarchy();
        h.mode = Buffering::write_back;
        h.flush.period_s = 0.01;
        set_hierarchy(pool, h);
    }
    for (const bool is_directory : {true, false}) {
        fs::remove(here_ / "pool.requests");
        if (is_directory) {
            fs::create_directory(here_ / "pool.requests");
        } else {
            std::ofstream(here_ / "pool.requests") << "no queue";
        }
        PMEM pool = open();
        const std::string id = is_directory ? "u" : "w";
        fill(pool, id);
        EXPECT_TRUE(comes_true([&] { return is_flushed(pool, id); }));
        EXPECT_THROW(request(pool, Request::flush, id), Error);
    }
}

TEST_F(asking, is_nothing_that_a_mere_reader_is_told_of) {
    if (::getuid() != 0) GTEST_SKIP() << "another user can only be played by root";
    fs::permissions(here_.path(), fs::perms{0755});
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(10e3));
    fill(pool, "u");
    request(pool, Request::flush, "u");
    EXPECT_EQ(requests(pool), 1U);
    const int status = status_of_a_process([&] {
        be_another_user();
        ::_exit(requests(open(Mode::read)) == 0 ? 0 : 1);
    });
    EXPECT_EQ(status, 0);
}

// It went on for ten rounds of what it had been told to stop: four minutes.
TEST_F(asking, keeps_nobody_from_closing_the_pool) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(60e3));  // a block takes 1.1 s
    fill(pool, "u");
    request(pool, Request::flush, "u");
    EXPECT_TRUE(comes_true([&] {
        for (const auto& entry : fs::recursive_directory_iterator(here_ / "pfs")) {
            if (entry.path().filename().string().starts_with("copying-")) return true;
        }
        return false;
    }));
    const auto begin = std::chrono::steady_clock::now();
    pool.munmap();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s) << "and not forty blocks";
}

// The queue is the first asker's file, and was refused as a stranger's.
TEST_F(asking, is_for_all_who_may_write_the_pool) {
    if (::getuid() != 0) GTEST_SKIP() << "another user can only be played by root";
    fs::permissions(here_.path(), fs::perms{0777});
    const mode_t umask = ::umask(0);
    fs::permissions(here_ / "pfs", fs::perms{0777});
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    fill(pool, "u");
    const Organizer organizer(here_ / "pool");
    const int status = status_of_a_process([&] {
        be_another_user();
        PMEM own = open();
        request(own, Request::flush, "u");
        ::_exit(0);
    });
    ::umask(umask);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(comes_true([&] { return is_flushed(pool, "u"); })) << organizer.trouble();
}

// It had the first asker's umask, so that others who may write the pool could ask for nothing.
TEST_F(asking, is_for_all_who_may_write_the_pool_whatever_the_umask) {
    if (::getuid() != 0) GTEST_SKIP() << "another user can only be played by root";
    fs::permissions(here_.path(), fs::perms{01777});
    const mode_t umask = ::umask(0);
    fs::permissions(here_ / "pfs", fs::perms{0777});
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(10e3));
    fill(pool, "u");
    ::umask(077);
    request(pool, Request::flush, "u");
    EXPECT_EQ(fs::status(here_ / "pool.requests").permissions(), fs::perms{0666});
    const int status = status_of_a_process([&] {
        be_another_user();
        PMEM own = open();
        request(own, Request::flush, "u");
        ::_exit(requests(own) == 0 ? 1 : 0);
    });
    ::umask(umask);
    EXPECT_EQ(status, 0);
}

TEST_F(asking, for_more_than_there_is_room_for_is_no_space) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(10e3));  // so slow that none is done meanwhile
    fill(pool, "u");
    conformance::expect_error(Code::no_space, [&] {
        for (int i = 0; i < 1100; ++i) request(pool, Request::flush, "u");
    });
    EXPECT_GE(requests(pool), 1024U);
}

}  // namespace
}  // namespace pmemcpy
