// Who is let into a namespace, as its files tell it.

#include "spaces/namespaces_suite.hpp"

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;
using spaces_suite::expect_error;

class grants : public spaces_suite::Namespaces {};

TEST_F(grants, grant_nothing_to_nobody) {
    create_namespace("a", root());
    expect_error(Code::not_found, "no user 'no-such-user'", [&] {
        grant("a", {Grantee::user, "no-such-user"}, Permission::read, root());
    });
    expect_error(Code::not_found, "no group 'no-such-group'", [&] {
        grant("a", {Grantee::group, "no-such-group"}, Permission::read, root());
    });
    expect_error(Code::not_found, "no namespace 'b'", [&] {
        grant("b", {Grantee::user, "daemon"}, Permission::read, root());
    });
    if (!has_lists()) GTEST_SKIP() << "no access control lists here";
    const std::string owner = namespace_info("a", root()).owner;
    expect_error(Code::invalid_argument, "needs no grant", [&] {
        grant("a", {Grantee::user, owner}, Permission::read, root());
    });
    expect_error(Code::not_found, "was not let into", [&] {
        revoke("a", {Grantee::user, "daemon"}, root());
    });
}

TEST_F(grants, tell_whom_they_are_granted_to) {
    if (!has_lists()) GTEST_SKIP() << "no access control lists here";
    create_namespace("a", root());
    const Grantee user{Grantee::user, "daemon"};
    const Grantee group{Grantee::group, "daemon"};
    grant("a", user, Permission::read, root());
    grant("a", group, Permission::write, root());
    EXPECT_EQ(namespace_info("a", root()).grants,
              (std::vector<Grant>{{user, Permission::read}, {group, Permission::write}}));
    grant("a", user, Permission::write, root());
    EXPECT_EQ(namespace_info("a", root()).grants[0].permission, Permission::write);
    grant("a", user, Permission::read, root());
    EXPECT_EQ(namespace_info("a", root()).grants[0].permission, Permission::read)
        << "what he had is replaced";
    revoke("a", user, root());
    revoke("a", group, root());
    EXPECT_TRUE(namespace_info("a", root()).grants.empty());
}

using Who = os::AclEntry::Who;

os::Acl acl_of(const std::string& path) { return *os::acl_of(os::File::open(path, O_PATH)); }

unsigned bits_of_daemon(const std::string& path) {
    const os::Acl acl = acl_of(path);
    const auto bits = acl.bits_of(Who::user, 1);
    return bits ? acl.effective_bits({Who::user, 1, *bits}) : 0;
}

