// Steps with something private in them: both sides have the step, or none.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "pmem/scope_suite.hpp"
#include "pmem/sides.hpp"

using namespace pmemcpy;
namespace fs = std::filesystem;

class private_step : public scope {};

TEST_F(private_step, steps_are_of_both_sides) {
    PMEM pool = open(small(true));
    private_side(pool).store("mine", 0);
    pool.begin(1);
    pool.store("ours", 1);
    pool.store("mine", 1);
    expect_error(Code::unsupported, [&] { set_scope(pool, "mine", Scope::shared); });
    PMEM other = open(small());
    EXPECT_FALSE(other.exists("ours"));
    EXPECT_EQ(other.load<int>("mine"), 0);
    pool.commit(1);
    EXPECT_EQ(other.load<int>("ours"), 1);
    EXPECT_EQ(other.load<int>("mine"), 1);
}

// A reviewer killed a process in commit() between the words of the two sides: half a step was there. tests/crash/kill_test.cpp kills it at
// each place; here one is held there.
TEST_F(private_step, a_step_that_one_side_has_is_seen_on_both) {
    PMEM pool = open(small(true));
    pool.store("ours", 0);
    private_side(pool).store("mine", 0);
    PMEM other = open(small());
    Options reading = small();
    reading.mode = Mode::read;
    PMEM reader = open(reading);
    for (int step = 1; step < 4; ++step) {
        pool.begin(static_cast<std::uint64_t>(step));
        pool.store("ours", step);
        pool.store("mine", step);
        EXPECT_EQ(other.load<int>("mine"), step - 1);
        pmem::Sides::of(pool).shared()->commit(static_cast<std::uint64_t>(step));
        EXPECT_EQ(reader.load<int>("ours"), step);
        EXPECT_EQ(reader.load<int>("mine"), step);
        EXPECT_EQ(other.load<int>("mine"), step);
        EXPECT_EQ(other.info().committed_step, static_cast<std::uint64_t>(step));
        // Those whose process goes on in no step do not hinder the next.
        pmem::Sides::of(pool).leave_step();
    }
}

// All of this user's have died in a step; others have dropped what was shared of it, and stored the step anew.
TEST_F(private_step, what_is_private_of_a_step_that_was_dropped_does_not_come_with_it) {
    PMEM pool = open(small(true));
    pool.store("ours", 0);
    private_side(pool).store("mine", 0);
    pool.munmap();
    const pid_t child = ::fork();
    if (child == 0) {
        PMEM dying = open(small());
        dying.begin(1);
        dying.store("ours", 1);
        dying.store("mine", 1);
        ::_exit(0);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    {
        const auto others = store::Store::open(
            path(), small());  // which another user would have open: without this one's private side
        others->begin(1);
        others->commit(1);
        others->close();
    }
    pool = open(small());
    EXPECT_EQ(pool.info().committed_step, 1U);
    EXPECT_EQ(pool.load<int>("ours"), 0);
    EXPECT_EQ(pool.load<int>("mine"), 0);
    pool.begin(2);
    EXPECT_EQ(pool.load<int>("mine"), 0);
    pool.store("mine", 2);
    pool.commit(2);
    EXPECT_EQ(pool.load<int>("mine"), 2);
    pool.munmap();
    pool = open(small());
    EXPECT_EQ(pool.load<int>("mine"), 2);
}

// A backup of the shared side alone was put back: what is private is of a later time than it.
TEST_F(private_step, a_step_is_refused_that_the_private_side_has_had_since_the_backup) {
    {
        PMEM pool = open(small());
        private_side(pool).store("mine", 0);
        pool.munmap();
        fs::copy_file(path(), folder_ / "backup");
        pool = open(small());
        for (const std::uint64_t step :
             {5U, 6U}) {  // behind the page cache its own word comes one commit later
            pool.begin(step);
            pool.commit(step);
        }
    }
    fs::copy_file(folder_ / "backup", path(), fs::copy_options::overwrite_existing);
    PMEM pool = open(small());
    expect_error(Code::invalid_argument, [&] { pool.begin(1); });
    pool.store("ours", 1);  // in no step
    EXPECT_EQ(open(small()).load<int>("ours"), 1);
    pool.begin(7);
    pool.store("mine", 7);
    pool.commit(7);
    EXPECT_EQ(pool.load<int>("mine"), 7);
}
