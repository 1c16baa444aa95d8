// Who copies a block to another target is seen by all who might copy it as well, for as long as he lives.

#include "store/in_transit.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <pmemcpy/pmemcpy.hpp>

#include "tests/folder.hpp"
#include "tests/inside.hpp"

namespace pmemcpy::store {
namespace {

class blocks_in_transit : public ::testing::Test {
protected:
    void SetUp() override {
        PMEM pool;
        pool.mmap(path_, Options{.max_bytes = 64 << 20});
        pool.store("a", 1);
    }
    Folder folder_;
    std::string path_ = folder_ / "pool";
};

TEST_F(blocks_in_transit, are_claimed_by_one_of_the_threads_that_share_a_pool) {
    Inside inside(path_);
    InTransit all(inside.pool());
    EXPECT_FALSE(all.has(7));
    {
        const InTransit::Claim first(all, 7);
        EXPECT_TRUE(first.is_first());
        EXPECT_TRUE(all.has(7));
        EXPECT_FALSE(all.has(8));
        const InTransit::Claim second(all, 7);
        EXPECT_FALSE(second.is_first());
        EXPECT_TRUE(InTransit::Claim(all, 8).is_first());
    }
    EXPECT_FALSE(all.has(7));
}

// (Who stored, and made room by moving a block down, and who flushed it meanwhile, each wrote the whole of it to a slow target: of one process
// they were, but not of one attachment.)
TEST_F(blocks_in_transit, are_seen_by_another_attachment) {
    Inside ours(path_);
    Inside theirs(path_);
    InTransit of_ours(ours.pool());
    InTransit of_theirs(theirs.pool());
    {
        const InTransit::Claim claim(of_ours, 7);
        EXPECT_TRUE(of_theirs.has(7));
        EXPECT_FALSE(of_theirs.has(8));
        EXPECT_FALSE(InTransit::Claim(of_theirs, 7).is_first());
        EXPECT_TRUE(of_theirs.has(7)) << "who came second has taken the first one's claim with him";
        // (So did another thread of the same attachment, which shares its locks: a second process moved what the first was moving.)
        EXPECT_FALSE(InTransit::Claim(of_ours, 7).is_first());
        EXPECT_TRUE(of_theirs.has(7)) << "who came second here has taken the first one's claim with him";
    }
    EXPECT_FALSE(of_theirs.has(7));
    EXPECT_TRUE(InTransit::Claim(of_theirs, 7).is_first());
}

TEST_F(blocks_in_transit, are_nobodys_when_who_claimed_them_is_killed) {
    std::array<int, 2> said{};
    ASSERT_EQ(::pipe(said.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        Inside theirs(path_);
        InTransit of_theirs(theirs.pool());
        const InTransit::Claim claim(of_theirs, 7);
        const char byte = claim.is_first() ? 1 : 0;
        if (::write(said[1], &byte, 1) != 1) ::_exit(1);
        ::pause();
    }
    char byte = 0;
    ASSERT_EQ(::read(said[0], &byte, 1), 1);
    EXPECT_EQ(byte, 1);
    Inside ours(path_);
    InTransit of_ours(ours.pool());
    EXPECT_TRUE(of_ours.has(7));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_FALSE(of_ours.has(7));
    EXPECT_TRUE(InTransit::Claim(of_ours, 7).is_first());
}

}  // namespace
}  // namespace pmemcpy::store
