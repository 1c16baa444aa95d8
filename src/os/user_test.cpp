#include "os/user.hpp"

#include <cerrno>

#include <gtest/gtest.h>
#include <pmemcpy/error.hpp>

#include "os/calls.hpp"

namespace pmemcpy::os {
namespace {

TEST(user, has_a_name_and_a_number) {
    EXPECT_EQ(user_named("root"), 0u);
    EXPECT_EQ(name_of_user(0), "root");
    EXPECT_EQ(group_named("root"), 0u);
    EXPECT_EQ(name_of_group(0), "root");
}

TEST(user, can_be_told_by_digits_if_he_is_known) {
    EXPECT_EQ(user_named("0"), 0u);
    EXPECT_EQ(group_named("0"), 0u);
    EXPECT_EQ(user_named("4294967290"), std::nullopt);
    EXPECT_EQ(group_named("4294967290"), std::nullopt);
    EXPECT_EQ(user_named("0x0"), std::nullopt);
    EXPECT_EQ(user_named("99999999999"), std::nullopt);
}

TEST(user, that_nobody_is_has_no_number_and_of_a_number_that_nobody_has_the_digits_are_left) {
    EXPECT_EQ(user_named("no such user"), std::nullopt);
    EXPECT_EQ(user_named(""), std::nullopt);
    EXPECT_EQ(group_named("no such group"), std::nullopt);
    EXPECT_EQ(name_of_user(4294967290), "4294967290");
    EXPECT_EQ(name_of_group(4294967290), "4294967290");
}

// A group with many members does not fit where one with few does.
TEST(user, may_take_more_room_than_was_thought) {
    Calls wordy = system_calls();
    wordy.getgrnam_r = [](const char*, struct group* group, char*, size_t size, struct group** found) {
        if (size < 1'000'000) return ERANGE;
        group->gr_gid = 42;
        *found = group;
        return 0;
    };
    const ScopedCalls scoped(wordy);
    EXPECT_EQ(group_named("everybody"), 42u);
}

// Each change of an object in an index cost an opening and a reading of /etc/passwd.
TEST(user, is_asked_for_once_and_again_only_while_nobody_knows_him) {
    static int asked = 0;
    Calls counting = system_calls();
    counting.getpwuid_r = [](uid_t id, struct passwd* user, char* text, size_t size, struct passwd** found) {
        ++asked;
        return ::getpwuid_r(id, user, text, size, found);
    };
    const ScopedCalls scoped(counting);
    const auto times_asked = [](unsigned id) {
        asked = 0;
        for (int n = 0; n < 3; ++n) static_cast<void>(name_of_user(id));
        return asked;
    };
    EXPECT_LE(times_asked(0), 1);
    EXPECT_EQ(times_asked(4294967290), 3);
}

TEST(user, is_not_called_unknown_when_the_machine_could_not_be_asked) {
    Calls broken = system_calls();
    broken.getpwnam_r = [](const char*, struct passwd*, char*, size_t, struct passwd**) { return EIO; };
    const ScopedCalls scoped(broken);
    EXPECT_THROW(user_named("root"), Error);
}

}  // namespace
}  // namespace pmemcpy::os
