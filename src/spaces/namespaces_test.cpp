// Length: what one user may do with namespaces, one promise after the other.
// Namespaces as one user meets them.

#include "spaces/namespaces_suite.hpp"

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;
using spaces_suite::Environment;
using spaces_suite::expect_error;

class namespaces_of_one : public spaces_suite::Namespaces {};

TEST_F(namespaces_of_one, are_made_listed_and_dropped) {
    EXPECT_TRUE(names().empty());
    create_namespace("b", root());
    create_namespace("a", root());
    EXPECT_EQ(names(), (std::vector<std::string>{"a", "b"}));
    const Namespace known = namespace_info("a", root());
    EXPECT_EQ(known.path, path("a"));
    EXPECT_EQ(known.access, Permission::write);
    EXPECT_TRUE(known.grants.empty());
    EXPECT_TRUE(known.pools.empty());
    EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_all) << "only its maker may use it";
    drop_namespace("a", Drop::only_empty, root());
    EXPECT_EQ(names(), (std::vector<std::string>{"b"}));
    expect_error(Code::not_found, "no namespace 'a'", [&] { drop_namespace("a", Drop::only_empty, root()); });
}

TEST_F(namespaces_of_one, have_the_rights_that_they_should_whatever_the_umask_is) {
    const mode_t before = ::umask(0777);
    create_namespace("a", root());
    ::umask(before);
    EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_all);
    EXPECT_EQ(namespace_info("a", root()).quota.limit_bytes, 0u);
}

TEST_F(namespaces_of_one, are_opened_by_name) {
    create_namespace("climate", root());
    PMEM pmem;
    pmem.mmap("climate:", small());
    pmem.store("v", 1);
    EXPECT_EQ(pmem.info().path, path("climate/shared.pmem"));
    pmem.munmap();
    pmem.mmap("climate:other", small());
    pmem.store("v", 2);
    pmem.munmap();
    EXPECT_TRUE(fs::exists(path("climate/other.pmem")));
    const Namespace known = namespace_info("climate", root());
    ASSERT_EQ(known.pools.size(), 2u);
    EXPECT_EQ(known.pools[0].name, "other");
    EXPECT_EQ(known.pools[1].name, "shared");
    EXPECT_EQ(known.quota.used_bytes, known.pools[0].max_bytes + known.pools[1].max_bytes);
    PMEM reader;
    Options reading;
    reading.mode = Mode::read;
    reader.mmap("climate:other", reading);
    EXPECT_EQ(reader.load<int>("v"), 2);
}

