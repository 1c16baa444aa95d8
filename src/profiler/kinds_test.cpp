#include "profiler/kinds.hpp"
#include "profiler/places.hpp"

#include <gtest/gtest.h>

namespace pmemcpy::profiler {
namespace {

os::Mount mount(const std::string& line) { return os::parse_mounts(line).at(0); }

TEST(profiler, knows_what_kind_of_target_a_mount_would_be) {
    EXPECT_EQ(kind_of(mount("1 2 0:3 / /dev/shm rw - tmpfs tmpfs rw")), TargetKind::tmpfs);
    EXPECT_EQ(kind_of(mount("1 2 259:1 / /x rw - ext4 /dev/nvme0n1 rw")), TargetKind::file);
    EXPECT_EQ(kind_of(mount("1 2 259:1 / /x rw - ext4 /dev/pmem0 rw,dax=always")), TargetKind::dax);
    EXPECT_EQ(kind_of(mount("1 2 259:1 / /x rw - xfs /dev/pmem0 rw,dax=inode")), TargetKind::file);
    EXPECT_EQ(kind_of(mount("1 2 0:9 / /x rw - btrfs /dev/sda rw")), TargetKind::file);
    EXPECT_EQ(kind_of(mount("1 2 0:9 / /x rw - lustre mgs:/scratch rw")), TargetKind::shared);
    EXPECT_EQ(kind_of(mount("1 2 0:9 / /x rw - nfs4 host:/x rw")), TargetKind::shared);
    EXPECT_EQ(kind_of(mount("1 2 0:9 / /x rw - fuse.sshfs host:/x rw")), TargetKind::shared);
}

// A receipt says that a block in a `shared` target survives the node.
TEST(profiler, calls_shared_only_what_is_known_to_be) {
    EXPECT_EQ(kind_of(mount("1 2 0:9 / /x rw - fuse.encfs encfs rw")), TargetKind::file);
    EXPECT_EQ(kind_of(mount("1 2 0:9 / /x rw - newfs host:/x rw")), TargetKind::file);
}

TEST(profiler, leaves_out_what_only_shows_something) {
    for (const char* name : {"proc", "sysfs", "cgroup2", "devtmpfs", "autofs", "fuse.portal"})
        EXPECT_TRUE(is_pseudo(name)) << name;
    for (const char* name : {"tmpfs", "ext4", "overlay", "nfs", "fuse.sshfs", "zfs"})
        EXPECT_FALSE(is_pseudo(name)) << name;
}

struct Found {
    std::vector<Place> places;
    std::vector<os::Mount> mounts;
    void add(const std::string& line, std::uint64_t free, const std::string& hindrance = "") {
        mounts.push_back(mount(line));
        Place place;
        place.path = mounts.back().point;
        place.kind = kind_of(mounts.back());
        place.free_bytes = free;
        place.hindrance = hindrance;
        places.push_back(place);
    }
    std::string free_ones() {
        keep_one_of_each(places, mounts);
        std::string all;
        for (const Place& place : places) all += place.hindrance.empty() ? place.path + " " : "";
        return all;
    }
};

TEST(profiler, of_a_file_system_that_is_mounted_twice_takes_the_whole_one) {
    Found found;
    found.add("1 2 8:1 /home /home rw - ext4 /dev/sda1 rw", 100);
    found.add("1 2 8:1 / /mnt rw - ext4 /dev/sda1 rw", 100);
    found.add("1 2 8:1 / /again rw - ext4 /dev/sda1 rw", 100);
    found.add("1 2 8:2 / /other rw - ext4 /dev/sda2 rw", 100);
    EXPECT_EQ(found.free_ones(), "/mnt /other ");
    EXPECT_EQ(found.places[0].hindrance, "/home is on the same file system as /mnt");
}

TEST(profiler, of_a_file_system_that_is_mounted_twice_takes_the_one_that_can_be_written) {
    Found found;
    found.add("1 2 8:1 / / ro - ext4 /dev/sda1 rw", 100, "/ can only be read");
    found.add("1 2 8:1 /home /home rw - ext4 /dev/sda1 rw", 100);
    EXPECT_EQ(found.free_ones(), "/home ");
}

TEST(profiler, takes_memory_once) {
    Found found;
    found.add("1 2 0:1 / /run rw - tmpfs tmpfs rw", 900);
    found.add("1 2 0:2 / /dev/shm rw - tmpfs tmpfs rw", 500);
    found.add("1 2 0:3 / /tmp rw - tmpfs tmpfs rw", 800);
    EXPECT_EQ(found.free_ones(), "/dev/shm ");
    Found without;
    without.add("1 2 0:1 / /run rw - tmpfs tmpfs rw", 700);
    without.add("1 2 0:3 / /tmp rw - tmpfs tmpfs rw", 800);
    EXPECT_EQ(without.free_ones(), "/tmp ");
}

}  // namespace
}  // namespace pmemcpy::profiler
