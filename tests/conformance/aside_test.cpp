// A target below the pool that is in trouble: it is named, nothing is put there for a while, and stores go on elsewhere.

#include "os/calls.hpp"

#include <pmemcpy/tiers.hpp>

#include "tests/conformance/blocks.hpp"
#include "tests/folder.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;

// What the device of the first target below does. Plain globals, for the table of calls has room for functions only.
std::string the_device;
int error_of_fallocate = 0;
bool turns_bytes = false;
std::string vanishes_meanwhile;  // a directory, once, while something is written there
std::int64_t seconds_passed = 0;
std::int64_t seconds_for_each = 0;

bool is_on_the_device(int fd) {
    std::error_code none;
    return fs::read_symlink("/proc/self/fd/" + std::to_string(fd), none).string().starts_with(the_device);
}

int play_fallocate(int fd, int mode, off_t offset, off_t length) {
    if (is_on_the_device(fd)) {
        seconds_passed += seconds_for_each;
        if (error_of_fallocate != 0) {
            errno = error_of_fallocate;
            return -1;
        }
    }
    return fallocate(fd, mode, offset, length);
}

ssize_t play_pwrite(int fd, const void* data, size_t size, off_t offset) {
    constexpr size_t least_of_a_block = 64 << 10;  // less is what is written beside it
    if (size < least_of_a_block || !is_on_the_device(fd)) return pwrite(fd, data, size, offset);
    if (!vanishes_meanwhile.empty()) {
        fs::rename(vanishes_meanwhile, vanishes_meanwhile + ".away");
        vanishes_meanwhile.clear();
        // Whoever has looked for it before looks again.
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
    }
    if (!turns_bytes) return pwrite(fd, data, size, offset);
    std::vector<char> turned(static_cast<const char*>(data), static_cast<const char*>(data) + size);
    turned[size / 2] = static_cast<char>(turned[size / 2] ^ 1);
    return pwrite(fd, turned.data(), size, offset);
}

int play_clock_gettime(clockid_t clock, struct timespec* time) {
    const int result = clock_gettime(clock, time);
    time->tv_sec += seconds_passed;
    return result;
}

os::Calls played() {
    os::Calls calls = os::system_calls();
    calls.fallocate = play_fallocate;
    calls.pwrite = play_pwrite;
    calls.clock_gettime = play_clock_gettime;
    return calls;
}

class aside : public testing::Test {
protected:
    aside() {
        fs::create_directory(below_ / "a");
        fs::create_directory(below_ / "b");
        the_device = below_ / "a";
        error_of_fallocate = 0;
        turns_bytes = false;
        vanishes_meanwhile.clear();
        seconds_passed = 0;
        seconds_for_each = 0;
        Hierarchy h;
        h.targets = {{.name = "pool", .kind = TargetKind::tmpfs, .write = {8e9, 1e-6}, .read = {9e9, 1e-6}},
                     {.name = "a", .path = below_ / "a", .write = {2e9, 1e-4}, .read = {2e9, 1e-4}},
                     {.name = "b", .path = below_ / "b", .write = {1e9, 1e-3}, .read = {1e9, 1e-3}}};
        h.granularity_bytes = 64 << 10;
        // Nobody is in the library while a test changes what the device does.
        h.mode = Buffering::none;
        h.promotion = Promotion::never;
        h.flush.to = "a";
        pool_ = open();
        set_hierarchy(pool_, h);
        pool_.alloc<double>("u", {unlimited, numbers_in_block});
    }
    PMEM open() const {
        Options options;
        options.max_bytes = 8 * mebibyte;
        options.chunk_bytes = 64 << 10;
        PMEM pool;
        pool.mmap(here_ / "pool", options);
        return pool;
    }
    void store(std::uint64_t i) {
        pool_.store<double>("u", numbers(static_cast<double>(i)).data(), Box{{i, 0}, {1, numbers_in_block}});
    }
    void expect(std::uint64_t i) const {
        std::vector<double> found(numbers_in_block);
        pool_.load<double>("u", found.data(), Box{{i, 0}, {1, numbers_in_block}});
        ASSERT_EQ(found, numbers(static_cast<double>(i))) << "block " << i;
    }
    std::size_t count_in(const std::string& target) const { return pmemcpy::count_in(pool_, "u", target); }
    static std::string trouble(const PMEM& pool) { return targets(pool).at(1).trouble; }
    /// Of stores into a pool that is full but for the targets below.
    void stores_go_on_elsewhere(const std::string& trouble_of_a) {
        for (std::uint64_t i = 0; i < 20; ++i) store(i);
        EXPECT_EQ(count_in("a"), 0U);
        EXPECT_GE(count_in("b"), 12U);
        EXPECT_NE(trouble(pool_).find(trouble_of_a), std::string::npos) << trouble(pool_);
        EXPECT_EQ(trouble(open()), trouble(pool_)) << "others are told too";
        for (std::uint64_t i = 0; i < 20; ++i) expect(i);
    }
    /// When the time is over and the device is well, it is used again.
    void is_tried_again() {
        error_of_fallocate = 0;
        seconds_for_each = 0;
        seconds_passed += 11;
        EXPECT_EQ(trouble(pool_), "");
        for (std::uint64_t i = 20; i < 30; ++i) store(i);
        EXPECT_GE(count_in("a"), 5U);
        for (std::uint64_t i = 0; i < 30; ++i) expect(i);
        EXPECT_TRUE(pool_.verify().empty());
    }

