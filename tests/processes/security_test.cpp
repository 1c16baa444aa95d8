// Who may do what to whom: by the modes of files, by what is planted beside a pool, by locks, and by what a pool says.
// docs/security.md says it for users.

#include "worker.hpp"

#include <grp.h>

#include <pmemcpy/repair.hpp>

namespace {

using namespace processes;
using pmemcpy::Box;
using pmemcpy::Code;
using pmemcpy::Dimensions;
using pmemcpy::Error;
using pmemcpy::Layout;
using pmemcpy::Mode;
using pmemcpy::Options;
using pmemcpy::PMEM;
namespace fs = std::filesystem;

constexpr unsigned nobody = 65534;

Options small_pool(unsigned permissions = 0666) {
    Options options;
    options.max_bytes = 8 << 20;
    options.chunk_bytes = 64 << 10;
    options.permissions = permissions;
    return options;
}

Options with(Mode mode) {
    Options options = small_pool();
    options.mode = mode;
    return options;
}

void fill(PMEM& pmem) {
    pmem.store("v", 1);
    pmem.alloc<double>("g/A", Dimensions{1000});
    const std::vector<double> data(1000, 2.0);
    pmem.store<double>("g/A", data.data(), Box{{0}, {1000}});
}

/// The kind of the error of a call that must not hang either.
Code kind_of_error(const std::function<void()>& call) {
    ::alarm(20);
    try {
        call();
    } catch (const Error& error) {
        ::alarm(0);
        return error.kind();
    }
    ::alarm(0);
    ADD_FAILURE() << "no error";
    return Code::not_found;
}

/// Another user's process does `work` and then waits to be ended; says by its pipe when it is done.
class Somebody {
public:
    explicit Somebody(const std::function<bool()>& work, unsigned user = nobody) {
        int ends[2];
        if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
        child_ = ::fork();
        if (child_ == 0) {
            const bool is_ready =
                user == 0 || (::setgroups(0, nullptr) == 0 && ::setgid(user) == 0 && ::setuid(user) == 0);
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of user takes it away
            char answer = 'n';
            try {
                if (is_ready && work()) answer = 'y';
            } catch (const std::exception& error) {
                std::cerr << "somebody: " << error.what() << "\n";
            }
            if (::write(ends[1], &answer, 1) != 1) ::_exit(1);
            ::pause();
        }
        ::close(ends[1]);
        char answer = 'n';
        did_ = ::read(ends[0], &answer, 1) == 1 && answer == 'y';
        ::close(ends[0]);
    }
    ~Somebody() { end(); }
    Somebody(const Somebody&) = delete;
    Somebody& operator=(const Somebody&) = delete;
    bool did() const { return did_; }
    void end() {
        if (child_ <= 0) return;
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
        child_ = -1;
    }

private:
    pid_t child_ = -1;
    bool did_ = false;
};

bool lock_shared(const std::string& path, off_t begin, off_t length) {
    const int fd = ::open(path.c_str(), O_RDONLY);
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = begin;
    lock.l_len = length;
    return fd >= 0 && ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

unsigned mode_of(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
}

class Security : public ::testing::TestWithParam<Layout> {
protected:
    Security() {
        fs::permissions(folder_.path(), fs::perms(0777));
        previous_mask_ = ::umask(022);
    }
    ~Security() override { ::umask(previous_mask_); }
    bool is_directory() const { return GetParam() == Layout::directory; }
    std::string path(const std::string& name = "pool") const {
        return folder_ / (name + (is_directory() ? "/" : ""));
    }
    std::string records(const std::string& name = "pool") const {
        return path(name) + (is_directory() ? ".pool" : "");
    }

    Folder folder_;
    mode_t previous_mask_;
};

TEST_P(Security, nothing_is_made_with_more_rights_than_asked_for_and_the_umask_leaves) {
    for (const unsigned asked : {0666U, 0640U, 0600U}) {
        for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{077}}) {
            ::umask(mask);
            fs::remove_all(folder_ / "pool");
            fs::remove(folder_ / "pool.rt");
            fs::remove_all(folder_ / "new");
            fs::remove(folder_ / "new.rt");
            {
                const unsigned limit = asked & ~mask;
                PMEM pmem;
                pmem.mmap(path(), small_pool(asked));
                fill(pmem);
                EXPECT_EQ(mode_of(records()), limit);
                // Writers' own: whoever may only read has nothing to do with it.
                const unsigned for_writers =
                    0600U | ((limit & 0020) != 0 ? 0060U : 0U) | ((limit & 0002) != 0 ? 0006U : 0U);
                EXPECT_EQ(mode_of(records() + ".rt"), for_writers & ~mask);
            }
            ::umask(mask | 027);  // repaired by somebody who leaves less to others
            pmemcpy::repair(path(), path("new"));
            for (const std::string name : {"pool", "new"}) {
                const unsigned limit = asked & ~(name == "new" ? mask | 027 : mask);
                if (!is_directory()) {
                    EXPECT_EQ(mode_of(folder_ / name), limit) << name;
                    continue;
                }
                for (const auto& entry : fs::recursive_directory_iterator(folder_ / name)) {
                    if (entry.path().extension() == ".rt") continue;
                    const unsigned most = entry.is_directory() ? limit | (limit & 0444) >> 2 : limit;
                    EXPECT_EQ(mode_of(entry.path()) & ~most, 0U)
                        << entry.path() << std::oct << mode_of(entry.path());
                }
            }
        }
    }
}

