// An index beside a pool that is not the one it was made of, though it has that one's name and number.

#include <filesystem>
#include <string>
#include <vector>

#include "index/index_suite.hpp"

namespace pmemcpy {
namespace {

// A pool was restored from a backup, and changed as often as before: the index of the run that was given up was taken for its own, and found
// what was not there, for ever.
TEST_F(index_beside_a_pool, of_a_run_that_was_given_up_is_none_of_the_restored_pool) {
    {
        PMEM pool = open(IndexMode::sync);
        for (int i = 0; i < 3; ++i) pool.store("v" + std::to_string(i), i);
        pool.alloc<double>("array", Dimensions{2});
    }
    const auto run = [&](int value) {
        PMEM pool = open();
        pool.set_attribute("v1", "a", value);
        pool.store("v2", value);
        pool.store<double>("array", std::vector<double>(2, value).data(), Box{{0}, {2}});
    };
    run(1);
    const std::string backup = folder_ / "backup";
    std::filesystem::copy_file(path_, backup);
    run(50);
    std::filesystem::copy_file(backup, path_, std::filesystem::copy_options::overwrite_existing);
    run(60);
    for (const Mode mode : {Mode::read, Mode::update, Mode::update}) {
        const PMEM restored = open(IndexMode::none, mode);
        EXPECT_EQ(ids(restored, "a = 60"), (std::vector<std::string>{"v1"}));
        EXPECT_EQ(ids(restored, "value = 60"), (std::vector<std::string>{"array", "v2"}));
        EXPECT_EQ(ids(restored, "max = 60"), (std::vector<std::string>{"array", "v2"}));
        EXPECT_TRUE(ids(restored, "a = 50").empty());
        EXPECT_TRUE(ids(restored, "value = 50").empty());
    }
    std::filesystem::copy_file(backup, path_, std::filesystem::copy_options::overwrite_existing);
    for (const Mode mode : {Mode::read, Mode::update}) {
        const PMEM restored = open(IndexMode::none, mode);
        EXPECT_EQ(ids(restored, "a = 1"), (std::vector<std::string>{"v1"}));
        EXPECT_TRUE(ids(restored, "a = 50").empty());
    }
}

}  // namespace
}  // namespace pmemcpy
