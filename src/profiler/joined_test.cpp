#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <pmemcpy/error.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/profile.hpp>

#include "tests/folder.hpp"

namespace pmemcpy {
namespace {

struct joined_devices : ::testing::Test {
    joined_devices() {
        for (const char* name : {"a", "b"}) std::filesystem::create_directory(folder / name);
    }
    std::string refusal(const std::vector<std::string>& directories) const {
        try {
            static_cast<void>(joined(folder / "pool", directories));
        } catch (const Error& error) {
            return std::string(name_of(error.kind())) + ": " + error.what();
        }
        return "none";
    }

    Folder folder;
};

TEST_F(joined_devices, are_filled_one_after_the_other_and_are_one_pool) {
    constexpr Extent mebibyte = (1 << 20) / sizeof(double), blocks = 12;
    Options options;
    options.max_bytes = 8 << 20;
    options.chunk_bytes = 64 << 10;
    {
        PMEM pool;
        pool.mmap(folder / "pool", options);
        Hierarchy h = joined(folder / "pool", {folder / "a", folder / "b"});
        h.targets[1].capacity_bytes = 3 << 20;
        set_hierarchy(pool, h);
        pool.alloc<double>("A", {blocks, mebibyte});
        for (Extent i = 0; i < blocks; ++i) {
            std::vector<double> row(mebibyte, static_cast<double>(i));
            pool.store("A", row.data(), Box{{i, 0}, {1, mebibyte}});
        }
    }
    PMEM pool;
    pool.mmap(folder / "pool");
    std::vector<std::string> lies_in;
    for (const Receipt& receipt : receipts(pool, "A")) lies_in.push_back(receipt.target);
    EXPECT_EQ(std::count(lies_in.begin(), lies_in.end(), folder / "a"), 3);
    EXPECT_GE(std::count(lies_in.begin(), lies_in.end(), "pool"), 6);  // all but what is for records
    EXPECT_GE(std::count(lies_in.begin(), lies_in.end(), folder / "b"), 1);
    std::vector<double> all(blocks * mebibyte);
    pool.load("A", all.data(), Box{{0, 0}, {blocks, mebibyte}});
    for (Extent i = 0; i < blocks; ++i) EXPECT_EQ(all[i * mebibyte], static_cast<double>(i));
    EXPECT_TRUE(pool.verify().empty());
}

TEST_F(joined_devices, refuse_what_makes_no_sense) {
    EXPECT_EQ(refusal({folder / "a", folder / "b"}), "none");
    EXPECT_EQ(refusal({folder / "a", folder / "a/"}),
              "invalid_argument: " + (folder / "a") + " is given twice");
    EXPECT_NE(refusal({folder / "missing"}).find("cannot be joined"), std::string::npos);
    EXPECT_NE(refusal(std::vector<std::string>(8, folder / "a")).find("at most 7"), std::string::npos);
}

}  // namespace
}  // namespace pmemcpy