    Folder here_;
    Folder below_{fs::temp_directory_path()};
    os::ScopedCalls calls_{played()};
    PMEM pool_;
};

TEST_F(aside, is_a_target_whose_device_fails) {
    error_of_fallocate = EIO;
    stores_go_on_elsewhere("its device failed");
    is_tried_again();
}

TEST_F(aside, is_a_target_that_others_have_filled) {
    error_of_fallocate = ENOSPC;
    stores_go_on_elsewhere("full, of other things");
    is_tried_again();
}

TEST_F(aside, is_a_target_that_is_a_hundred_times_slower_than_it_should_be) {
    seconds_for_each = 2;
    for (std::uint64_t i = 0; i < 20; ++i) store(i);
    EXPECT_NE(trouble(pool_).find("a hundred times slower"), std::string::npos) << trouble(pool_);
    EXPECT_LE(count_in("a"), 3U) << "one, and what was tried again";
    for (std::uint64_t i = 0; i < 20; ++i) expect(i);
    is_tried_again();
}

TEST_F(aside, is_a_flush_target_that_gives_back_other_bytes) {
    turns_bytes = true;
    store(0);
    flush(pool_, "u");
    // A copy is looked at before the block gives up its place for it.
    EXPECT_EQ(move(pool_, "u", "a"), 0U);
    EXPECT_EQ(count_in(""), 1U) << "it stays where it is whole";
    EXPECT_NE(trouble(pool_).find("other bytes than were written"), std::string::npos) << trouble(pool_);
    expect(0);
    turns_bytes = false;
    seconds_passed += 11;
    EXPECT_EQ(move(pool_, "u", "a"), mebibyte);
    EXPECT_EQ(count_in("a"), 1U);
    expect(0);
}

// MooseFS, and others that are mounted by FUSE or NFS: nothing could be moved or flushed there.
TEST_F(aside, is_no_target_whose_file_system_promises_no_space_ahead) {
    error_of_fallocate = EOPNOTSUPP;
    for (std::uint64_t i = 0; i < 20; ++i) store(i);
    EXPECT_EQ(flush(pool_, "u"), (20 - count_in("a")) * mebibyte);
    EXPECT_GE(count_in("a"), 5U);
    EXPECT_EQ(trouble(pool_), "");
    for (std::uint64_t i = 0; i < 20; ++i) expect(i);
    EXPECT_TRUE(pool_.verify().empty());
}

TEST_F(aside, is_flushed_to_all_the_same_by_who_asks_for_it) {
    error_of_fallocate = EIO;
    store(0);
    EXPECT_THROW(flush(pool_, "u"), Error);
    EXPECT_NE(trouble(pool_), "");
    error_of_fallocate = 0;
    EXPECT_EQ(flush(pool_, "u"), mebibyte);
    EXPECT_TRUE(receipts(pool_, "u").at(0).is_flushed);
}

// What was read of it before is there; and what is not is no fault of where it was to go. (A soak found the flush target set aside.)
TEST_F(aside, is_no_flush_target_because_another_vanishes_while_a_block_comes_from_there) {
    store(0);
    EXPECT_EQ(move(pool_, "u", "b"), mebibyte);
    vanishes_meanwhile = below_ / "b";
    EXPECT_EQ(flush(pool_, "u"), mebibyte);
    EXPECT_TRUE(vanishes_meanwhile.empty()) << "it has not been played";
    EXPECT_EQ(trouble(pool_), "");
    EXPECT_NE(targets(pool_).at(2).trouble, "");
    fs::rename(below_ / "b.away", below_ / "b");
    expect(0);
}

TEST_F(aside, damage_of_one_block_keeps_no_other_from_being_flushed) {
    for (std::uint64_t i = 0; i < 3; ++i) store(i);
    const auto view = pool_.view<double>("u", Box{{0, 0}, {1, numbers_in_block}});
    const_cast<double*>(view.data())[7] = -1;
    try {
        flush(pool_, "u");
        ADD_FAILURE() << "nobody is told";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::corrupt) << error.what();
    }
    std::size_t flushed = 0;
    for (const Receipt& receipt : receipts(pool_, "u")) flushed += receipt.is_flushed ? 1U : 0U;
    EXPECT_EQ(flushed, 2U);
    EXPECT_EQ(trouble(pool_), "") << "it is no trouble of the target";
}

}  // namespace
}  // namespace pmemcpy