TEST_F(grants, let_somebody_into_all_that_is_there_and_all_that_comes) {
    if (!has_lists()) GTEST_SKIP() << "no access control lists here";
    create_namespace("a", root());
    Options folder = small();
    folder.layout = Layout::directory;
    const auto fill = [&](const std::string& name) {
        make_pool("a/" + name + "-file.pmem");
        PMEM pmem;
        pmem.mmap(path("a/" + name + "-folder.pmem"), folder);
        pmem.store("group/v", std::string(10'000, 'x'));
    };
    fill("before");
    const auto check = [&](unsigned bits) {
        for (const std::string when : {"before", "after"}) {
            if (!fs::exists(path("a/" + when + "-file.pmem"))) continue;
            for (const auto& file :
                 {when + "-file.pmem", when + "-folder.pmem/.pool", when + "-folder.pmem/group/v"})
                EXPECT_EQ(bits_of_daemon(path("a/" + file)), bits & 6) << file << " " << bits;
            for (const auto& inner :
                 {when + "-folder.pmem", when + "-folder.pmem/.data", when + "-folder.pmem/group"})
                EXPECT_EQ(bits_of_daemon(path("a/" + inner)), bits) << inner;
            for (const auto& runtime : {when + "-file.pmem.rt", when + "-folder.pmem/.pool.rt"})
                EXPECT_EQ(bits_of_daemon(path("a/" + runtime)), (bits & 2) != 0 ? 6 : 0)
                    << runtime << " " << bits;
        }
        EXPECT_EQ(bits_of_daemon(path("a")), bits);
        EXPECT_EQ(bits_of_daemon(path("a/.namespace")) & 4, bits & 4);
    };
    const Grantee daemon{Grantee::user, "daemon"};
    EXPECT_TRUE(grant("a", daemon, Permission::read, root()).empty());
    check(5);
    fill("after");
    check(5);
    EXPECT_TRUE(grant("a", daemon, Permission::write, root()).empty());
    check(7);
    EXPECT_TRUE(grant("a", daemon, Permission::read, root()).empty());
    check(5);
    EXPECT_TRUE(revoke("a", daemon, root()).empty());
    check(0);
    for (const auto& entry : fs::recursive_directory_iterator(path("a")))
        EXPECT_EQ(acl_of(entry.path()).bits_of(Who::user, 1).value_or(0), 0u) << entry.path();
}

TEST_F(grants, leave_a_pool_closed_that_was_made_so) {
    if (!has_lists()) GTEST_SKIP() << "no access control lists here";
    create_namespace("a", root());
    Options options = small();
    options.permissions = 0600;
    make_pool("a/mine.pmem", options);
    grant("a", {Grantee::user, "daemon"}, Permission::write, root());
    EXPECT_EQ(bits_of_daemon(path("a/mine.pmem")), 0u);
    EXPECT_EQ(bits_of_daemon(path("a/mine.pmem.rt")), 0u);
}

// Somebody who may write the namespace puts another name of a file there that its owner keeps elsewhere.
TEST_F(grants, grant_nothing_of_what_is_planted_in_them) {
    if (!has_lists()) GTEST_SKIP() << "no access control lists here";
    create_namespace("a", root());
    make_pool("secret");
    fs::create_hard_link(path("secret"), path("a/hard.pmem"));
    fs::create_symlink(path("secret"), path("a/soft.pmem"));
    ASSERT_EQ(::mkfifo(path("a/fifo.pmem").c_str(), 0666), 0);
    const auto left = grant("a", {Grantee::user, "daemon"}, Permission::read, root());
    EXPECT_EQ(left.size(), 3u);
    EXPECT_FALSE(acl_of(path("secret")).is_extended());
}

// A grant sets the pattern for new files before it looks for pools. One that gets its name in between, made by the old pattern, looks
// at the pattern again when it has its name.
TEST_F(grants, cover_a_pool_that_is_made_while_somebody_is_let_in) {
    if (!has_lists()) GTEST_SKIP() << "no access control lists here";
    create_namespace("a", root());
    static std::function<void()> meanwhile;
    meanwhile = [this] {
        meanwhile = nullptr;
        grant("a", {Grantee::user, "daemon"}, Permission::read, root());
    };
    os::Calls slow = os::system_calls();
    slow.linkat = [](int from_directory, const char* from, int to_directory, const char* to, int flags) {
        if (meanwhile) meanwhile();
        return os::system_calls().linkat(from_directory, from, to_directory, to, flags);
    };
    {
        const os::ScopedCalls scoped(slow);
        make_pool("a/x.pmem");
    }
    EXPECT_FALSE(meanwhile);
    EXPECT_EQ(bits_of_daemon(path("a/x.pmem")), 4u);
}

TEST_F(grants, complete_a_grant_or_its_end_that_a_death_cut_short) {
    if (!has_lists()) GTEST_SKIP() << "no access control lists here";
    create_namespace("a", root());
    make_pool("a/x.pmem");
    const Grantee daemon{Grantee::user, "daemon"};
    os::Calls dying = os::system_calls();
    dying.acl_set_fd = [](int fd, void*) -> int {
        struct stat status {};
        if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) throw std::runtime_error("killed");
        errno = EBADF;
        return -1;
    };
    {
        const os::ScopedCalls scoped(dying);
        EXPECT_ANY_THROW(grant("a", daemon, Permission::read, root()));
    }
    EXPECT_EQ(bits_of_daemon(path("a")), 0u) << "the gate is opened last";
    grant("a", daemon, Permission::read, root());
    EXPECT_EQ(bits_of_daemon(path("a/x.pmem")), 4u);
    dying = os::system_calls();
    dying.acl_set_file = [](const char*, unsigned, void*) -> int { throw std::runtime_error("killed"); };
    {
        const os::ScopedCalls scoped(dying);
        EXPECT_ANY_THROW(revoke("a", daemon, root()));
    }
    EXPECT_EQ(bits_of_daemon(path("a")), 0u) << "the gate is closed first";
    EXPECT_EQ(bits_of_daemon(path("a/x.pmem")), 4u);
    revoke("a", daemon, root());
    EXPECT_EQ(bits_of_daemon(path("a/x.pmem")), 0u);
}

TEST_F(grants, without_lists_can_be_used_and_not_shared) {
    os::Calls without = os::system_calls();
    without.acl_get_fd = [](int) -> void* {
        errno = ENOTSUP;
        return nullptr;
    };
    without.acl_get_file = [](const char*, unsigned) -> void* {
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
    const os::ScopedCalls scoped(without);
    create_namespace("a", root());
    PMEM pmem;
    pmem.mmap("a:", small());
    pmem.store("v", 1);
    pmem.munmap();
    EXPECT_EQ(namespace_info("a", root()).pools.size(), 1u);
    for (const Permission permission : {Permission::read, Permission::write}) {
        expect_error(Code::unsupported, "a", [&] {
            grant("a", {Grantee::user, "daemon"}, permission, root());
        });
    }
}

}  // namespace
}  // namespace pmemcpy
