#include "layout/names.hpp"

#include "layout/payload_name.hpp"
#include "os/calls.hpp"
#include "os/directory.hpp"
#include "tests/folder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <utility>

namespace pmemcpy::layout {
namespace {

namespace fs = std::filesystem;

class names : public testing::Test {
protected:
    names() {
        fs::create_directory(here_ / ".data");
        root_ = os::File::open(here_.path(), O_RDONLY | O_DIRECTORY);
        data_ = os::File::open(here_ / ".data", O_RDONLY | O_DIRECTORY);
    }
    void payload(std::uint64_t number) {
        auto file = os::File::open_in(data_, name_of_payload(number), O_RDWR | O_CREAT, 0600);
        const std::string text = std::to_string(number);
        file->write_exactly(text.data(), text.size(), 0);
        file->set_mode_bits(0600 | payload_mark);
    }
    std::string read(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(here_ / name).rdbuf();
        return text.str();
    }
    bool is_there(const std::string& name) const {
        return fs::symlink_status(here_ / name).type() != fs::file_type::not_found;
    }

    Folder here_;
    os::File root_;
    os::File data_;
    Names names_{root_, data_};
};

TEST_F(names, lead_to_a_payload_and_then_to_another_one) {
    payload(1);
    payload(2);
    names_.link("a/b/c", 1);
    EXPECT_EQ(read("a/b/c"), "1");
    names_.link("a/b/c", 2);
    EXPECT_EQ(read("a/b/c"), "2");
    names_.link("a/b/c", 2);
    EXPECT_EQ(read("a/b/c"), "2");
    EXPECT_EQ(os::names_in(data_).size(), 2u) << "nothing passing is left";
    EXPECT_EQ(os::look_in(data_, name_of_payload(1))->link_count, 1u);
}

TEST_F(names, go_and_their_groups_go_when_empty) {
    payload(1);
    names_.link("a/b", 1);
    names_.remove_group("a");
    EXPECT_TRUE(is_there("a/b"));
    names_.unlink("a/b");
    names_.unlink("a/b");
    EXPECT_FALSE(is_there("a/b"));
    names_.remove_group("a");
    EXPECT_FALSE(is_there("a"));
    names_.unlink("nothing/at/all");
    names_.remove_group("nothing/at/all");
}

TEST_F(names, that_are_no_file_names_are_hashed) {
    const std::string longest(255, 'x');
    EXPECT_EQ(Names::components_of("a/" + longest), (std::vector<std::string>{"a", longest}));
    for (const std::string& odd :
         {std::string(256, 'x'), std::string(".data"), std::string(".pool"), std::string(".x")}) {
        const auto components = Names::components_of(odd);
        ASSERT_EQ(components.size(), 1u);
        EXPECT_EQ(components[0].size(), 17u);
        EXPECT_EQ(components[0].front(), '#');
        EXPECT_NE(Names::components_of(components[0]), components)
            << "an id that looks hashed does not collide";
    }
    EXPECT_EQ(Names::components_of("#not-a-hash")[0], "#not-a-hash");
    EXPECT_EQ(Names::components_of(".x")[0], "#8fa60ce6d8f30640") << "the form is stable";
    payload(1);
    names_.link(std::string(300, 'g') + "/" + std::string(300, 'v'), 1);
    EXPECT_EQ(read(Names::components_of(std::string(300, 'g'))[0] + "/" +
                   Names::components_of(std::string(300, 'v'))[0]),
              "1");
}

TEST_F(names, deeper_than_files_can_be_open) {
    payload(1);
    std::string id = "a";
    for (int depth = 1; depth < 1100; ++depth) id += "/a";
    names_.link(id, 1);
    names_.keep_only({id});
    EXPECT_EQ(os::look_in(data_, name_of_payload(1))->link_count, 2u);
    names_.keep_only({});
    EXPECT_EQ(os::look_in(data_, name_of_payload(1))->link_count, 1u);
    EXPECT_FALSE(is_there("a"));
}

TEST_F(names, do_not_follow_a_symbolic_link_out_of_the_directory) {
    const Folder outside;
    payload(1);
    fs::create_directory_symlink(outside.path(), here_ / "a");
    std::ofstream(outside / "b") << "theirs";
    fs::create_symlink(outside / "b", here_ / "c");
    names_.link("a/x", 1);
    names_.link("a/b", 1);
    names_.link("c", 1);
    names_.unlink("a/b");
    names_.unlink("c");
    names_.remove_group("a");
    names_.keep_only({});
    EXPECT_TRUE(fs::is_symlink(here_ / "a"));
    EXPECT_TRUE(fs::is_symlink(here_ / "c"));
    EXPECT_FALSE(fs::exists(outside / "x"));
    EXPECT_EQ(read("c"), "theirs");
}

TEST_F(names, leave_alone_what_is_not_theirs) {
    payload(1);
    std::ofstream(here_ / "notes") << "mine";
    fs::create_directories(here_ / "folder");
    std::ofstream(here_ / "folder/notes") << "mine";
    names_.link("notes", 1);
    names_.link("folder", 1);
    names_.unlink("notes");
    names_.keep_only({});
    EXPECT_EQ(read("notes"), "mine");
    EXPECT_EQ(read("folder/notes"), "mine");
}

TEST_F(names, of_an_erased_group_give_way_to_a_variable) {
    payload(1);
    names_.link("a/b", 1);
    names_.unlink("a/b");
    names_.link("a", 1);
    EXPECT_EQ(read("a"), "1");
    names_.link("a/b", 1);  // cannot exist beside it
    EXPECT_EQ(read("a"), "1");
}

TEST_F(names, are_mended_as_a_whole) {
    for (std::uint64_t number = 1; number <= 3; ++number) payload(number);
    names_.link("keep/x", 1);
    names_.link("gone/deep/y", 2);
    names_.link("z", 3);
    names_.keep_only({"keep/x"});
    EXPECT_EQ(read("keep/x"), "1");
    EXPECT_FALSE(is_there("gone"));
    EXPECT_FALSE(is_there("z"));
    EXPECT_EQ(os::names_in(data_).size(), 3u) << "payloads are not names";
}

/// What a user does right after the library has looked at a name.
std::function<void()> after_the_look;
const char* looked_at = nullptr;

os::Calls with_a_user_behind_the_look(const char* name, std::function<void()> act) {
    looked_at = name;
    after_the_look = std::move(act);
    os::Calls calls = os::system_calls();
    calls.fstatat = [](int at, const char* path, struct stat* status, int flags) {
        const int result = os::system_calls().fstatat(at, path, status, flags);
        if (std::strcmp(path, looked_at) == 0) {
            if (const auto user = std::exchange(after_the_look, nullptr)) user();
        }
        return result;
    };
    return calls;
}

// A user's file that came between the look at a name and the change of it was destroyed.
TEST_F(names, leave_a_file_that_a_user_puts_there_after_the_look) {
    payload(1);
    payload(2);
    const auto put = [&] {
        std::ofstream(here_ / "new") << "mine";
        fs::rename(here_ / "new", here_ / "x");
    };
    names_.link("x", 1);
    {
        const os::ScopedCalls scoped(with_a_user_behind_the_look("x", put));
        names_.link("x", 2);
    }
    EXPECT_EQ(read("x"), "mine");
    fs::remove(here_ / "x");
    names_.link("x", 1);
    {
        const os::ScopedCalls scoped(with_a_user_behind_the_look("x", put));
        names_.unlink("x");
    }
    EXPECT_EQ(read("x"), "mine");
    fs::remove(here_ / "x");
    names_.link("x", 1);
    {
        const os::ScopedCalls scoped(with_a_user_behind_the_look("x", put));
        names_.keep_only({});
    }
    EXPECT_EQ(read("x"), "mine");
    EXPECT_EQ(os::names_in(data_).size(), 2u) << "nothing passing is left";
}

TEST_F(names, change_also_where_two_names_cannot_be_exchanged) {
    payload(1);
    payload(2);
    os::Calls calls = os::system_calls();
    calls.renameat2 = [](int from_at, const char* from, int to_at, const char* to, unsigned flags) {
        if ((flags & RENAME_EXCHANGE) != 0) return errno = EINVAL, -1;
        return os::system_calls().renameat2(from_at, from, to_at, to, flags);
    };
    const os::ScopedCalls scoped(calls);
    names_.link("x", 1);
    names_.link("x", 2);
    EXPECT_EQ(read("x"), "2");
    EXPECT_EQ(os::names_in(data_).size(), 2u) << "nothing passing is left";
}

TEST_F(names, of_a_payload_that_is_gone_are_left_out) {
    names_.link("a/b", 7);
    EXPECT_FALSE(is_there("a/b"));
}

}  // namespace
}  // namespace pmemcpy::layout
