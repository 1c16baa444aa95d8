#include "layout/claim.hpp"

#include "os/calls.hpp"
#include "os/names.hpp"
#include "tests/folder.hpp"

#include <gtest/gtest.h>
#include <pmemcpy/error.hpp>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace pmemcpy::layout {
namespace {

namespace fs = std::filesystem;

class claims : public testing::Test {
protected:
    claims() {
        pool::Shape shape;
        shape.max_bytes = 1 << 20;
        shape.chunk_bytes = 4096;
        pool::Pool::create(here_ / "pool", shape);
        fs::copy_file(here_ / "pool", here_ / "copy");
        fs::create_directory(here_ / "blocks");
    }
    std::string claimant() const { return claimant_of(here_ / "blocks"); }
    Code claim_for(const std::string& name) const {
        try {
            pool::Pool pool(here_ / name, false, MapSync::off);
            claim(os::File::open(here_ / "blocks", O_RDONLY | O_DIRECTORY), pool);
            return Code{};
        } catch (const Error& error) {
            return error.kind();
        }
    }

    Folder here_;
};

std::function<void()> meanwhile;

TEST_F(claims, are_of_the_first_pool_file_of_an_identity_and_go_with_it) {
    EXPECT_EQ(claim_for("pool"), Code{});
    EXPECT_EQ(claimant(), os::real_path(here_ / "pool"));
    EXPECT_EQ(claim_for("copy"), Code::busy);
    fs::rename(here_ / "pool", here_ / "renamed");
    EXPECT_EQ(claim_for("renamed"), Code{});
    EXPECT_EQ(claimant(), os::real_path(here_ / "renamed"));
    fs::remove(here_ / "renamed");
    EXPECT_EQ(claim_for("copy"), Code{});
    EXPECT_EQ(claimant(), os::real_path(here_ / "copy"));
    EXPECT_EQ(std::distance(fs::directory_iterator(here_ / "blocks"), fs::directory_iterator()), 1)
        << "nothing passing is left";
}

// Each had seen that the blocks were nobody's, and then wrote that they were its own.
TEST_F(claims, of_two_pool_files_at_once_are_of_one) {
    Code other{};
    std::thread thread;
    meanwhile = [&] {
        thread = std::thread([&] { other = claim_for("copy"); });
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    };
    os::Calls calls = os::system_calls();
    calls.fsync = [](int fd) {
        if (const auto act = std::exchange(meanwhile, nullptr)) act();
        return os::system_calls().fsync(fd);
    };
    const os::ScopedCalls scoped(calls);
    const Code first = claim_for("pool");
    thread.join();
    EXPECT_EQ(first, Code{});
    EXPECT_EQ(other, Code::busy);
    EXPECT_EQ(claimant(), os::real_path(here_ / "pool"));
}

// Another user's copy, or one beside a target that is mounted for reading, was told that it may make no file there, and could not read.
TEST_F(claims, of_a_copy_are_refused_without_a_file_for_it) {
    EXPECT_EQ(claim_for("pool"), Code{});
    os::Calls calls = os::system_calls();
    calls.openat = [](int directory, const char* path, int flags, mode_t mode) {
        if ((flags & O_CREAT) != 0) return errno = EACCES, -1;
        return os::system_calls().openat(directory, path, flags, mode);
    };
    const os::ScopedCalls scoped(calls);
    EXPECT_EQ(claim_for("copy"), Code::busy);
}

TEST_F(claims, that_a_killed_process_has_begun_are_in_nobodys_way) {
    std::ofstream(here_ / "blocks/claiming") << "pool 1";
    EXPECT_EQ(claim_for("pool"), Code{});
    EXPECT_EQ(claimant(), os::real_path(here_ / "pool"));
}

}  // namespace
}  // namespace pmemcpy::layout