TEST_P(Security, a_reader_needs_no_permission_to_write) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    {
        PMEM pmem;
        pmem.mmap(path(), small_pool(0644));
        fill(pmem);
    }
    const Somebody reader([&] {
        PMEM pmem;
        pmem.mmap(path(), with(Mode::read));
        std::vector<double> found(1000);
        pmem.load<double>("g/A", found.data(), Box{{0}, {1000}});
        const bool is_there =
            pmem.load<int>("v") == 1 && found == std::vector<double>(1000, 2.0) && pmem.verify().empty();
        bool is_refused = false;
        try {
            PMEM().mmap(path(), with(Mode::update));
        } catch (const Error& error) {
            is_refused = error.kind() == Code::permission_denied;
        }
        return is_there && is_refused;
    });
    EXPECT_TRUE(reader.did());
    const Somebody other([&] { return ::open((records() + ".rt").c_str(), O_RDONLY) < 0; });
    EXPECT_TRUE(other.did());
}

TEST_P(Security, whoever_may_not_read_gets_nothing) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    {
        PMEM pmem;
        pmem.mmap(path(), small_pool(0600));
        fill(pmem);
    }
    const Somebody other([&] {
        for (const Mode mode : {Mode::read, Mode::update}) {
            if (kind_of_error([&] { PMEM().mmap(path(), with(mode)); }) != Code::permission_denied)
                return false;
        }
        return true;
    });
    EXPECT_TRUE(other.did());
}

TEST_P(Security, what_is_planted_in_the_place_of_the_run_time_file_is_refused) {
    {
        PMEM pmem;
        pmem.mmap(path(), small_pool(0644));
        fill(pmem);
    }
    const std::string runtime = records() + ".rt";
    const std::string thesis = folder_ / "thesis";
    std::ofstream(thesis) << "years of work";
    const std::vector<std::pair<std::string, std::function<void()>>> plants = {
        {"a symbolic link", [&] { fs::create_symlink(thesis, runtime); }},
        {"a hard link", [&] { fs::create_hard_link(thesis, runtime); }},
        {"a FIFO", [&] { ASSERT_EQ(::mkfifo(runtime.c_str(), 0666), 0); }},
        {"a directory", [&] { fs::create_directory(runtime); }},
    };
    for (const auto& [what, plant] : plants) {
        fs::remove_all(runtime);
        plant();
        kind_of_error([&] { PMEM().mmap(path(), with(Mode::update)); });
        std::string text;
        std::ifstream(thesis) >> text;
        EXPECT_EQ(text, "years") << what;
        EXPECT_EQ(fs::file_size(thesis), 13u) << what;
        PMEM reader;  // who only reads does not look at it
        reader.mmap(path(), with(Mode::read));
        EXPECT_EQ(reader.load<int>("v"), 1) << what;
    }
    fs::remove_all(runtime);
    PMEM pmem;
    pmem.mmap(path(), with(Mode::update));
    EXPECT_EQ(pmem.load<int>("v"), 1);
}

// He would hold its locks, cut it short under the writers' feet, and say what he likes in the slots.
TEST_P(Security, a_run_time_file_of_somebody_who_may_not_write_the_pool_is_refused) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    {
        PMEM pmem;
        pmem.mmap(path(), small_pool(0644));
        fill(pmem);
    }
    const std::string runtime = records() + ".rt";
    fs::remove(runtime);
    std::ofstream(runtime) << "";
    ASSERT_EQ(::chown(runtime.c_str(), nobody, nobody), 0);
    EXPECT_EQ(kind_of_error([&] { PMEM().mmap(path(), with(Mode::update)); }), Code::permission_denied);
}

TEST_P(Security, a_pool_whose_name_is_something_else_is_refused_and_nobody_waits) {
    if (is_directory()) fs::create_directory(folder_ / "pool");
    ASSERT_EQ(::mkfifo(records().c_str(), 0666), 0);
    for (const Mode mode : {Mode::read, Mode::update, Mode::create_or_update, Mode::replace})
        kind_of_error([&] { PMEM().mmap(path(), with(mode)); });
    EXPECT_TRUE(fs::is_fifo(records()));
    // A name that leads nowhere is not followed to make a pool there.
    fs::remove(records());
    fs::create_symlink(folder_ / "elsewhere", records());
    kind_of_error([&] { PMEM().mmap(path(), small_pool()); });
    EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
}

