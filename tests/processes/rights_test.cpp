// Users who share a pool: whoever may write it can open it, whatever umask and groups the one had who came first, and also after the pool's
// rights were changed. All of it wants root, who can become others.
// Length: the rights of each file beside a pool, with one cast of users.

#include "worker.hpp"

#include <grp.h>
#include <sched.h>

#include <pmemcpy/index.hpp>
#include <pmemcpy/query.hpp>

namespace {

using namespace processes;
using pmemcpy::Code;
using pmemcpy::Error;
using pmemcpy::Mode;
using pmemcpy::Options;
using pmemcpy::PMEM;
namespace fs = std::filesystem;

constexpr unsigned ada = 1001;
constexpr unsigned bob = 1002;
constexpr unsigned eve = 1003;
constexpr unsigned project = 2001;

struct User {
    unsigned id;
    std::vector<gid_t> groups{};  // beside one of his own, with his number
    mode_t mask = 022;
};

Options small_pool(unsigned permissions = 0666, Mode mode = Mode::create_or_update) {
    Options options;
    options.max_bytes = 8 << 20;
    options.chunk_bytes = 64 << 10;
    options.permissions = permissions;
    options.mode = mode;
    return options;
}

/// Does something as a user, in a process of its own, and stays as it is after it until it is ended. What was wrong is in `said()`.
class As {
public:
    As(const User& user, const std::function<void()>& work) {
        int ends[2];
        if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
        child_ = ::fork();
        if (child_ == 0) {
            std::string said;
            if (::setgroups(user.groups.size(), user.groups.data()) != 0 || ::setgid(user.id) != 0 ||
                ::setuid(user.id) != 0)
                said = "cannot become another user";
            ::prctl(PR_SET_DUMPABLE, 1);
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            ::umask(user.mask);
            try {
                if (said.empty()) work();
            } catch (const std::exception& error) {
                said = error.what();
            }
            said += '\n';
            if (::write(ends[1], said.data(), said.size()) < 0) ::_exit(1);
            ::close(ends[1]);
            ::pause();
        }
        ::close(ends[1]);
        for (char c = 0; ::read(ends[0], &c, 1) == 1;) said_ += c;
        ::close(ends[0]);
        is_whole_ = said_.ends_with('\n');
        if (is_whole_) said_.pop_back();
    }
    ~As() {
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
    }
    As(const As&) = delete;
    As& operator=(const As&) = delete;
    /// Empty: nothing is wrong.
    std::string said() const { return is_whole_ ? said_ : "it died"; }

private:
    pid_t child_ = -1;
    std::string said_;
    bool is_whole_ = false;
};

struct stat status_of(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) throw std::runtime_error("no " + path);
    return status;
}
unsigned mode_of(const std::string& path) { return status_of(path).st_mode & 0777; }

