#include "os/mounts.hpp"

#include <gtest/gtest.h>

namespace {

using namespace pmemcpy::os;

const char* const text =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "27 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,discard\n"
    "30 27 0:40 / /mnt/my\\040data\\134x rw shared:2 master:7 - nfs4 host:/ex\\011port rw,hard\n"
    "31 27 259:3 /sub /pmem ro,noatime - xfs /dev/pmem0 rw,dax=always\n"
    "not a mount\n"
    "32 27 0:41 / /pmem/a rw - tmpfs none rw,size=1024k\n"
    "33 27 0:42 / /pmem/a rw - tmpfs upper rw\n";

TEST(os, mounts_are_read_with_what_is_escaped_in_them) {
    const std::vector<Mount> all = parse_mounts(text);
    ASSERT_EQ(all.size(), 6u);
    EXPECT_EQ(all[1].device_number, "259:2");
    EXPECT_EQ(all[1].source, "/dev/nvme0n1p2");
    EXPECT_EQ(all[2].point, "/mnt/my data\\x");
    EXPECT_EQ(all[2].source, "host:/ex\tport");
    EXPECT_EQ(all[2].file_system, "nfs4");
    EXPECT_EQ(all[3].root, "/sub");
}

TEST(os, a_mounts_options_are_whole_words) {
    const Mount pmem = parse_mounts(text)[3];
    EXPECT_TRUE(pmem.has_option("ro"));
    EXPECT_TRUE(pmem.has_option("dax=always"));
    EXPECT_FALSE(pmem.has_option("dax"));
    EXPECT_FALSE(pmem.has_option("noa"));
}

TEST(os, a_path_lies_in_the_deepest_mount_and_in_the_last_of_those_at_one_point) {
    const std::vector<Mount> all = parse_mounts(text);
    EXPECT_EQ(mount_of(all, "/pmem/a/b")->source, "upper");
    EXPECT_EQ(mount_of(all, "/pmem/ab")->source, "/dev/pmem0");
    EXPECT_EQ(mount_of(all, "/home")->source, "/dev/nvme0n1p2");
    EXPECT_EQ(mount_of({}, "/home"), nullptr);
}

TEST(os, broken_lines_are_no_mounts) {
    EXPECT_TRUE(parse_mounts("").empty());
    EXPECT_TRUE(parse_mounts("\n\n-\n1 2 3\n1 2 0:1 / /x rw").empty());
    EXPECT_EQ(parse_mounts("1 2 0:1 / /a\\04 rw - ext4 x rw")[0].point, "/a\\04");
}

// Not of "/": under a chroot to a folder that is no mount point there is none.
TEST(os, this_process_sees_mounts) {
    const std::vector<Mount> all = mounts();
    const Mount* const proc = mount_of(all, "/proc/self/mountinfo");
    ASSERT_NE(proc, nullptr);
    EXPECT_EQ(proc->file_system, "proc");
}

}  // namespace
