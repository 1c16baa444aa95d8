#include "os/fork.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/lock.hpp"

namespace {

using namespace pmemcpy::os;

TEST(os, a_child_knows_that_it_is_not_its_parent) {
    const std::uint64_t before = fork_generation();
    const pid_t child = ::fork();
    if (child == 0) std::_Exit(fork_generation() == before ? 1 : 0);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(fork_generation(), before);
}

// Without ClosedInChild the surviving grandchild would hold the dead owner's lock, and it would look alive.
TEST(os, the_locks_of_a_process_die_with_it_although_its_child_lives) {
    const File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    const std::string again = "/proc/self/fd/" + std::to_string(file.fd());
    int from_owner[2];
    int to_child[2];
    ASSERT_EQ(::pipe(from_owner), 0);
    ASSERT_EQ(::pipe(to_child), 0);
    const pid_t owner = ::fork();
    if (owner == 0) {
        File mine = File::open(again, O_RDWR);
        const ClosedInChild closed(mine);
        const bool locked = try_lock(mine, LockKind::exclusive, 0, 1);
        if (::fork() == 0) {
            char byte;
            ::close(to_child[1]);
            // The number is still taken, but nothing can be done with it.
            const bool is_stub =
                ::read(mine.fd(), &byte, 1) == -1 && errno == EBADF && ::fcntl(mine.fd(), F_GETFD) != -1;
            if (::write(from_owner[1], is_stub ? "s" : "n", 1) != 1) std::_Exit(1);
            if (::read(to_child[0], &byte, 1) < 0) std::_Exit(1);  // until the test ends
            std::_Exit(0);
        }
        if (!locked) std::_Exit(1);
        ::pause();
    }
    char byte = 0;
    ASSERT_EQ(::read(from_owner[0], &byte, 1), 1);
    EXPECT_EQ(byte, 's');
    EXPECT_TRUE(conflicts(file, LockKind::exclusive, 0, 1));
    ::kill(owner, SIGKILL);
    ::waitpid(owner, nullptr, 0);
    EXPECT_FALSE(conflicts(file, LockKind::exclusive, 0, 1));
    for (const int fd : {from_owner[0], from_owner[1], to_child[0], to_child[1]}) ::close(fd);
}

TEST(os, a_registration_ends_with_its_owner) {
    const File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    std::optional<ClosedInChild> closed(file);
    closed.reset();
    const pid_t child = ::fork();
    if (child == 0) std::_Exit(::lseek(file.fd(), 0, SEEK_CUR) == 0 ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(os, who_listens_is_told_before_a_fork_and_after_it_on_both_sides) {
    std::string told;
    {
        const AtFork listens({.before = [&] { told += "before "; },
                              .in_parent = [&] { told += "parent"; },
                              .in_child = [&] { told += "child"; }});
        const pid_t child = ::fork();
        if (child == 0) std::_Exit(told == "before child" ? 0 : 1);
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
        EXPECT_EQ(told, "before parent");
    }
    const pid_t child = ::fork();
    if (child == 0) std::_Exit(0);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(told, "before parent");
}

}  // namespace
