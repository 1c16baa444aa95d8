// Golden pools: what each released version of the format has left, closed in order and crashed, in a file and in a directory.
// Every later version opens them, for ever: to read, to write, to verify and to repair.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <pmemcpy/repair.hpp>

#include "golden_listing.hpp"
#include "tests/folder.hpp"
#include "tests/inside.hpp"

namespace pmemcpy::format {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> golden_pools() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(PMEMCPY_GOLDEN_FOLDER)) {
        if (entry.path().extension() == ".xz") names.push_back(entry.path().stem().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

class Golden : public ::testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        if (!is_available(Codec::Kind::zstd))
            GTEST_SKIP() << "built without Blosc, and some arrays are packed";
        const fs::path archive = fs::path(PMEMCPY_GOLDEN_FOLDER) / (GetParam() + ".tar.xz");
        const std::string command =
            "tar -xJf '" + archive.string() + "' -C '" + folder_.path().string() + "'";
        ASSERT_EQ(std::system(command.c_str()), 0) << command;
        std::ostringstream text;
        text << std::ifstream(fs::path(PMEMCPY_GOLDEN_FOLDER) / (GetParam() + ".txt")).rdbuf();
        listing_ = text.str();
        ASSERT_FALSE(listing_.empty());
    }
    bool is_crashed() const { return GetParam().ends_with("crashed"); }
    bool is_directory() const { return fs::is_directory(path()); }
    std::string path() const { return folder_ / "pool"; }
    static Options options(Mode mode) {
        Options options;
        options.mode = mode;
        return options;
    }

    Folder folder_;
    std::string listing_;
};

TEST_P(Golden, is_read_by_whoever_may_only_read) {
    PMEM pmem;
    if (is_crashed()) {
        EXPECT_THROW(pmem.mmap(path(), options(Mode::read)), Error)
            << "somebody who may write recovers it first";
        { PMEM().mmap(path(), options(Mode::update)); }
    }
    pmem.mmap(path(), options(Mode::read));
    EXPECT_EQ(listing_of(pmem), listing_);
    EXPECT_TRUE(pmem.verify().empty());
}

TEST_P(Golden, is_worked_on) {
    {
        PMEM pmem;
        pmem.mmap(path(), options(Mode::update));
        ASSERT_EQ(listing_of(pmem), listing_);
        pmem.store("new", std::string(10'000, 'n'));
        pmem.store<double>("g/growing", std::vector<double>(16, 1.0).data(), Box{{12, 0}, {1, 16}});
        pmem.begin(7);
        pmem.store("s", 7);
        pmem.commit(7);
        pmem.rename("w", "h/w");
        for (int i = 0; i < 12; ++i) pmem.erase("many/" + std::to_string(i));
    }
    PMEM pmem;
    pmem.mmap(path(), options(Mode::update));
    EXPECT_EQ(pmem.load<std::string>("new"), std::string(10'000, 'n'));
    EXPECT_EQ(pmem.load<int>("s"), 7);
    EXPECT_EQ(pmem.load<std::string>("h/w"), std::string(5'000, 'w'));
    EXPECT_EQ(pmem.load<int>("v"), 1);
    EXPECT_TRUE(pmem.verify().empty());
    pmem.munmap();
    const catalog::Audit audit = Inside(is_directory() ? path() + "/.pool" : path()).audit();
    EXPECT_TRUE(audit.complaints.empty()) << audit.complaints.front();
}

TEST_P(Golden, is_repaired) {
    const std::string fresh = folder_ / (is_directory() ? "fresh/" : "fresh");
    EXPECT_TRUE(repair(path(), fresh).damages.empty());
    PMEM pmem;
    pmem.mmap(fresh, options(Mode::read));
    EXPECT_EQ(listing_of(pmem), listing_);
}

INSTANTIATE_TEST_SUITE_P(of_all_versions, Golden, ::testing::ValuesIn(golden_pools()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace pmemcpy::format
