#pragma once

#include <pmemcpy/tiers.hpp>

#include "tests/conformance/blocks.hpp"
#include "tests/folder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pmemcpy {

/// A pool with a flush target below it.
class TwoTargets : public testing::Test {
protected:
    TwoTargets() { std::filesystem::create_directory(below_ / "pfs"); }
    PMEM open(std::uint64_t max_bytes = 8 * mebibyte, Mode mode = Mode::create_or_update) const {
        Options options;
        options.mode = mode;
        options.max_bytes = max_bytes;
        options.chunk_bytes = 64 << 10;
        PMEM pool;
        pool.mmap(here_ / "pool", options);
        return pool;
    }
    Hierarchy hierarchy(Buffering mode, double period_s = 0.05) const {
        Hierarchy h;
        h.targets = {{.name = "pool", .kind = TargetKind::tmpfs, .write = {8e9, 1e-6}, .read = {9e9, 1e-6}},
                     {.name = "pfs",
                      .kind = TargetKind::shared,
                      .path = below_ / "pfs",
                      .write = {1e8, 1e-3},
                      .read = {1e8, 1e-3}}};
        h.granularity_bytes = 64 << 10;
        h.mode = mode;
        h.flush.period_s = period_s;
        return h;
    }
    static void alloc(PMEM& pool, const std::string& id = "a") {
        pool.alloc<double>(id, {unlimited, numbers_in_block});
    }
    static void store(PMEM& pool, std::uint64_t i, double first, const std::string& id = "a") {
        pool.store<double>(id, numbers(first).data(), Box{{i, 0}, {1, numbers_in_block}});
    }
    static void expect(const PMEM& pool, std::uint64_t i, double first, const std::string& id = "a") {
        std::vector<double> found(numbers_in_block);
        pool.load<double>(id, found.data(), Box{{i, 0}, {1, numbers_in_block}});
        ASSERT_EQ(found, numbers(first)) << id << " block " << i;
    }
    static std::size_t flushed(const PMEM& pool, const std::string& id = "a") {
        std::size_t count = 0;
        for (const Receipt& receipt : receipts(pool, id)) count += receipt.is_flushed ? 1U : 0U;
        return count;
    }
    /// Files of blocks in a target's directory, whole ones.
    std::vector<std::filesystem::path> files(const std::string& target = "pfs") const {
        std::vector<std::filesystem::path> found;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(below_ / target)) {
            const std::string name = entry.path().filename();
            constexpr std::size_t digits = 16;
            if (entry.is_regular_file() && name.size() == digits) found.push_back(entry.path());
        }
        return found;
    }

    Folder here_;
    Folder below_{std::filesystem::temp_directory_path()};
};

}  // namespace pmemcpy
