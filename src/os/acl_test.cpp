// Lists on real files, and where there are none.

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <string>

#include <pmemcpy/error.hpp>

#include "os/access.hpp"
#include "os/calls.hpp"
#include "os/directory.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::os {
namespace {

using Who = AclEntry::Who;

class acl : public testing::Test {
protected:
    void SetUp() override {
        try {
            set_acl(here_, *acl_of(here_));
        } catch (const Error& error) {
            GTEST_SKIP() << error.what();
        }
    }
    File file(int flags) {
        std::ofstream(folder_ / "file") << "text";
        return std::move(*File::open_in(here_, "file", flags));
    }

    const Acl list_{{{Who::owner, 0, 6},
                     {Who::user, 77, 4},
                     {Who::owning_group, 0, 0},
                     {Who::group, 78, 6},
                     {Who::mask, 0, 6},
                     {Who::other, 0, 0}}};
    Folder folder_;
    File here_ = File::open(folder_.path(), O_RDONLY | O_DIRECTORY);
};

TEST_F(acl, comes_back_as_it_was_set) {
    const File opened = file(O_RDONLY);
    EXPECT_FALSE(acl_of(opened)->is_extended());
    set_acl(opened, list_);
    EXPECT_EQ(acl_of(opened), list_);
    EXPECT_EQ(opened.mode_bits(), 0660u) << "the group's bits of the mode are the mask";
}

TEST_F(acl, needs_no_permission_to_open_the_file) {
    const File opened = file(O_PATH);
    set_acl(opened, list_);
    EXPECT_EQ(acl_of(opened), list_);
}

TEST_F(acl, of_a_directory_is_where_new_files_begin) {
    EXPECT_TRUE(default_acl_of(here_)->entries().empty());
    set_default_acl(here_, list_);
    EXPECT_EQ(default_acl_of(here_), list_);
    File made = File::create_unnamed(folder_ / "made", 0640);
    made.link_as(folder_ / "made");
    EXPECT_EQ(acl_of(made)->bits_of(Who::user, 77), 4u);
    EXPECT_EQ(acl_of(made)->bits_of(Who::mask), 4u) << "no more than was asked for";
}

TEST_F(acl, is_unsupported_where_the_file_system_keeps_none) {
    Calls without = system_calls();
    without.acl_extended_fd = [](int) {
        errno = ENOTSUP;
        return -1;
    };
    without.acl_get_fd = [](int) -> void* {
        errno = ENOTSUP;
        return nullptr;
    };
    without.acl_set_fd = [](int, void*) {
        errno = ENOTSUP;
        return -1;
    };
    without.acl_set_file = [](const char*, unsigned, void*) {
        errno = ENOTSUP;
        return -1;
    };
    const ScopedCalls scoped(without);
    EXPECT_EQ(acl_of(here_), std::nullopt);
    for (const auto set : {set_acl, set_default_acl}) {
        try {
            set(here_, list_);
            FAIL() << "it cannot have been set";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::unsupported);
            EXPECT_NE(std::string(error.what()).find("access control lists"), std::string::npos);
        }
    }
}

}  // namespace
}  // namespace pmemcpy::os
