// What is known of other processes.

#include "os/process.hpp"

#include <csignal>
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