class Rights : public ::testing::TestWithParam<const char*> {
protected:
    Rights() : folder_("/dev/shm") { fs::permissions(folder_.path(), fs::perms(01777)); }
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "only root can become other users";
    }
    std::string path() const { return folder_ / (std::string("pool") + GetParam()); }
    bool is_directory() const { return *GetParam() != '\0'; }
    std::string records() const { return path() + (is_directory() ? ".pool" : ""); }
    std::string runtime() const { return records() + ".rt"; }

    std::string make(const User& user, unsigned permissions) const {
        return As(user,
                  [&] {
                      PMEM pmem;
                      pmem.mmap(path(), small_pool(permissions));
                      pmem.store("x", 1);
                      pmem.munmap();
                  })
            .said();
    }
    std::function<void()> work() const {
        return [this] {
            auto* const pmem = new PMEM;  // which stays open
            pmem->mmap(path());
            pmem->store("y" + std::to_string(::getpid()), std::vector<double>(10'000, 1.0));
            for (const std::string& id : pmem->ids("y")) {
                if (pmem->load<std::vector<double>>(id) != std::vector<double>(10'000, 1.0))
                    throw std::runtime_error(id + " is another");
            }
        };
    }
    std::string open_and_close(const User& user) const {
        return As(user,
                  [&] {
                      PMEM pmem;
                      pmem.mmap(path());
                      pmem.store("z", 1);
                      pmem.munmap();
                  })
            .said();
    }

    Folder folder_;
};

// The run-time file was made under the umask of whoever came first, and stayed so for ever.
TEST_P(Rights, are_those_of_the_pool_whatever_the_umask_of_who_comes_first) {
    const User first{ada, {project}, 002};
    ASSERT_EQ(make(first, 0664), "");
    ASSERT_EQ(::chown(records().c_str(), ada, project), 0);
    if (is_directory()) {
        for (const char* name : {"", "/.data"}) {
            ASSERT_EQ(::chown((folder_ / "pool" + name).c_str(), ada, project), 0);
            fs::permissions(folder_ / "pool" + name, fs::perms(0775));
        }
    }
    fs::remove(runtime());
    ASSERT_EQ(open_and_close({ada, {project}, 077}), "");
    EXPECT_EQ(mode_of(runtime()), 0660u);
    EXPECT_EQ(status_of(runtime()).st_gid, project);
    const As one({ada, {project}, 077}, work());
    EXPECT_EQ(one.said(), "");
    const As other({bob, {project}, 077}, work());
    EXPECT_EQ(other.said(), "");
    const As again({ada, {project}, 077}, work());
    EXPECT_EQ(again.said(), "");
    // Who may not write the pool still has nothing to do with it.
    const As stranger({eve}, [&] {
        if (::open(runtime().c_str(), O_RDONLY) >= 0) throw std::runtime_error("it is open");
        PMEM reader;
        reader.mmap(path(), small_pool(0666, Mode::read));
        if (reader.load<int>("x") != 1) throw std::runtime_error("x is another");
    });
    EXPECT_EQ(stranger.said(), "");
}

TEST_P(Rights, follow_those_of_the_pool_when_these_change) {
    ASSERT_EQ(make({ada}, 0644), "");
    EXPECT_EQ(mode_of(runtime()), 0600u);
    fs::permissions(records(), fs::perms(0666));
    if (is_directory()) {
        fs::permissions(folder_ / "pool", fs::perms(01777));
        fs::permissions(folder_ / "pool/.data", fs::perms(0777));
    }
    // In a directory with the sticky bit only ada, whose file it is, can put it right; so bob is told.
    const std::string said = open_and_close({bob});
    EXPECT_NE(said.find("sets it right by opening the pool"), std::string::npos) << said;
    EXPECT_NE(said.find("user 1001"), std::string::npos) << said;
    EXPECT_EQ(open_and_close({ada}), "");
    EXPECT_EQ(mode_of(runtime()), 0666u);
    {
        const As one({ada, {}, 077}, work());
        const As other({bob, {}, 077}, work());
        EXPECT_EQ(one.said(), "");
        EXPECT_EQ(other.said(), "");
    }
    // And back: who may only read again must not have the writers' file.
    fs::permissions(records(), fs::perms(0644));
    EXPECT_EQ(open_and_close({ada}), "");
    EXPECT_EQ(mode_of(runtime()), 0600u);
}

// After `chgrp project pool` the run-time file that was there kept its group for ever, also when its owner opened the pool.
TEST_P(Rights, follow_the_pool_into_another_group) {
    const User owner{ada, {project}, 007};
    ASSERT_EQ(make(owner, 0660), "");
    ASSERT_EQ(::chown(records().c_str(), ada, project), 0);
    if (is_directory()) {
        for (const char* name : {"", "/.data"})
            ASSERT_EQ(::chown((folder_ / "pool" + name).c_str(), ada, project), 0);
    }
    EXPECT_EQ(open_and_close(owner), "");
    EXPECT_EQ(mode_of(runtime()), 0660u);
    EXPECT_EQ(status_of(runtime()).st_gid, project);
    EXPECT_EQ(open_and_close({bob, {project}}), "");
}

// The index that root had made stayed root's, and those whose pool it was could never keep it nor use it.
TEST_P(Rights, of_the_index_follow_the_pool_to_another_user_and_group) {
    const User root{0, {}, 077};
    const auto with_index = [&] {
        PMEM pmem;
        Options options = small_pool(0600);
        options.index = pmemcpy::IndexMode::sync;
        pmem.mmap(path(), options);
        pmem.store("x", 1);
        pmemcpy::flush_index(pmem);
    };
    ASSERT_EQ(As(root, with_index).said(), "");
    ASSERT_EQ(::chown(records().c_str(), ada, project), 0);
    fs::permissions(records(), fs::perms(0660));
    if (is_directory()) {
        for (const char* name : {"", "/.data"}) {
            ASSERT_EQ(::chown((folder_ / "pool" + name).c_str(), ada, project), 0);
            fs::permissions(folder_ / "pool" + name, fs::perms(0770));
        }
        for (const auto& entry : fs::recursive_directory_iterator(folder_ / "pool")) {
            if (entry.path().native().find("/.data/") == std::string::npos) continue;
            ASSERT_EQ(::chown(entry.path().c_str(), ada, project), 0);
        }
    }
    ASSERT_EQ(open_and_close(root), "");
    for (const auto& entry : fs::recursive_directory_iterator(records() + ".idx")) {
        EXPECT_EQ(status_of(entry.path()).st_uid, ada) << entry.path();
        EXPECT_EQ(status_of(entry.path()).st_gid, project) << entry.path();
        EXPECT_EQ(mode_of(entry.path()), entry.is_directory() ? 0770u : 0660u) << entry.path();
    }
    int number = 1;
    for (const User& user : {User{ada, {}, 077}, User{bob, {project}, 077}, root}) {
        ++number;
        const auto keeps_it = [&] {
            PMEM pmem;
            pmem.mmap(path());
            pmem.store("x", number);
            pmemcpy::flush_index(pmem);
            if (pmemcpy::ids(pmem, "value = " + std::to_string(number)) != std::vector<std::string>{"x"})
                throw std::runtime_error("x is not found");
            if (const auto info = pmemcpy::index_info(pmem); !info.is_complete || !info.trouble.empty())
                throw std::runtime_error("the index is of no use: " + info.trouble);
        };
        EXPECT_EQ(As(user, keeps_it).said(), "") << number;
    }
}

// While ada has the pool open, her next opening is enough.
TEST_P(Rights, are_put_right_by_the_next_process_of_the_owner_also_while_the_pool_is_open) {
    ASSERT_EQ(make({ada}, 0644), "");
    const As holder({ada}, work());
    ASSERT_EQ(holder.said(), "");
    fs::permissions(records(), fs::perms(0666));
    EXPECT_NE(open_and_close({bob}).find("sets it right by opening the pool"), std::string::npos);
    EXPECT_EQ(open_and_close({ada}), "");
    EXPECT_EQ(open_and_close({bob}), "");
}

// Where bob may remove the file, as in a directory without the sticky bit, nobody has to ask ada.
TEST_P(Rights, are_put_right_by_whoever_may_replace_the_file) {
    ASSERT_EQ(make({ada}, 0644), "");
    fs::permissions(records(), fs::perms(0666));
    fs::permissions(folder_.path(), fs::perms(0777));
    if (is_directory()) {
        fs::permissions(folder_ / "pool", fs::perms(0777));
        fs::permissions(folder_ / "pool/.data", fs::perms(0777));
    }
    const As other({bob, {}, 077}, work());
    EXPECT_EQ(other.said(), "");
    const As one({ada, {}, 077}, work());
    EXPECT_EQ(one.said(), "");
}

// ada has given the pool to a group that she is not in herself, so she cannot give it her files.
TEST_P(Rights, reach_the_pools_group_also_from_an_owner_who_is_not_in_it) {
    ASSERT_EQ(make({ada, {}, 007}, 0660), "");
    ASSERT_EQ(::chown(records().c_str(), ada, project), 0);
    if (is_directory()) GTEST_SKIP() << "what ada then stores is in files of her own group";
    fs::remove(runtime());
    {
        const As one({ada}, work());
        ASSERT_EQ(one.said(), "");
        struct stat status = status_of(runtime());
        if (status.st_gid != project && (status.st_mode & 060) == 0)
            GTEST_SKIP() << "without access control lists";
        const As other({bob, {project}}, work());
        EXPECT_EQ(other.said(), "");
        const As stranger({eve}, [&] {
            if (::open(runtime().c_str(), O_RDONLY) >= 0) throw std::runtime_error("it is open");
        });
        EXPECT_EQ(stranger.said(), "");
    }
    fs::remove(runtime());
    const As other({bob, {project}}, work());
    EXPECT_EQ(other.said(), "");
    const As one({ada}, work());  // nor is she kept out of her own pool by those whom she let in
    EXPECT_EQ(one.said(), "");
}

// Where others may not remove it the feed of another user's session stays; nobody was let in before he removed it, and nobody could leave.
TEST_P(Rights, are_enough_where_the_feed_of_another_user_is_left) {
    if (is_directory()) GTEST_SKIP() << "the directory of a pool has no sticky bit";
    ASSERT_EQ(make({ada, {}, 0}, 0666), "");
    EXPECT_EQ(As({ada, {}, 0},
                 [&] {
                     PMEM pmem;
                     pmem.mmap(path());
                     pmemcpy::set_index_mode(pmem, pmemcpy::IndexMode::async);
                     pmem.munmap();
                     auto* const left = new PMEM;
                     left->mmap(path());
                 })
                  .said(),
              "");
    ASSERT_TRUE(fs::exists(records() + ".feed"));  // ada's process was killed
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(As({bob, {}, 0},
                     [&] {
                         PMEM pmem;
                         pmem.mmap(path());
                         pmem.store("b" + std::to_string(i), i);
                         int found = 0;
                         for (const auto& one : pmemcpy::query(pmem, "name = \"b" + std::to_string(i) + "\""))
                             found += one.id.empty() ? 0 : 1;
                         if (found != 1) throw std::runtime_error("it is not found");
                         pmem.munmap();
                     })
                      .said(),
                  "");
        EXPECT_EQ(open_and_close({ada, {}, 0}), "");
    }
    PMEM reader;
    reader.mmap(path(), small_pool(0666, Mode::read));
    EXPECT_EQ(reader.load<int>("b1"), 1);
}

INSTANTIATE_TEST_SUITE_P(layouts, Rights, ::testing::Values("", "/"),
                         [](const auto& one) { return *one.param == '\0' ? "file" : "directory"; });

// ---- user namespaces ----

// A process in a user namespace of its own, whose root is the user `root` outside.
class InNamespace {
public:
    InNamespace(unsigned root, const std::function<void()>& work) {
        int to_child[2];
        int to_parent[2];
        if (::pipe(to_child) != 0 || ::pipe(to_parent) != 0) throw std::runtime_error("no pipe");
        child_ = ::fork();
        if (child_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            char c = ::unshare(CLONE_NEWUSER) == 0 ? 'u' : 'n';
            if (::write(to_parent[1], &c, 1) != 1 || ::read(to_child[0], &c, 1) != 1) ::_exit(1);
            std::string said;
            if (::setgroups(0, nullptr) != 0 || ::setgid(0) != 0 || ::setuid(0) != 0) said = "no root";
            ::umask(077);
            try {
                if (said.empty()) work();
            } catch (const std::exception& error) {
                said = error.what();
            }
            said += '\n';
            if (::write(to_parent[1], said.data(), said.size()) < 0) ::_exit(1);
            ::close(to_parent[1]);
            ::pause();
        }
        ::close(to_parent[1]);
        char c = 'n';
        is_permitted_ = ::read(to_parent[0], &c, 1) == 1 && c == 'u';
        for (const char* map : {"uid_map", "gid_map"}) {
            std::ofstream file("/proc/" + std::to_string(child_) + "/" + map);
            file << "0 " << root << " 65536\n";
            file.flush();
            is_permitted_ = is_permitted_ && file.good();
        }
        if (::write(to_child[1], &c, 1) != 1) is_permitted_ = false;
        for (char next = 0; is_permitted_ && ::read(to_parent[0], &next, 1) == 1;) said_ += next;
        for (const int fd : {to_child[0], to_child[1], to_parent[0]}) ::close(fd);
    }
    ~InNamespace() {
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
    }
    InNamespace(const InNamespace&) = delete;
    InNamespace& operator=(const InNamespace&) = delete;
    bool is_permitted() const { return is_permitted_; }
    std::string said() const { return said_.ends_with('\n') ? said_.substr(0, said_.size() - 1) : "it died"; }

private:
    pid_t child_ = -1;
    bool is_permitted_ = false;
    std::string said_;
};

// As containers without root are: to each of them the other one's users are nobody.
TEST_P(Rights, reach_into_another_user_namespace) {
    const auto work_in = [&](const char* id) {
        return [this, id] {
            auto* const pmem = new PMEM;
            pmem->mmap(path(), small_pool(0666));
            pmem->store(id, std::vector<double>(10'000, 1.0));
            for (const std::string& there : pmem->ids()) {
                if (pmem->load<std::vector<double>>(there) != std::vector<double>(10'000, 1.0))
                    throw std::runtime_error(there + " is another");
            }
        };
    };
    {
        const InNamespace first(100'000, [&] {
            ::umask(0);
            work_in("first")();
            ::umask(077);
        });
        if (!first.is_permitted()) GTEST_SKIP() << "user namespaces are not permitted here";
        ASSERT_EQ(first.said(), "");
        const InNamespace second(200'000, work_in("second"));
        EXPECT_EQ(second.said(), "");
    }
    fs::remove(runtime());
    const InNamespace second(200'000, work_in("second again"));
    EXPECT_EQ(second.said(), "");
    const InNamespace first(100'000, work_in("first again"));
    EXPECT_EQ(first.said(), "");
    const As outside({eve, {}, 077}, work_in("outside"));
    EXPECT_EQ(outside.said(), "");
}

}  // namespace
