// MPI ranks store and load one array on a real DAX file system, and in memory beside it nothing is promised.

#include <gtest/gtest.h>

#include <cstdio>

#include "virtual_machine.hpp"

namespace machine {
namespace {

TEST(Machine, two_ranks_share_an_array_that_is_mapped_with_map_sync_and_memory_promises_nothing) {
    const std::string domain3d = MACHINE_LAUNCH " -n 2 " MACHINE_DOMAIN3D;
    const std::string pool = " --pool /mnt/pmem/domain --map-sync on --verify";
    const std::string ask = MACHINE_COMMAND " info --json ";
    try {
        const auto result =
            VirtualMachine({"--use", "ext4"})
                .run(domain3d + " write --gib 0.004" + pool + " && " + domain3d + " read --grid 1x2x1" +
                     pool + " && " + ask +
                     "/mnt/pmem/domain && " MACHINE_COMMAND " create /dev/shm/pool --size 16MiB && " + ask +
                     "/dev/shm/pool");
        ASSERT_EQ(result.status, 0) << result.output;
        EXPECT_NE(result.output.find("\"durability\":\"line\""), std::string::npos) << result.output;
        EXPECT_NE(result.output.find("\"map_sync\":true"), std::string::npos) << result.output;
        EXPECT_NE(result.output.find("\"durability\":\"none\""), std::string::npos) << result.output;
    } catch (const Missing& missing) {
        std::printf("machines: skipped, %s\n", missing.what());
        GTEST_SKIP() << missing.what();
    }
}

}  // namespace
}  // namespace machine
