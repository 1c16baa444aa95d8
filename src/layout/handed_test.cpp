#include "layout/handed.hpp"

#include "os/directory.hpp"
#include "tests/folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace pmemcpy::layout {
namespace {

class handed : public testing::Test {
protected:
    Folder here_;
    os::File directory_ = os::File::open(here_.path(), O_RDONLY | O_DIRECTORY);
};

TEST_F(handed, is_known_to_the_next_who_asks_by_name_and_checksum) {
    {
        Handed list(directory_);
        EXPECT_FALSE(list.has("a", 1));
        list.add("a", 1, 0600);
        list.add("b", 0xdeadbeef, 0600);
        EXPECT_TRUE(list.has("a", 1));
    }
    const Handed list(directory_);
    EXPECT_TRUE(list.has("a", 1));
    EXPECT_TRUE(list.has("b", 0xdeadbeef));
    EXPECT_FALSE(list.has("a", 2)) << "another file under the name";
}

TEST_F(handed, half_a_line_of_a_killed_process_counts_for_nothing) {
    Handed(directory_).add("a", 1, 0600);
    Handed(directory_).add("b", 2, 0600);
    std::filesystem::resize_file(here_ / "handed-over",
                                 std::filesystem::file_size(here_ / "handed-over") - 3);
    Handed list(directory_);
    EXPECT_TRUE(list.has("a", 1));
    EXPECT_FALSE(list.has("b", 2));
    list.add("c", 3, 0600);
    const Handed next(directory_);
    EXPECT_TRUE(next.has("a", 1));
    EXPECT_FALSE(next.has("b", 2));
    EXPECT_TRUE(next.has("c", 3));
}

TEST_F(handed, files_that_are_gone_are_forgotten_when_they_are_most) {
    Handed list(directory_);
    for (int i = 0; i < 2000; ++i) list.add("file" + std::to_string(i), 1, 0600);
    list.keep_only({"file7"}, 0600);
    const Handed next(directory_);
    EXPECT_TRUE(next.has("file7", 1));
    EXPECT_FALSE(next.has("file8", 1));
    EXPECT_LT(std::filesystem::file_size(here_ / "handed-over"), 100u);
}

TEST_F(handed, trouble_stays_until_it_is_over) {
    EXPECT_EQ(Handed::trouble_in(directory_), "");
    Handed::set_trouble(directory_, "no route to host", 0600);
    EXPECT_EQ(Handed::trouble_in(directory_), "no route to host");
    Handed::set_trouble(directory_, "", 0600);
    EXPECT_EQ(Handed::trouble_in(directory_), "");
}

}  // namespace
}  // namespace pmemcpy::layout
