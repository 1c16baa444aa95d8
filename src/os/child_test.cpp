// Programs that are started, watched and stopped.

#include "os/child.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <pmemcpy/error.hpp>
#include <string>

#include <sys/wait.h>

#include "os/calls.hpp"
#include "os/names.hpp"
#include "os/process.hpp"

namespace pmemcpy::os {
namespace {

constexpr std::uint64_t ages = 600'000'000'000;

class child : public ::testing::Test {
protected:
    Ending shell(const std::string& script, std::uint64_t most_ns = ages) {
        return run({.path = "/bin/sh", .arguments = {"-c", script}, .printed = printed_}, most_ns,
                   [] { return true; });
    }
    File printed_ = File::create_in_memory("what a child prints");
};

TEST_F(child, tells_how_it_ended_and_what_it_printed) {
    const Ending ending = shell("echo one; echo two >&2; exit 3");
    EXPECT_EQ(ending.how, Ending::How::exited);
    EXPECT_EQ(ending.number, 3);
    EXPECT_EQ(last_printed(printed_, 100), "one\ntwo");
    EXPECT_EQ(last_printed(printed_, 4), "two");
}

TEST_F(child, tells_which_signal_killed_it) {
    const Ending ending = shell("kill -SEGV $$");
    EXPECT_EQ(ending.how, Ending::How::killed);
    EXPECT_EQ(ending.number, SIGSEGV);
}

TEST_F(child, is_stopped_with_all_that_it_started_when_its_time_is_over) {
    const Ending ending = shell("sleep 1000 & echo $!; wait", 300'000'000);
    EXPECT_EQ(ending.how, Ending::How::stopped);
    const std::string started = last_printed(printed_, 100);
    if (started.empty()) return;  // on a machine so slow that it had not come so far
    const auto state = [&] { return read_text("/proc/" + started + "/stat").value_or("gone Z"); };
    while (state().find(" Z") == std::string::npos) sleep_ns(1'000'000);
}

TEST_F(child, is_stopped_when_it_is_not_wanted_any_more) {
    int asked = 0;
    const Ending ending = run({.path = "/bin/sh", .arguments = {"-c", "sleep 1000"}, .printed = printed_},
                              ages, [&] { return ++asked < 3; });
    EXPECT_EQ(ending.how, Ending::How::stopped);
}

TEST_F(child, has_the_files_that_it_is_given_and_no_input) {
    File file = File::create_in_memory("a file for a child");
    file.write_exactly("from us\n", 8, 0);
    const std::string by_number = "/proc/self/fd/" + std::to_string(file.fd());
    run({.path = "/bin/sh",
         .arguments = {"-c", "cat; cat " + by_number},
         .files = {&file},
         .printed = printed_},
        ages, [] { return true; });
    EXPECT_EQ(last_printed(printed_, 100), "from us");
    File other = File::create_in_memory("what another prints");
    run({.path = "/bin/sh", .arguments = {"-c", "cat " + by_number + " 2> /dev/null"}, .printed = other},
        ages, [] { return true; });
    EXPECT_EQ(last_printed(other, 100), "") << "without it";
}

TEST_F(child, that_somebody_else_waits_for_has_an_unknown_end) {
    Calls playing = system_calls();
    playing.waitid = [](idtype_t, id_t, siginfo_t*, int) {
        errno = ECHILD;
        return -1;
    };
    const ScopedCalls scoped(playing);
    EXPECT_EQ(shell("exit 0").how, Ending::How::unknown);
}

TEST_F(child, that_does_not_exist_is_an_error) {
    try {
        run({.path = "/no/such/program", .printed = printed_}, ages, [] { return true; });
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::not_found);
        EXPECT_NE(std::string(error.what()).find("/no/such/program"), std::string::npos);
    }
}

}  // namespace
}  // namespace pmemcpy::os
