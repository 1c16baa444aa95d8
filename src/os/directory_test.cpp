#include "os/directory.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <pmemcpy/error.hpp>

#include "os/calls.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::os {
namespace {

class directory : public testing::Test {
protected:
    void write(const std::string& name) { std::ofstream(folder_ / name) << "text"; }

    // As a rule on a disk, which lists its names in an order of its own.
    Folder folder_{std::filesystem::temp_directory_path()};
    File here_ = File::open(folder_.path(), O_RDONLY | O_DIRECTORY);
};

TEST_F(directory, lists_every_name_of_a_large_directory_twice) {
    for (int i = 0; i < 3000; ++i) write("a_name_of_some_length_" + std::to_string(i));
    EXPECT_EQ(names_in(here_).size(), 3000u);
    EXPECT_EQ(names_in(here_).size(), 3000u);
}

// Another process removed it between its opening and its listing, and that was an error of whoever had done nothing wrong.
TEST_F(directory, has_nothing_in_it_when_it_is_removed_while_it_is_listed) {
    static std::string removed;
    removed = folder_ / "removed";
    std::filesystem::create_directory(removed);
    const File there = File::open(removed, O_RDONLY | O_DIRECTORY);
    Calls calls = system_calls();
    calls.getdents64 = [](int fd, void* entries, size_t size) {
        std::filesystem::remove(removed);
        return system_calls().getdents64(fd, entries, size);
    };
    const ScopedCalls scoped(calls);
    EXPECT_TRUE(names_in(there).empty());
    EXPECT_FALSE(std::filesystem::exists(removed));
}

// MooseFS and NFS know no RENAME_NOREPLACE: nothing could be flushed there.
TEST_F(directory, gives_a_new_name_also_where_the_file_system_cannot_refuse_a_taken_one) {
    Calls calls = system_calls();
    calls.renameat2 = [](int, const char*, int, const char*, unsigned) {
        errno = EINVAL;
        return -1;
    };
    for (const bool has_links : {true, false}) {
        if (!has_links) {
            calls.linkat = [](int, const char*, int, const char*, int) {
                errno = EPERM;
                return -1;
            };
        }
        const ScopedCalls scoped(calls);
        write("from");
        std::filesystem::create_directory(folder_ / "folder");
        EXPECT_TRUE(rename_new_in(here_, "from", here_, "to"));
        EXPECT_FALSE(rename_new_in(here_, "from", here_, "other")) << "it is gone";
        EXPECT_TRUE(rename_new_in(here_, "folder", here_, "other"));
        write("from");
        EXPECT_FALSE(rename_new_in(here_, "from", here_, "to"));
        EXPECT_FALSE(rename_new_in(here_, "from", here_, "other"));
        auto names = names_in(here_);
        std::sort(names.begin(), names.end());
        EXPECT_EQ(names, (std::vector<std::string>{"from", "other", "to"}));
        for (const char* name : {"from", "other", "to"}) std::filesystem::remove(folder_ / name);
    }
}

TEST_F(directory, tells_what_a_name_stands_for) {
    write("file");
    std::filesystem::create_symlink("file", folder_ / "link");
    ASSERT_TRUE(make_directory_in(here_, "sub", 0755));
    EXPECT_FALSE(make_directory_in(here_, "sub", 0755));
    EXPECT_EQ(look_in(here_, "file")->what, Named::regular);
    EXPECT_EQ(look_in(here_, "file")->size, 4u);
    EXPECT_EQ(look_in(here_, "link")->what, Named::other);
    EXPECT_EQ(look_in(here_, "sub")->what, Named::directory);
    EXPECT_FALSE(look_in(here_, "nothing"));
}

TEST_F(directory, links_renames_and_removes) {
    write("file");
    EXPECT_TRUE(link_in(here_, "file", here_, "second"));
    EXPECT_FALSE(link_in(here_, "file", here_, "second"));
    EXPECT_EQ(look_in(here_, "second")->identity, look_in(here_, "file")->identity);
    EXPECT_EQ(look_in(here_, "second")->link_count, 2u);
    EXPECT_TRUE(rename_in(here_, "second", here_, "third"));
    EXPECT_FALSE(rename_in(here_, "second", here_, "third"));
    EXPECT_TRUE(remove_in(here_, "third"));
    EXPECT_FALSE(remove_in(here_, "third"));
    EXPECT_THROW(link_in(here_, "nothing", here_, "x"), Error);
}

TEST_F(directory, removes_only_empty_directories) {
    ASSERT_TRUE(make_directory_in(here_, "sub", 0755));
    write("sub/file");
    EXPECT_FALSE(remove_directory_in(here_, "sub"));
    std::filesystem::remove(folder_ / "sub/file");
    EXPECT_TRUE(remove_directory_in(here_, "sub"));
    EXPECT_FALSE(remove_directory_in(here_, "sub"));
}

TEST_F(directory, opening_a_name_in_it_follows_no_symbolic_link) {
    write("file");
    std::filesystem::create_symlink("file", folder_ / "link");
    EXPECT_TRUE(File::open_in(here_, "file", O_RDONLY));
    EXPECT_FALSE(File::open_in(here_, "nothing", O_RDONLY));
    EXPECT_THROW(File::open_in(here_, "link", O_RDONLY), Error);
}

TEST_F(directory, its_file_system_can_be_synced) {
    write("file");
    sync_file_system(here_);
}

}  // namespace
}  // namespace pmemcpy::os
