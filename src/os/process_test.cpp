// What is known of other processes.

#include "os/process.hpp"

#include "os/calls.hpp"

#include <csignal>
#include <cstdint>
#include <limits>
#include <thread>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pmemcpy::os {
namespace {

bool comes_to_be(bool stopped, pid_t process) {
    for (int i = 0; i < 500; ++i) {
        if (is_stopped(static_cast<std::uint64_t>(process)) == stopped) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

// `ls` took a time as a number without a sign and `find` as one with: beyond these two bounds they disagreed.
TEST(process, has_a_time_that_a_number_with_a_sign_and_one_without_agree_on) {
    static struct timespec now;
    Calls fake = system_calls();
    fake.clock_gettime = [](clockid_t, struct timespec* time) { return *time = now, 0; };
    const ScopedCalls set_clock(fake);
    const auto at = [](time_t seconds, long nanoseconds) {
        now = {seconds, nanoseconds};
        return wall_ns();
    };
    EXPECT_EQ(at(1'700'000'000, 5), 1'700'000'000'000'000'005U);
    EXPECT_EQ(at(-1, 0), 1U) << "of 1969";
    EXPECT_EQ(at(0, 0), 1U) << "0 is no time";
    EXPECT_EQ(at(9'223'372'035, 999'999'999), 9'223'372'035'999'999'999U);
    EXPECT_EQ(at(9'223'372'037, 0), std::uint64_t{INT64_MAX}) << "of 2262 on";
    EXPECT_EQ(at(std::numeric_limits<time_t>::max(), 0), std::uint64_t{INT64_MAX});
}

// The first thread of a process is its face in /proc, and shows no stop when it has ended.
TEST(process, is_seen_to_be_stopped_though_its_first_thread_has_ended) {
    for (const bool ends : {false, true}) {
        const pid_t process = ::fork();
        if (process == 0) {
            std::thread([] {
                for (;;) ::pause();
            }).detach();
            if (ends) ::syscall(SYS_exit, 0);  // this thread alone
            for (;;) ::pause();
        }
        EXPECT_TRUE(comes_to_be(false, process));
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        ::kill(process, SIGSTOP);
        EXPECT_TRUE(comes_to_be(true, process)) << ends;
        ::kill(process, SIGCONT);
        EXPECT_TRUE(comes_to_be(false, process)) << ends;
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
    }
}

}  // namespace
}  // namespace pmemcpy::os
