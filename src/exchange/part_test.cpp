#include "exchange/part.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <pmemcpy/error.hpp>
#include <sstream>
#include <string>

#include "tests/folder.hpp"

namespace pmemcpy::exchange {
namespace {

namespace fs = std::filesystem;

class parts : public testing::Test {
protected:
    std::string file() const { return here_ / "a.npy"; }
    static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
    std::string content() const {
        std::ostringstream text;
        text << std::ifstream(file()).rdbuf();
        return text.str();
    }
    std::ptrdiff_t entries() const {
        return std::distance(fs::directory_iterator(here_.path()), fs::directory_iterator());
    }
    Folder here_;
};

// The passing name had the number of the process, which another one has in another container: each took the other's part for a leftover.
TEST_F(parts, of_two_exports_to_one_file_do_not_touch_each_other) {
    Part one(file(), true);
    write(one.path(), "one");
    {
        Part other(file(), true);
        write(other.path(), "other");
        other.become_whole();
        EXPECT_EQ(content(), "other");
    }
    one.become_whole();
    EXPECT_EQ(content(), "one");
}

TEST_F(parts, that_fail_leave_nothing) {
    {
        Part part(file(), false);
        write(part.path(), "half");
    }
    EXPECT_EQ(entries(), 0);
    write(file(), "theirs");
    EXPECT_THROW(Part(file(), false), Error);
    EXPECT_EQ(entries(), 1);
}

TEST_F(parts, of_the_dead_go_with_the_next_export_and_a_users_folder_stays) {
    const pid_t child = ::fork();
    if (child == 0) {
        Part part(file(), false);
        write(part.path(), "half");
        ::_exit(0);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    ASSERT_EQ(entries(), 1);
    fs::create_directory(here_ / "a.npy.partabcdef");
    write(here_ / "a.npy.partabcdef/notes", "mine");
    Part other(here_ / "b.npy", false);
    EXPECT_EQ(entries(), 2) << "the user's, and its own";
    EXPECT_TRUE(fs::exists(here_ / "a.npy.partabcdef/notes"));
}

}  // namespace
}  // namespace pmemcpy::exchange
