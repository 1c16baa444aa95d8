#include "os/space.hpp"

#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "os/calls.hpp"

namespace {

using namespace pmemcpy::os;

/// The texts of a /proc and /sys that a test makes up, and one descriptor for each that was opened.
struct Tree {
    std::map<std::string, std::string> texts;
    std::vector<std::string> opened;
};
Tree tree;

constexpr int first_fd = 1'000'000;

Calls calls_on_tree() {
    Calls fake = system_calls();
    fake.open = [](const char* path, int flags, mode_t mode) {
        const auto found = tree.texts.find(path);
        if (found == tree.texts.end()) return system_calls().open(path, flags, mode);
        tree.opened.push_back(found->second);
        return first_fd + static_cast<int>(tree.opened.size()) - 1;
    };
    fake.close = [](int fd) { return fd >= first_fd ? 0 : system_calls().close(fd); };
    fake.pread = [](int fd, void* bytes, size_t size, off_t offset) -> ssize_t {
        if (fd < first_fd) return system_calls().pread(fd, bytes, size, offset);
        const std::string& text = tree.opened[static_cast<std::size_t>(fd - first_fd)];
        const std::string rest = text.substr(std::min(text.size(), static_cast<std::size_t>(offset)), size);
        std::memcpy(bytes, rest.data(), rest.size());
        return static_cast<ssize_t>(rest.size());
    };
    return fake;
}

TEST(os, headroom_is_the_tightest_cgroup_on_the_way_up) {
    tree = {};
    tree.texts = {
        {"/proc/self/mountinfo", "30 24 0:26 / /fake rw - cgroup2 cgroup2 rw\n"},
        {"/proc/self/cgroup", "0::/slice/job\n"},
        {"/fake/slice/job/memory.max", "max\n"},
        {"/fake/slice/job/memory.current", "100\n"},
        {"/fake/slice/memory.max", "1000\n"},
        {"/fake/slice/memory.current", "900\n"},
        {"/fake/slice/memory.stat", "anon 5\ninactive_file 300\nactive_file 7\n"},
    };
    const ScopedCalls scoped(calls_on_tree());
    EXPECT_EQ(cgroup_headroom_bytes(), 400u);  // 1000 - (900 - 300)
}

TEST(os, headroom_of_the_first_generation_of_cgroups_is_read_too) {
    tree = {};
    tree.texts = {
        {"/proc/self/mountinfo",
         "20 1 0:20 / /sys rw - sysfs sysfs rw\n31 24 0:27 / /fake rw,relatime - cgroup cgroup rw,memory\n"},
        {"/proc/self/cgroup", "8:pids:/\n4:memory:/job\n0::/\n"},
        {"/fake/job/memory.limit_in_bytes", "5000\n"},
        {"/fake/job/memory.usage_in_bytes", "6000\n"},
        {"/fake/job/memory.stat", "inactive_file 9999\ntotal_inactive_file 1500\n"},
        {"/fake/memory.limit_in_bytes", "9223372036854771712\n"},
        {"/fake/memory.usage_in_bytes", "1\n"},
    };
    const ScopedCalls scoped(calls_on_tree());
    EXPECT_EQ(cgroup_headroom_bytes(), 500u);
}

TEST(os, a_container_sees_its_own_part_of_the_hierarchy_as_the_root) {
    tree = {};
    tree.texts = {
        {"/proc/self/mountinfo", "30 24 0:26 /docker/abc /fake rw - cgroup2 cgroup2 rw\n"},
        {"/proc/self/cgroup", "0::/docker/abc\n"},
        {"/fake/memory.max", "1000\n"},
        {"/fake/memory.current", "1000\n"},
    };
    const ScopedCalls scoped(calls_on_tree());
    EXPECT_EQ(cgroup_headroom_bytes(), 0u);
    // On tmpfs an overrun would be a kill, so the cgroup counts; elsewhere the page cache gives way.
    EXPECT_EQ(headroom_bytes(File::create_unnamed("/dev/shm/unnamed", 0600)), 0u);
}

// A pool without a size grew to all of /dev/shm, which was as large as the memory, and the kernel killed a rank.
TEST(os, a_pool_without_a_size_is_given_half_of_the_memory_that_is_left) {
    tree = {};
    tree.texts = {
        {"/proc/meminfo", "MemTotal:        1000 kB\nMemFree:           10 kB\nMemAvailable:     600 kB\n"},
        {"/proc/self/mountinfo", "30 24 0:26 / /fake rw - cgroup2 cgroup2 rw\n"},
        {"/proc/self/cgroup", "0::/job\n"},
        {"/fake/job/memory.max", "max\n"},
        {"/fake/job/memory.current", "0\n"},
    };
    const ScopedCalls scoped(calls_on_tree());
    const File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    EXPECT_EQ(default_limit_bytes(file), 300u * 1024);
    tree.texts["/fake/job/memory.max"] = "4096\n";
    EXPECT_EQ(default_limit_bytes(file), 2048u);
    tree.texts.erase("/fake/job/memory.max");
    tree.texts["/proc/meminfo"] = "";
    EXPECT_EQ(default_limit_bytes(file), free_bytes(file));
}

TEST(os, no_limit_is_no_limit) {
    tree = {};
    tree.texts = {{"/proc/self/mountinfo", "20 1 0:20 / /sys rw - sysfs sysfs rw\n"},
                  {"/proc/self/cgroup", "0::/\n"}};
    const ScopedCalls scoped(calls_on_tree());
    EXPECT_EQ(cgroup_headroom_bytes(), unlimited_bytes);
}

TEST(os, free_space_is_that_of_the_file_system) {
    const File file = File::create_unnamed("/dev/shm/unnamed", 0600);
    EXPECT_GT(free_bytes(file), 0u);
    EXPECT_GT(cgroup_headroom_bytes(), 0u);
    Calls fake = system_calls();
    fake.fstatvfs = [](int, struct statvfs* status) {
        *status = {};
        return 0;
    };
    const ScopedCalls scoped(fake);
    EXPECT_EQ(free_bytes(file), unlimited_bytes);  // a tmpfs mounted without a size has no blocks
}

// Each file in memory asked some twenty files of /proc and /sys before it was made: a third of what a move there took.
// The last of these tests, for others want no answer of a moment ago.
TEST(os, far_from_any_limit_headroom_is_not_asked_for_again_and_again) {
    const auto with = [](const std::string& limit) {
        tree.texts = {
            {"/proc/self/mountinfo", "30 24 0:26 / /fake rw - cgroup2 cgroup2 rw\n"},
            {"/proc/self/cgroup", "0::/job\n"},
            {"/fake/job/memory.max", limit},
            {"/fake/job/memory.current", "0\n"},
        };
    };
    const ScopedCalls scoped(calls_on_tree());
    tree = {};
    with("1000\n");
    EXPECT_EQ(recent_cgroup_headroom_bytes(), 1000u);
    with("900\n");
    EXPECT_EQ(recent_cgroup_headroom_bytes(), 900u);  // near the limit each answer is a new one
    with("800000000000\n");
    EXPECT_EQ(recent_cgroup_headroom_bytes(), 800'000'000'000u);
    const auto reads_before = tree.opened.size();
    for (int i = 0; i < 1000; ++i) recent_cgroup_headroom_bytes();
    EXPECT_LT(tree.opened.size() - reads_before, 500u);
}

}  // namespace