TEST_P(Security, links_planted_among_the_payloads_lead_nowhere) {
    if (!is_directory()) GTEST_SKIP() << "payloads are files in the directory layout alone";
    std::string payload;
    {
        PMEM pmem;
        pmem.mmap(path(), small_pool());
        fill(pmem);
        for (const auto& entry : fs::directory_iterator(path() + ".data")) payload = entry.path();
    }
    fs::create_directory(folder_ / "outside");
    const std::string thesis = folder_ / "outside/thesis";
    std::ofstream(thesis) << std::string(20'000, 't');
    const auto expect_untouched = [&] {
        EXPECT_EQ(fs::file_size(thesis), 20'000u);
        EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "outside"), fs::directory_iterator()), 1);
    };
    for (const bool is_fifo : {false, true}) {
        fs::remove(payload);
        if (is_fifo) {
            ASSERT_EQ(::mkfifo(payload.c_str(), 0666), 0);
        } else {
            fs::create_symlink(thesis, payload);
        }
        PMEM pmem;
        pmem.mmap(path(), with(Mode::update));
        std::vector<double> found(1000);
        EXPECT_EQ(kind_of_error([&] {
                      pmem.load<double>("g/A", found.data(), Box{{0}, {1000}});
                  }),
                  Code::corrupt);
        expect_untouched();
    }
    // A readable name's directory, and the directory of the payloads itself.
    for (const char* name : {"g", ".data"}) {
        fs::remove_all(path() + name);
        fs::create_symlink(folder_ / "outside", path() + name);
        try {
            PMEM pmem;
            pmem.mmap(path(), with(Mode::update));
            fill(pmem);
            pmem.erase("g/A");
        } catch (const Error&) {
        }
        try {
            fs::remove_all(folder_ / "new");
            pmemcpy::repair(path(), path("new"));
        } catch (const Error&) {
        }
        expect_untouched();
    }
}

// Locks need no permission to write. What a mere reader can do with them is what docs/security.md admits.
TEST_P(Security, a_mere_reader_who_locks_all_he_can_stops_no_writer_that_is_attached) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    PMEM pmem;
    pmem.mmap(path(), small_pool(0644));
    fill(pmem);
    ::alarm(60);
    {
        Somebody reader([&] { return lock_shared(records(), 0, 0); });  // every byte there is
        ASSERT_TRUE(reader.did());
        for (int i = 0; i < 50; ++i) pmem.store("w" + std::to_string(i), std::string(100'000, 'w'));
        pmem.begin(1);
        pmem.store("v", 2);
        pmem.commit(1);
        pmem.sync();
        pmem.rename("w0", "x0");
        pmem.erase("w1");
        PMEM second;  // a writer who joins does not mind either
        second.mmap(path(), with(Mode::update));
        second.store("second", 2);
        second.munmap();
        pmem.munmap();  // nor one who goes
    }
    ::alarm(0);
    // Nobody could say that the last one had gone; so the pool is scanned, and all is there.
    pmem.mmap(path(), with(Mode::update));
    EXPECT_EQ(pmem.load<int>("v"), 2);
    EXPECT_EQ(pmem.load<std::string>("w49"), std::string(100'000, 'w'));
    EXPECT_EQ(pmem.load<int>("second"), 2);
    pmem.munmap();
    // What he does stop is the first writer, who must be alone for a moment: with an error, not for ever.
    Somebody reader([&] { return lock_shared(records(), 0, 0); });
    ASSERT_TRUE(reader.did());
    EXPECT_EQ(kind_of_error([&] { pmem.mmap(path(), with(Mode::update)); }), Code::busy);
    reader.end();
    pmem.mmap(path(), with(Mode::update));
    EXPECT_EQ(pmem.load<int>("v"), 2);
}

// A writer may do to the run-time file what he likes: readers do not use it.
TEST_P(Security, a_writer_who_ruins_the_run_time_file_does_not_touch_readers) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    {
        PMEM pmem;
        pmem.mmap(path(), small_pool(0644));
        fill(pmem);
    }
    std::ofstream(records() + ".rt", std::ios::binary) << std::string(50'000, '\xff');
    ASSERT_TRUE(lock_shared(records() + ".rt", 0, 0));
    const Somebody reader([&] {
        PMEM pmem;
        pmem.mmap(path(), with(Mode::read));
        return pmem.load<int>("v") == 1 && pmem.verify().empty();
    });
    EXPECT_TRUE(reader.did());
}

INSTANTIATE_TEST_SUITE_P(layouts, Security, ::testing::Values(Layout::file, Layout::directory),
                         [](const auto& one) {
                             return one.param == Layout::directory ? "directory" : "file";
                         });

}  // namespace
