#include "os/forked.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <stdexcept>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <pmemcpy/error.hpp>

#include "os/calls.hpp"
#include "os/process.hpp"

namespace {

using namespace pmemcpy::os;

std::atomic_ref<std::uint64_t> word_of(const SharedPages& pages) {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(pages.base()));
}

void wait_for_end(ForkedChild& child) {
    while (!child.has_ended()) sleep_ns(1'000'000);
}

TEST(os, a_child_says_what_it_found_through_shared_pages) {
    const SharedPages pages(4096);
    ForkedChild child([&] { word_of(pages) = process_id(); });
    wait_for_end(child);
    EXPECT_NE(word_of(pages).load(), 0u);
    EXPECT_NE(word_of(pages).load(), process_id());
}

TEST(os, a_child_that_throws_ends) {
    ForkedChild child([] { throw std::runtime_error("nobody hears this"); });
    wait_for_end(child);
}

TEST(os, a_child_that_hangs_is_killed_by_whoever_gives_it_up) {
    const SharedPages pages(4096);
    {
        ForkedChild child([&] {
            word_of(pages) = static_cast<std::uint64_t>(::getpid());
            for (;;) ::pause();
        });
        while (word_of(pages) == 0) sleep_ns(1'000'000);
        EXPECT_FALSE(child.has_ended());
    }
    while (::kill(static_cast<pid_t>(word_of(pages).load()), 0) == 0) sleep_ns(1'000'000);
    EXPECT_EQ(errno, ESRCH);
}

// Whoever is killed while he measures leaves nobody behind.
TEST(os, a_child_dies_with_who_began_it) {
    const SharedPages pages(4096);
    const pid_t between = ::fork();
    if (between == 0) {
        const ForkedChild child([&] {
            word_of(pages) = static_cast<std::uint64_t>(::getpid());
            for (;;) ::pause();
        });
        for (;;) ::pause();
    }
    while (word_of(pages) == 0) sleep_ns(1'000'000);
    ::kill(between, SIGKILL);
    ::waitpid(between, nullptr, 0);
    // Whoever adopts it may be slow to bury it: a dead one has no program any more.
    const std::string program = "/proc/" + std::to_string(word_of(pages).load()) + "/exe";
    char target[256];
    while (::readlink(program.c_str(), target, sizeof target) >= 0) sleep_ns(1'000'000);
}

TEST(os, no_child_is_an_error) {
    Calls none = system_calls();
    none.fork = []() -> pid_t {
        errno = EAGAIN;
        return -1;
    };
    const ScopedCalls scoped(none);
    EXPECT_THROW(ForkedChild([] {}), pmemcpy::Error);
}

}  // namespace
