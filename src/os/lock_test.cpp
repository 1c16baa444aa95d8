#include "os/lock.hpp"

#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <pmemcpy/error.hpp>

#include "os/process.hpp"

namespace {

using namespace pmemcpy::os;

/// Two descriptions of one unnamed file.
struct TwoDescriptions {
    File a = File::create_unnamed("/dev/shm/unnamed", 0600);
    File b = File::open("/proc/self/fd/" + std::to_string(a.fd()), O_RDWR);
};

TEST(os, locks_of_one_description_are_in_the_way_of_another_and_not_of_itself) {
    TwoDescriptions file;
    ASSERT_TRUE(try_lock(file.a, LockKind::exclusive, 7, 1));
    EXPECT_TRUE(try_lock(file.a, LockKind::exclusive, 7, 1));
    EXPECT_FALSE(try_lock(file.b, LockKind::shared, 7, 1));
    EXPECT_TRUE(try_lock(file.b, LockKind::exclusive, 8, 1));
    EXPECT_TRUE(conflicts(file.b, LockKind::shared, 0, 16));
    EXPECT_FALSE(conflicts(file.a, LockKind::exclusive, 7, 1));
    unlock(file.a, 7, 1);
    EXPECT_FALSE(conflicts(file.b, LockKind::exclusive, 7, 1));
}

TEST(os, shared_locks_stand_beside_each_other) {
    TwoDescriptions file;
    ASSERT_TRUE(try_lock(file.a, LockKind::shared, 0, 1));
    EXPECT_TRUE(try_lock(file.b, LockKind::shared, 0, 1));
    EXPECT_TRUE(conflicts(file.b, LockKind::exclusive, 0, 1));
    EXPECT_FALSE(conflicts(file.b, LockKind::shared, 0, 1));
}

TEST(os, closing_another_descriptor_of_the_file_drops_no_lock) {
    TwoDescriptions file;
    ASSERT_TRUE(try_lock(file.a, LockKind::exclusive, 0, 1));
    { const File third = File::open("/proc/self/fd/" + std::to_string(file.a.fd()), O_RDONLY); }
    EXPECT_TRUE(conflicts(file.b, LockKind::shared, 0, 1));
    file.a.close();
    EXPECT_FALSE(conflicts(file.b, LockKind::shared, 0, 1));
}

TEST(os, a_killed_process_drops_its_locks_and_who_waits_goes_on) {
    TwoDescriptions file;
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        // Descriptions of its own: what the parent opened is shared with the child.
        File mine = File::open("/proc/self/fd/" + std::to_string(file.a.fd()), O_RDWR);
        const bool locked = try_lock(mine, LockKind::exclusive, 0, 1);
        if (::write(ready[1], "x", 1) != 1 || !locked) std::_Exit(1);
        ::pause();
    }
    char byte;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_TRUE(conflicts(file.a, LockKind::exclusive, 0, 1));
    ::kill(child, SIGKILL);
    lock(file.b, LockKind::exclusive, 0, 1);
    EXPECT_TRUE(conflicts(file.a, LockKind::exclusive, 0, 1));
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST(os, a_read_only_description_cannot_lock_exclusively) {
    TwoDescriptions file;
    File reader = File::open("/proc/self/fd/" + std::to_string(file.a.fd()), O_RDONLY);
    EXPECT_TRUE(try_lock(reader, LockKind::shared, 0, 1));
    EXPECT_THROW((void)try_lock(reader, LockKind::exclusive, 0, 1), pmemcpy::Error);
}

// Locks of descriptions are nobody's, as far as fcntl() tells: what a process has open tells.
TEST(os, a_lock_of_a_stopped_process_is_known_to_be_its_own) {
    constexpr std::uint64_t byte = std::uint64_t{1} << 62;
    TwoDescriptions file;
    for (const bool first_thread_ends : {false, true}) {
        const pid_t process = ::fork();
        if (process == 0) {
            std::thread([&] {
                File mine = File::open("/proc/thread-self/fd/" + std::to_string(file.a.fd()), O_RDWR);
                if (try_lock(mine, LockKind::exclusive, byte, 1)) ::raise(SIGSTOP);
                for (;;) ::pause();
            }).detach();
            if (first_thread_ends) ::syscall(SYS_exit, 0);
            for (;;) ::pause();
        }
        const auto number = static_cast<std::uint64_t>(process);
        for (int i = 0; i < 500 && !is_stopped(number); ++i) ::usleep(10'000);
        EXPECT_EQ(stopped_holder(file.b, byte), number) << first_thread_ends;
        EXPECT_EQ(stopped_holder(file.b, 0), 0U);
        ::kill(process, SIGCONT);
        for (int i = 0; i < 500 && is_stopped(number); ++i) ::usleep(10'000);
        EXPECT_EQ(stopped_holder(file.b, byte), 0U);
        EXPECT_TRUE(conflicts(file.b, LockKind::exclusive, byte, 1));
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
    }
}

}  // namespace