TEST_F(namespaces_of_one, may_hold_pools_that_are_directories) {
    create_namespace("climate", root());
    Options options = small();
    options.layout = Layout::directory;
    PMEM pmem;
    pmem.mmap("climate:x", options);
    pmem.store("v", std::string(10'000, 'x'));
    pmem.munmap();
    EXPECT_TRUE(fs::is_directory(path("climate/x.pmem")));
    const Namespace known = namespace_info("climate", root());
    ASSERT_EQ(known.pools.size(), 1u);
    EXPECT_EQ(known.pools[0].max_bytes, fs::file_size(path("climate/x.pmem/.pool")));
    drop_namespace("climate", Drop::with_pools, root());
    EXPECT_TRUE(fs::is_empty(root()));
}

TEST_F(namespaces_of_one, leave_files_with_a_colon_reachable) {
    const fs::path before = fs::current_path();
    fs::current_path(root());
    PMEM pmem;
    pmem.mmap("./climate:", small());
    EXPECT_TRUE(fs::is_regular_file(path("climate:")));
    pmem.munmap();
    expect_error(Code::not_found, "'./climate:'", [&] { pmem.mmap("climate:", small()); });
    fs::current_path(before);
}

TEST_F(namespaces_of_one, are_repaired_pool_by_pool_by_name) {
    create_namespace("climate", root());
    PMEM pmem;
    pmem.mmap("climate:", small());
    pmem.store("v", 1);
    pmem.munmap();
    repair("climate:", "climate:new");
    EXPECT_TRUE(fs::exists(path("climate/new.pmem")));
}

TEST_F(namespaces_of_one, with_a_name_that_is_taken_already_exist) {
    create_namespace("a", root());
    make_pool("a/shared.pmem");
    expect_error(Code::already_exists, "already", [&] { create_namespace("a", root()); });
    EXPECT_TRUE(fs::exists(path("a/shared.pmem")));
    // Not even an empty directory, which a rename would replace, or a file.
    fs::create_directory(path("b"));
    std::ofstream(path("c")) << "text";
    expect_error(Code::already_exists, "already", [&] { create_namespace("b", root()); });
    expect_error(Code::already_exists, "already", [&] { create_namespace("c", root()); });
    EXPECT_EQ(std::distance(fs::directory_iterator(root()), {}), 3)
        << "nothing is left of those that were not made";
}

TEST_F(namespaces_of_one, are_made_by_one_of_many_who_try) {
    int made = 0;
    int refused = 0;
    std::mutex mutex;
    std::vector<std::thread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            try {
                create_namespace("a", root());
                const std::lock_guard lock(mutex);
                ++made;
            } catch (const Error& error) {
                const std::lock_guard lock(mutex);
                EXPECT_EQ(error.kind(), Code::already_exists) << error.what();
                ++refused;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(made, 1);
    EXPECT_EQ(refused, 7);
    EXPECT_EQ(std::distance(fs::directory_iterator(root()), {}), 1);
}

TEST_F(namespaces_of_one, need_a_root) {
    const Environment none(nullptr);
    expect_error(Code::invalid_argument, "PMEMCPY_ROOT", [] { namespaces(); });
    expect_error(Code::invalid_argument, "PMEMCPY_ROOT", [] { PMEM().mmap("climate:"); });
    const Environment relative("here");
    expect_error(Code::invalid_argument, "begins with /", [] { namespaces(); });
    expect_error(Code::not_found, "mkdir -m 1777", [&] { namespaces(path("nothing")); });
    expect_error(Code::not_found, "mkdir -m 1777", [&] { create_namespace("a", path("nothing")); });
}

TEST_F(namespaces_of_one, are_not_made_where_others_could_remove_them) {
    ASSERT_EQ(::chmod(root().c_str(), 0777), 0);
    expect_error(Code::permission_denied, "chmod +t", [&] { create_namespace("a", root()); });
    ASSERT_EQ(::chmod(root().c_str(), 01777), 0);
    create_namespace("a", root());
}

TEST_F(namespaces_of_one, are_directories_themselves) {
    create_namespace("a", root());
    fs::create_directory_symlink("a", path("link"));
    fs::create_directory(path("plain"));
    std::ofstream(path("text")) << "text";
    EXPECT_EQ(names(), (std::vector<std::string>{"a"}));
    expect_error(Code::invalid_argument, "a link", [&] { resolve_pool("link:", Mode::read, root()); });
    expect_error(Code::invalid_argument, "a link", [&] { resolve_pool("text:", Mode::read, root()); });
    expect_error(Code::not_found, "no namespace", [&] { resolve_pool("plain:", Mode::read, root()); });
    expect_error(Code::not_found, "no namespace", [&] { drop_namespace("plain", Drop::with_pools, root()); });
    EXPECT_TRUE(fs::is_directory(path("plain")));
}

TEST_F(namespaces_of_one, with_pools_are_dropped_only_by_who_says_so) {
    create_namespace("a", root());
    make_pool("a/x.pmem");
    expect_error(Code::busy, "x.pmem", [&] { drop_namespace("a", Drop::only_empty, root()); });
    PMEM open;
    open.mmap(path("a/x.pmem"), small());
    open.store("v", 1);
    drop_namespace("a", Drop::with_pools, root());
    EXPECT_EQ(open.load<int>("v"), 1) << "who has it open keeps it";
    open.munmap();
    EXPECT_TRUE(fs::is_empty(root()));
}

// A look found none, and the drop removed a pool that another process had made and filled behind it.
TEST_F(namespaces_of_one, are_not_dropped_as_empty_with_a_pool_that_comes_in_the_last_moment) {
    static std::string pool;
    static bool dies;
    static Options options;
    options = small();
    create_namespace("a", root());
    pool = path("a/x.pmem");
    os::Calls late = os::system_calls();
    late.renameat2 = [](int from_in, const char* from, int to_in, const char* to, unsigned flags) -> int {
        if (std::string(from) == "a") {
            PMEM made;
            made.mmap(pool, options);
            made.store("v", 1);
        } else if (dies && std::string(to) == "a") {
            throw std::runtime_error("killed");
        }
        return os::system_calls().renameat2(from_in, from, to_in, to, flags);
    };
    for (const bool is_killed : {false, true}) {
        dies = is_killed;
        {
            const os::ScopedCalls scoped(late);
            if (dies) {
                EXPECT_THROW(drop_namespace("a", Drop::only_empty, root()), std::runtime_error);
            } else {
                expect_error(Code::busy, "x.pmem", [&] { drop_namespace("a", Drop::only_empty, root()); });
            }
        }
        EXPECT_EQ(fs::exists(path("a")), !is_killed);
        create_namespace("other", root());  // and clears away
        PMEM open;
        open.mmap(pool, small());
        EXPECT_EQ(open.load<int>("v"), 1);
        open.munmap();
        drop_namespace("other", Drop::only_empty, root());
        fs::remove(pool);
        fs::remove(pool + ".rt");
    }
    drop_namespace("a", Drop::only_empty, root());
    EXPECT_TRUE(fs::is_empty(root()));
}

// A drop looked at one namespace, and took the one that had its name by then.
TEST_F(namespaces_of_one, are_not_dropped_in_the_place_of_another_of_their_name) {
    static std::string at;
    at = root();
    os::Calls late = os::system_calls();
    late.renameat2 = [](int from_in, const char* from, int to_in, const char* to, unsigned flags) -> int {
        if (std::string(from) == "a" && fs::exists(at + "/a/old")) {
            fs::rename(at + "/a", at + "/elsewhere");  // as another process drops it, and makes another
            const os::ScopedCalls others(os::system_calls());
            create_namespace("a", at);
            set_quota("a", 1 << 20, at);
        }
        return os::system_calls().renameat2(from_in, from, to_in, to, flags);
    };
    for (const Drop what : {Drop::only_empty, Drop::with_pools}) {
        create_namespace("a", root());
        std::ofstream(path("a/old")) << "text";
        {
            const os::ScopedCalls scoped(late);
            expect_error(Code::busy, "try again", [&] { drop_namespace("a", what, root()); });
        }
        EXPECT_EQ(names(), (std::vector<std::string>{"a", "elsewhere"}));
        EXPECT_EQ(namespace_info("a", root()).quota.limit_bytes, 1u << 20);
        drop_namespace("a", what, root());
        drop_namespace("elsewhere", what, root());
        EXPECT_TRUE(fs::is_empty(root()));
    }
}

// A drop removed what was in it under the name by which the sweep gives it back, and when it died behind the marker that lay there for ever.
// What a death leaves before that is a namespace again, which nothing has been taken from.
TEST_F(namespaces_of_one, that_a_death_left_without_a_name_get_it_back_or_are_cleared_away) {
    const std::string left = ".emptying-a-0000000000000000";
    create_namespace("a", root());
    set_quota("a", 1 << 20, root());
    fs::rename(path("a"), path(left));
    create_namespace("other", root());  // and clears away
    EXPECT_EQ(namespace_info("a", root()).quota.limit_bytes, 1u << 20);
    // While another has its name, and behind a death in the removal.
    fs::rename(path("a"), path(left));
    std::ofstream(path(left + "/more")) << "text";
    fs::create_directory(path("a"));
    os::Calls dying = os::system_calls();
    dying.unlinkat = [](int in, const char* name, int flags) -> int {
        if (std::string(name) == "more") throw std::runtime_error("killed");
        return os::system_calls().unlinkat(in, name, flags);
    };
    {
        const os::ScopedCalls scoped(dying);
        EXPECT_THROW(drop_namespace("other", Drop::only_empty, root()), std::runtime_error);
    }
    drop_namespace("other", Drop::only_empty, root());
    EXPECT_EQ(std::distance(fs::directory_iterator(root()), {}), 1);
    // As an earlier version left it.
    fs::create_directory(path(left));
    std::ofstream(path(left + "/more")) << "text";
    create_namespace("other", root());
    EXPECT_FALSE(fs::exists(path(left)));
}

// Private objects stay when their pool goes, and the namespace stays with them.
TEST_F(namespaces_of_one, are_not_dropped_as_empty_with_private_objects_in_them) {
    create_namespace("a", root());
    PMEM pool;
    pool.mmap(path("a/x.pmem"), small());
    private_side(pool).store("v", 1);
    pool.munmap();
    fs::remove(path("a/x.pmem"));
    expect_error(Code::busy, "x.pmem.private-", [&] { drop_namespace("a", Drop::only_empty, root()); });
    // Only the file that holds them counts: a left-over .rt kept the namespace for good.
    fs::remove(path("a/x.pmem.private-" + std::to_string(::geteuid())));
    EXPECT_TRUE(fs::exists(path("a/x.pmem.private-" + std::to_string(::geteuid()) + ".rt")));
    drop_namespace("a", Drop::only_empty, root());
}

// Each directory that is open costs a descriptor, and each that is entered by recursion a frame: no depth may cost either.
TEST_F(namespaces_of_one, are_dropped_however_deep_they_are_and_no_link_is_followed) {
    create_namespace("a", root());
    fs::create_directory(path("outside"));
    std::ofstream(path("outside/file")) << "text";
    fs::path deep = path("a/x.pmem");
    fs::create_directory(deep);
    for (int i = 0; i < 300; ++i) fs::create_directory(deep /= "deeper");
    fs::create_directory_symlink(path("outside"), deep / "link");
    fs::create_directory_symlink(path("outside"), path("a/link"));
    drop_namespace("a", Drop::with_pools, root());
    EXPECT_TRUE(fs::exists(path("outside/file")));
    EXPECT_EQ(std::distance(fs::directory_iterator(root()), {}), 1);
}

// A kill between the steps leaves a directory with another name: the next one clears it away, and until then it is in nobody's way.
TEST_F(namespaces_of_one, that_a_death_left_half_made_or_half_dropped_are_cleared_away) {
    os::Calls dying = os::system_calls();
    dying.renameat2 = [](int, const char*, int, const char*, unsigned) -> int {
        throw std::runtime_error("killed");
    };
    dying.unlinkat = [](int, const char*, int) -> int { throw std::runtime_error("killed"); };
    {
        const os::ScopedCalls scoped(dying);
        EXPECT_ANY_THROW(create_namespace("a", root()));
    }
    fs::create_directory(path(".making-0000000000000000"));
    fs::create_directories(path(".dropped-0000000000000000/x.pmem/deeper"));
    EXPECT_EQ(std::distance(fs::directory_iterator(root()), {}), 3);
    EXPECT_TRUE(names().empty());
    create_namespace("a", root());
    EXPECT_EQ(std::distance(fs::directory_iterator(root()), {}), 1);

    dying = os::system_calls();
    dying.unlinkat = [](int, const char*, int) -> int { throw std::runtime_error("killed"); };
    make_pool("a/shared.pmem");
    {
        const os::ScopedCalls scoped(dying);
        EXPECT_ANY_THROW(drop_namespace("a", Drop::with_pools, root()));
    }
    EXPECT_TRUE(names().empty()) << "the name is free at once";
    create_namespace("a", root());
    EXPECT_EQ(std::distance(fs::directory_iterator(root()), {}), 1);
    EXPECT_TRUE(namespace_info("a", root()).pools.empty());
}

TEST_F(namespaces_of_one, keep_a_quota_of_what_their_pools_may_grow_to) {
    create_namespace("a", root());
    set_quota("a", 20 << 20, root());
    EXPECT_EQ(namespace_info("a", root()).quota.limit_bytes, 20u << 20);
    make_pool("a/x.pmem");
    make_pool("a/y.pmem");
    expect_error(Code::no_space, "advisory", [&] { make_pool("a/z.pmem"); });
    expect_error(Code::no_space, "advisory", [&] { repair(path("a/x.pmem"), path("a/z.pmem")); });
    EXPECT_FALSE(fs::exists(path("a/z.pmem")));
    make_pool("a/x.pmem");  // one that is there is only opened
    Options replacing = small();
    replacing.mode = Mode::replace;
    make_pool("a/x.pmem", replacing);
    Options larger = replacing;
    larger.max_bytes = 64 << 20;
    expect_error(Code::no_space, "advisory", [&] { make_pool("a/x.pmem", larger); });
    EXPECT_TRUE(fs::exists(path("a/x.pmem"))) << "what was to be replaced is there";
    set_quota("a", 0, root());
    make_pool("a/z.pmem");
}

TEST_F(namespaces_of_one, give_a_pool_without_a_maximum_what_is_left_of_the_quota) {
    create_namespace("a", root());
    set_quota("a", 16 << 20, root());
    Options options = small();
    options.max_bytes = 0;
    make_pool("a/x.pmem", options);
    const Quota quota = namespace_info("a", root()).quota;
    EXPECT_LE(quota.used_bytes, quota.limit_bytes);
    EXPECT_GT(quota.used_bytes, quota.limit_bytes / 2);
}

// Where everybody may put files, a marker of somebody else would keep others from making pools.
TEST_F(namespaces_of_one, are_not_what_somebody_elses_marker_says) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file of somebody else";
    fs::create_directory(path("all"));
    ASSERT_EQ(::chmod(path("all").c_str(), 01777), 0);
    std::ofstream(path("all/.namespace")) << "pmemcpy namespace 1\nquota_bytes 1\n";
    expect_error(Code::no_space, "advisory", [&] { make_pool("all/x.pmem"); });
    ASSERT_EQ(::chown(path("all/.namespace").c_str(), 1, 1), 0);
    make_pool("all/x.pmem");
    EXPECT_TRUE(fs::exists(path("all/x.pmem")));
}

TEST_F(namespaces_of_one, tell_when_their_marker_is_damaged) {
    create_namespace("a", root());
    create_namespace("b", root());
    std::ofstream(path("a/.namespace")) << "nonsense";
    expect_error(Code::corrupt, "pmemcpy ns quota", [&] { namespace_info("a", root()); });
    EXPECT_EQ(names(), (std::vector<std::string>{"a", "b"})) << "the others are listed";
    set_quota("a", 1, root());
    EXPECT_EQ(namespace_info("a", root()).quota.limit_bytes, 1u);
    std::ofstream(path("a/.namespace")) << "pmemcpy namespace 2\n";
    expect_error(Code::unsupported, "newer pMEMCPY", [&] { namespace_info("a", root()); });
    std::ofstream(path("a/.namespace")) << "pmemcpy namespace 1\ncolour blue\nquota_bytes 7\n";
    EXPECT_EQ(namespace_info("a", root()).quota.limit_bytes, 7u) << "lines of a later version are passed by";
}

}  // namespace
}  // namespace pmemcpy
