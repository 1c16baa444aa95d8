#include "os/access.hpp"

#include <gtest/gtest.h>

namespace pmemcpy::os {
namespace {

using Who = AclEntry::Who;

constexpr unsigned rw = may_read | may_write;

TEST(access, of_mode_bits_alone_is_nothing_special) {
    Acl acl({{Who::other, 0, 0}, {Who::owner, 0, rw}, {Who::owning_group, 0, may_read}});
    EXPECT_FALSE(acl.is_extended());
    EXPECT_EQ(acl.entries().front().who, Who::owner);
    acl.set(Who::user, 7, may_read);
    EXPECT_TRUE(acl.is_extended());
    acl.remove(Who::user, 7);
    EXPECT_FALSE(acl.is_extended());
}

TEST(access, is_limited_by_the_mask_but_for_the_owner_and_others) {
    const Acl acl({{Who::owner, 0, rw},
                   {Who::user, 7, rw},
                   {Who::owning_group, 0, rw},
                   {Who::mask, 0, may_read},
                   {Who::other, 0, rw}});
    for (const AclEntry& entry : acl.entries()) {
        const bool is_limited =
            entry.who == Who::user || entry.who == Who::owning_group || entry.who == Who::mask;
        EXPECT_EQ(acl.effective_bits(entry), is_limited ? may_read : rw) << static_cast<int>(entry.who);
    }
}

TEST(access, widens_its_mask_to_what_is_needed) {
    Acl acl({{Who::owner, 0, 7}, {Who::owning_group, 0, 0}, {Who::mask, 0, 0}, {Who::other, 0, may_write}});
    acl.set(Who::user, 7, may_read);
    acl.set(Who::group, 8, may_enter);
    acl.widen_mask();
    EXPECT_EQ(acl.bits_of(Who::mask), may_read | may_enter);
    acl.remove(Who::user, 7);
    acl.widen_mask();
    EXPECT_EQ(acl.bits_of(Who::mask), may_enter);
}

// A reader who could open the run-time file could lock writers out; one who is in a group of writers is still a reader.
TEST(access, of_writers_only_leaves_mere_readers_nothing) {
    const Acl pool({{Who::owner, 0, rw},
                    {Who::user, 7, may_read},
                    {Who::user, 8, rw},
                    {Who::owning_group, 0, may_read},
                    {Who::group, 20, rw},
                    {Who::group, 21, may_read},
                    {Who::mask, 0, rw},
                    {Who::other, 0, may_read}});
    const Acl made = writers_only(pool, 5, 19);
    EXPECT_EQ(made.bits_of(Who::user, 5), rw) << "its owner, whoever makes the file";
    EXPECT_EQ(made.bits_of(Who::user, 7), 0u);
    EXPECT_EQ(made.bits_of(Who::user, 8), rw);
    EXPECT_EQ(made.bits_of(Who::group, 20), rw);
    EXPECT_EQ(made.bits_of(Who::group, 21), 0u);
    EXPECT_EQ(made.bits_of(Who::group, 19), std::nullopt);
    EXPECT_EQ(made.bits_of(Who::owning_group), 0u);
    EXPECT_EQ(made.bits_of(Who::other), 0u);
    EXPECT_EQ(made.bits_of(Who::mask), rw);
}

TEST(access, of_writers_only_believes_the_mask) {
    const Acl pool({{Who::owner, 0, rw},
                    {Who::user, 8, rw},
                    {Who::owning_group, 0, rw},
                    {Who::mask, 0, may_read},
                    {Who::other, 0, 0}});
    const Acl made = writers_only(pool, 5, 19);
    EXPECT_EQ(made.bits_of(Who::user, 8), 0u);
    EXPECT_EQ(made.bits_of(Who::group, 19), std::nullopt);
}

TEST(access, of_writers_only_names_the_group_of_the_other_file) {
    const Acl pool({{Who::owner, 0, rw},
                    {Who::user, 8, may_read},
                    {Who::owning_group, 0, rw},
                    {Who::mask, 0, rw},
                    {Who::other, 0, 0}});
    EXPECT_EQ(writers_only(pool, 5, 19).bits_of(Who::group, 19), rw);
}

}  // namespace
}  // namespace pmemcpy::os
