#include "os/names.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>
#include <pmemcpy/error.hpp>

#include "os/file.hpp"
#include "os/process.hpp"

namespace {

using namespace pmemcpy;
using namespace pmemcpy::os;

TEST(os, names_come_and_go) {
    const std::string folder =
        (std::filesystem::temp_directory_path() / ("pmemcpy_os_names_" + std::to_string(::getpid())))
            .string();
    EXPECT_TRUE(make_directory(folder, 0700));
    EXPECT_FALSE(make_directory(folder, 0700));
    EXPECT_TRUE(is_directory(folder));
    { const File file = File::open(folder + "/a", O_RDWR | O_CREAT, 0600); }
    EXPECT_TRUE(make_hard_link(folder + "/a", folder + "/b"));
    EXPECT_FALSE(make_hard_link(folder + "/a", folder + "/b"));
    EXPECT_EQ(File::open(folder + "/a", O_RDONLY).link_count(), 2u);
    rename_file(folder + "/b", folder + "/c");
    EXPECT_FALSE(exists(folder + "/b"));
    EXPECT_EQ(real_path(folder + "/./c"), real_path(folder + "/c"));
    EXPECT_FALSE(real_path(folder + "/b"));
    EXPECT_THROW(rename_file(folder + "/b", folder + "/c"), Error);
    EXPECT_THROW(remove_directory(folder), Error);
    EXPECT_TRUE(remove_file(folder + "/a"));
    EXPECT_TRUE(remove_file(folder + "/c"));
    EXPECT_TRUE(remove_directory(folder));
    EXPECT_FALSE(remove_directory(folder));
}

TEST(os, a_settled_path_leads_to_the_same_place_from_everywhere) {
    const std::string folder = *real_path(std::filesystem::temp_directory_path().string());
    const std::string here = folder + "/pmemcpy_os_settled_" + std::to_string(::getpid());
    ASSERT_TRUE(make_directory(here, 0700));
    { const File file = File::open(here + "/file", O_RDWR | O_CREAT, 0600); }
    std::filesystem::create_symlink(here + "/file", here + "/link");
    std::filesystem::create_symlink(here, here + "/way");
    std::filesystem::create_symlink(here + "/nowhere", here + "/dangling");
    EXPECT_EQ(settled_path(here + "/way/./link"), here + "/file");
    EXPECT_EQ(settled_path(here + "/way/"), here + "/");
    EXPECT_EQ(settled_path(here + "/way/new"), here + "/new");
    EXPECT_EQ(settled_path(here + "/way/new/"), here + "/new/");
    EXPECT_EQ(settled_path(here + "/dangling"), here + "/dangling");  // who makes it there meets the link
    EXPECT_EQ(settled_path(here + "/missing/new"), here + "/missing/new");
    EXPECT_EQ(settled_path("/"), "/");
    EXPECT_EQ(settled_path(""), "");
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(here);
    EXPECT_EQ(settled_path("file"), here + "/file");
    EXPECT_EQ(settled_path("new"), here + "/new");
    EXPECT_EQ(settled_path("../" + here.substr(here.rfind('/') + 1) + "/new/"), here + "/new/");
    std::filesystem::current_path(before);
    std::filesystem::remove_all(here);
}

TEST(os, small_texts_of_proc_are_read_whole) {
    EXPECT_EQ(read_text("/proc/self/comm"), program_name().substr(0, 15));
    EXPECT_FALSE(read_text("/proc/self/no such text"));
}

TEST(os, a_process_knows_itself_and_the_time) {
    EXPECT_EQ(process_id(), static_cast<std::uint64_t>(::getpid()));
    EXPECT_FALSE(host_name().empty());
    const std::uint64_t before = monotonic_ns();
    EXPECT_GE(monotonic_ns(), before);
    EXPECT_GT(wall_ns(), std::uint64_t{1'600'000'000} * 1'000'000'000);
}

}  // namespace
