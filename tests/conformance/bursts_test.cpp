// While somebody stores: what goes down before it has to.

#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/tiers.hpp>

#include "tests/conformance/blocks.hpp"
#include "tests/folder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class bursts : public testing::Test {
protected:
    bursts() {
        for (const Target& target : hierarchy().targets) {
            if (!target.path.empty()) fs::create_directory(target.path);
        }
    }
    /// The pool and NVMe have room for 32 blocks each. The parallel file system takes one a second, so that hardly any block makes room by its
    /// copy there.
    Hierarchy hierarchy() const {
        Hierarchy h;
        const auto below = [&](const std::string& name, TargetKind kind, double bytes_per_second) {
            return Target{.name = name,
                          .kind = kind,
                          .path = folder_ / name,
                          .write = {bytes_per_second, 1e-4},
                          .read = {bytes_per_second, 1e-4}};
        };
        h.targets = {{.name = "pool", .kind = TargetKind::tmpfs, .write = {8e9, 1e-6}, .read = {9e9, 1e-6}},
                     below("nvme", TargetKind::file, 2e9),
                     below("bb", TargetKind::shared, 2e8),
                     below("pfs", TargetKind::shared, 1e6)};
        h.targets[1].capacity_bytes = 32 * mebibyte;
        h.targets[3].limited = true;
        h.granularity_bytes = 64 << 10;
        h.mode = Buffering::write_back;
        return h;
    }
    PMEM open() const {
        Options options;
        options.max_bytes = 32 * mebibyte;
        options.chunk_bytes = 64 << 10;
        PMEM pool;
        pool.mmap(folder_ / "pool", options);
        return pool;
    }
    static void store(PMEM& pool, std::uint64_t i) {
        pool.store<double>("a", numbers(static_cast<double>(i)).data(), Box{{i, 0}, {1, numbers_in_block}});
    }

    Folder folder_;
};

// It used to have nothing to do until the pool was full, and then NVMe was (a tenth of a burst of four times the pool).
TEST_F(bursts, the_last_target_above_the_flush_target_begins_before_the_pool_is_full) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    pool.alloc<double>("a", {unlimited, numbers_in_block});
    constexpr std::uint64_t blocks = 20;
    for (std::uint64_t i = 0; i < blocks; ++i) store(pool, i);
    // The burst goes on until somebody has seen it.
    for (int times = 0; count_in(pool, "a", "bb") == 0; ++times) {
        ASSERT_LT(times, 3000) << "nothing has gone there";
        std::this_thread::sleep_for(10ms);
        store(pool, blocks - 1);
    }
    std::vector<double> found(numbers_in_block);
    for (std::uint64_t i = 0; i < blocks; ++i) {
        pool.load<double>("a", found.data(), Box{{i, 0}, {1, numbers_in_block}});
        EXPECT_EQ(found, numbers(static_cast<double>(i))) << i;
    }
}

}  // namespace
}  // namespace pmemcpy
