// Who may open a pool, and when: beside others who come and go, on a full file system, and under a limit.
// Length: each thing that an opening may lack, with one small pool.

#include "worker.hpp"

#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <pmemcpy/index.hpp>
#include <pmemcpy/query.hpp>
#include <pmemcpy/tiers.hpp>

#include "os/calls.hpp"
#include "pool/locks.hpp"

namespace {

using namespace processes;
using pmemcpy::Code;
using pmemcpy::Error;
using pmemcpy::Mode;
using pmemcpy::Options;
using pmemcpy::PMEM;
namespace fs = std::filesystem;
namespace os = pmemcpy::os;

constexpr int not_permitted = 77;

Options small_pool(Mode mode = Mode::create_or_update) {
    Options options;
    options.max_bytes = 8 << 20;
    options.chunk_bytes = 64 << 10;
    options.mode = mode;
    return options;
}

bool can_read(const std::string& path) {
    PMEM reader;
    reader.mmap(path, small_pool(Mode::read));
    return reader.load<int>("x") == 1;
}

// What it was, if it was an error.
std::optional<Error> error_of(const std::function<void()>& call) {
    try {
        call();
        return std::nullopt;
    } catch (const Error& error) {
        return error;
    }
}

/// Runs at a moment inside a call to the kernel that is told by what the call is asked for. Once.
struct Moment {
    static inline std::function<void()> then{};
    static void happen() {
        if (const auto now = std::exchange(then, nullptr)) now();
    }
};

// ---- a full file system ----

// In a mount namespace of its own. `room` pages are free when a process that wants to erase something opens the pool.
int open_with_little_room(const Arguments& arguments) {
    const std::string& where = arguments[0];
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", where.c_str(), "tmpfs", 0, "size=16m") != 0) {
        return not_permitted;
    }
    const std::string path = where + "/pool" + arguments[1];
    const std::string runtime = where + (arguments[1].empty() ? "/pool.rt" : "/pool/.pool.rt");
    {
        PMEM pmem;
        pmem.mmap(path, small_pool());
        pmem.store("x", 1);
        if (arguments[2] == "index") pmemcpy::set_index_mode(pmem, pmemcpy::IndexMode::async);
    }
    int opened = 0;
    int refused = 0;
    // A slot of <pool>.rt was written by the second process that had the pool open before there was space for it.
    PMEM first;
    const bool is_second = arguments[2] == "second";
    if (is_second) first.mmap(path);
    for (const bool is_new : {!is_second, false}) {
        for (int room = 0; room < 12; ++room) {
            if (is_new) fs::remove(runtime);
            fs::remove(where + "/filled");
            std::ofstream filler(where + "/filled", std::ios::binary);
            const std::string page(4096, 'f');
            while (filler.write(page.data(), 4096).flush()) {
            }
            filler.close();
            fs::resize_file(where + "/filled", fs::file_size(where + "/filled") / 4096 * 4096 -
                                                   4096 * static_cast<unsigned>(room));
            const auto error = error_of([&] {
                PMEM pmem;
                pmem.mmap(path);
                ++opened;
                if (pmem.load<int>("x") != 1) throw std::runtime_error("x is lost");
                pmem.munmap();
            });
            if (error && error->kind() != Code::no_space) {
                std::cerr << room << " pages: " << error->what() << "\n";
                return 1;
            }
            refused += error ? 1 : 0;
            // Nothing has changed, so nobody has to repair anything before others may read.
            if (!can_read(path)) return 2;
        }
    }
    std::cerr << opened << " opened, " << refused << " refused\n";
    if (opened == 0 || refused == 0) return 3;
    first.munmap();
    fs::remove(where + "/filled");
    PMEM pmem;
    pmem.mmap(path);
    pmem.store("y", 2);
    return pmem.verify().empty() ? 0 : 4;
}
const Job open_with_little_room_job("open_with_little_room", open_with_little_room);

class LittleRoom : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

// The pages of <pool>.rt had no space before they were touched: opening a pool to make room in it was a SIGBUS, and the pool had lost its mark
// by then, so that mere readers were refused.
TEST_P(LittleRoom, opens_a_pool_or_says_no_space_and_readers_come_and_go) {
    const Folder folder("/dev/shm");
    const auto& [layout, index] = GetParam();
    Worker worker("open_with_little_room", {folder.path(), layout, index});
    const int status = worker.wait();
    if (status == not_permitted) GTEST_SKIP() << "mounting is not permitted here";
    EXPECT_EQ(status, 0);
}
INSTANTIATE_TEST_SUITE_P(pools, LittleRoom,
                         ::testing::Values(std::pair{"", ""}, std::pair{"/", ""}, std::pair{"", "index"},
                                           std::pair{"", "second"}, std::pair{"/", "second"}),
                         [](const auto& one) {
                             const std::string layout = *one.param.first == '\0' ? "file" : "directory";
                             const std::string how = one.param.second;
                             return layout + (how.empty()      ? ""
                                              : how == "index" ? "_with_an_index"
                                                               : "_that_another_has_open");
                         });

// A hole in a file that is mapped is a signal where the device is full.
TEST(Opening, with_an_index_leaves_no_holes_in_its_files) {
    const Folder folder;
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    pmemcpy::set_index_mode(pmem, pmemcpy::IndexMode::async);
    for (int i = 0; i < 1000; ++i) pmem.set_attribute("/", "a" + std::to_string(i), i);
    pmemcpy::flush_index(pmem);
    int seen = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder / "pool.idx")) {
        // In a copy only what has been written is ever read.
        if (!entry.is_regular_file() || entry.path().filename() == "copy") continue;
        struct stat status {};
        ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
        EXPECT_GE(status.st_blocks * 512, status.st_size) << entry.path();
        ++seen;
    }
    EXPECT_GT(seen, 0);
}

// ---- a limit on the length of files ----

int open_under_a_limit(const Arguments& arguments) {
    const struct rlimit limit {
        1 << 20, 1 << 20
    };
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    PMEM pmem;
    const auto error = error_of([&] { pmem.mmap(arguments[0], small_pool()); });
    if (arguments[1] == "opens") {
        if (error) std::cerr << error->what() << "\n";
        if (error) return 2;
        pmem.store("y", 2);
        const auto refused = error_of([&] { pmemcpy::set_index_mode(pmem, pmemcpy::IndexMode::async); });
        if (refused && refused->kind() != Code::no_space) return 6;
        return pmem.load<int>("y") == 2 ? 0 : 3;
    }
    if (!error || error->kind() != Code::no_space) return 4;
    if (std::string(error->what()).find("ulimit -f") == std::string::npos) {
        std::cerr << error->what() << "\n";
        return 5;
    }
    return 0;
}
const Job open_under_a_limit_job("open_under_a_limit", open_under_a_limit);

// Making a file longer than `ulimit -f` allows raises SIGXFSZ, which ends the process before any call says EFBIG.
TEST(Opening, under_a_limit_on_the_length_of_files_is_an_error_and_no_signal) {
    const Folder folder;
    const auto run = [&](const char* what) {
        return Worker("open_under_a_limit", {folder / "pool", what}).wait();
    };
    EXPECT_EQ(run("is refused"), 0) << "there is no pool yet";
    EXPECT_FALSE(fs::exists(folder / "pool"));
    {
        PMEM pmem;
        pmem.mmap(folder / "pool", small_pool());
        pmem.store("x", 1);
    }
    EXPECT_EQ(run("opens"), 0) << "nothing needs to grow";
    fs::remove(folder / "pool.rt");
    EXPECT_EQ(run("is refused"), 0) << "it has no run-time file";
    EXPECT_TRUE(can_read(folder / "pool"));
    PMEM pmem;
    pmem.mmap(folder / "pool");
    EXPECT_EQ(pmem.load<int>("x"), 1);
    pmem.munmap();
    Inside inside(folder / "pool");
    EXPECT_EQ(inside.pool().recovery_count(), 0u);
}

// ---- others who come and go ----

// The reader asked whether a writer is there, and then whether the pool was closed cleanly. A writer who came in between had taken the mark
// away, and the reader was told that the pool had to be repaired.
TEST(Opening, to_read_while_a_writer_comes_is_never_refused) {
    const Folder folder;
    const std::string path = folder / "pool";
    {
        PMEM pmem;
        pmem.mmap(path, small_pool());
        pmem.store("x", 1);
    }
    static PMEM writer;
    os::Calls calls = os::system_calls();
    calls.fcntl_lock = [](int fd, int command, struct flock* lock) {
        const bool is_look =
            command == F_OFD_GETLK && lock->l_start == static_cast<off_t>(pmemcpy::pool::attach_byte);
        const int result = os::system_calls().fcntl_lock(fd, command, lock);
        if (is_look) Moment::happen();
        return result;
    };
    const os::ScopedCalls scoped(calls);
    bool came = false;
    Moment::then = [&] {
        came = true;
        writer.mmap(path);
    };
    EXPECT_TRUE(can_read(path));
    EXPECT_TRUE(came);
    writer.munmap();
}

// ... while a pool that was not closed cleanly still is not for mere readers.
int die_with_a_pool(const Arguments& arguments) {
    PMEM pmem;
    pmem.mmap(arguments[0]);
    ::_exit(0);
}
const Job die_with_a_pool_job("die_with_a_pool", die_with_a_pool);

TEST(Opening, to_read_what_was_not_closed_cleanly_is_refused) {
    const Folder folder;
    const std::string path = folder / "pool";
    {
        PMEM pmem;
        pmem.mmap(path, small_pool());
        pmem.store("x", 1);
    }
    EXPECT_EQ(Worker("die_with_a_pool", {path}).wait(), 0);
    expect_error(
        Code::busy, [&] { can_read(path); }, "not closed cleanly");
    PMEM().mmap(path);
    EXPECT_TRUE(can_read(path));
}

// An orderly close inside a step that nobody commits any more left the pool to the next writer, and mere readers were refused, though nothing
// had to be stored in the step for that.
TEST(Opening, to_read_what_was_closed_in_a_step_shows_what_was_before_it) {
    const std::vector<std::function<void(PMEM&)>> works = {
        [](PMEM&) {}, [](PMEM& p) { p.store("x", 2); }, [](PMEM& p) { p.store("y", 2); },
        [](PMEM& p) { p.set_attribute("x", "units", "K"); },
        [](PMEM& p) {
            p.store("a", std::vector<double>(3, 7.0).data(), pmemcpy::Box{{0}, {3}});
        }};
    for (std::size_t i = 0; i < works.size(); ++i) {
        const Folder folder;
        const std::string path = folder / "pool";
        {
            PMEM pmem;
            pmem.mmap(path, small_pool());
            pmem.store("x", 1);
            pmem.alloc<double>("a", {3});
            pmem.store("a", std::vector<double>(3, 1.0).data(), pmemcpy::Box{{0}, {3}});
        }
        {
            PMEM pmem;
            pmem.mmap(path);
            pmem.begin(1);
            works[i](pmem);
        }
        EXPECT_TRUE(can_read(path)) << i;
        PMEM pmem;
        pmem.mmap(path, small_pool(Mode::read));
        std::vector<double> found(3);
        pmem.load("a", found.data(), pmemcpy::Box{{0}, {3}});
        EXPECT_EQ(found, std::vector<double>(3, 1.0)) << i;
        EXPECT_FALSE(pmem.exists("y"));
        EXPECT_TRUE(pmem.verify().empty());
    }
}

// ---- what the kernel gives no threads to ----

// At a user's limit of threads the opening of a pool threw an exception that is not the library's.
TEST(Opening, where_no_thread_is_to_be_had_is_opening_without_what_needs_one) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become a user without threads";
    const Folder folder("/dev/shm");
    fs::permissions(folder.path(), fs::perms(0777));
    const std::string path = folder / "pool";
    const pid_t child = ::fork();
    if (child == 0) {
        const struct rlimit one = {1, 1};
        constexpr unsigned nobody_else = 54321;
        if (::setrlimit(RLIMIT_NPROC, &one) != 0 || ::setuid(nobody_else) != 0) ::_exit(not_permitted);
        const auto wants_an_index = error_of([&] {
            Options options = small_pool();
            options.index = pmemcpy::IndexMode::sync;
            PMEM().mmap(path, options);
        });
        if (!wants_an_index || std::string(wants_an_index->what()).find("threads") == std::string::npos)
            ::_exit(1);
        const auto error = error_of([&] {
            PMEM pmem;
            pmem.mmap(path, small_pool());
            if (pmemcpy::index_info(pmem).trouble.find("threads") == std::string::npos)
                throw std::runtime_error("nobody is told");
            pmem.store("x", 1);
            if (pmemcpy::ids(pmem, "value = 1") != std::vector<std::string>{"x"})
                throw std::runtime_error("x is not found");
        });
        if (error) std::cerr << error->what() << "\n";
        ::_exit(error ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == not_permitted) GTEST_SKIP() << "there are no limits here";
    EXPECT_EQ(status, 0);
}

// ---- what the kernel forbids with fs.protected_regular ----

// It refuses O_CREAT for another user's file in a directory with the sticky bit, whatever the rights of the file are.
TEST(RightsHere, are_enough_where_the_kernel_forbids_to_make_what_is_there) {
    const Folder folder;
    const std::string path = folder / "pool";
    PMEM().mmap(path, small_pool());
    const auto inode = [&] {
        struct stat status {};
        return ::stat((path + ".rt").c_str(), &status) == 0 ? status.st_ino : 0;
    };
    const auto before = inode();
    os::Calls calls = os::system_calls();
    calls.open = [](const char* name, int flags, mode_t mode) {
        if ((flags & O_CREAT) != 0 && ::access(name, F_OK) == 0) {
            errno = EACCES;
            return -1;
        }
        return os::system_calls().open(name, flags, mode);
    };
    const os::ScopedCalls scoped(calls);
    PMEM pmem;
    pmem.mmap(path);
    pmem.store("x", 1);
    pmem.munmap();
    EXPECT_EQ(inode(), before) << "it had to be replaced";
}

// A pool was emptied by the opening of another one, whose run-time file would have had its name; and so were files of the user's.
TEST(opening, leaves_a_file_as_it_is_that_has_the_name_of_one_of_its_own) {
    const Folder folder;
    {
        PMEM other;
        other.mmap(folder / "run.rt", small_pool());
        other.store("x", 1);
    }
    PMEM pool;
    const auto error = error_of([&] { pool.mmap(folder / "run", small_pool()); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), Code::already_exists) << error->what();
    EXPECT_TRUE(can_read(folder / "run.rt"));
    for (const std::string ending : {".rt", ".feed", ".heat"}) {
        const std::string path = folder / ("mine" + ending);
        std::ofstream(path) << "what I have written";
        error_of([&] {
            PMEM beside;
            beside.mmap(folder / "mine", small_pool());
            pmemcpy::set_index_mode(beside, pmemcpy::IndexMode::async);
            pmemcpy::flush_index(beside);
            pmemcpy::set_hierarchy(
                beside,
                pmemcpy::parse_hierarchy(
                    "targets:\n  - {name: pool, kind: tmpfs, write: {bandwidth: 6 GB/s, latency: 1 us}, "
                    "read: {bandwidth: 6 GB/s, latency: 1 us}}\n"));
            beside.store("x", 1);
            EXPECT_EQ(beside.load<int>("x"), 1);
        });
        std::ifstream in(path);
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "what I have written") << ending;
        fs::remove(path);
    }
    // The pool had been made, and its opening failed.
    for (const bool is_directory : {false, true}) {
        if (is_directory) fs::create_directory(folder / "x.idx");
        const std::string path = folder / (is_directory ? "x.idx/notes" : "x.idx");
        std::ofstream(path) << "what I have written";
        PMEM beside;
        beside.mmap(folder / "x", small_pool());
        error_of([&] {
            pmemcpy::set_index_mode(beside, pmemcpy::IndexMode::async);
            pmemcpy::set_index_mode(beside, pmemcpy::IndexMode::none);
        });
        beside.munmap();
        std::ifstream in(path);
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "what I have written");
        fs::remove(folder / "x");
        fs::remove_all(folder / "x.idx");
    }
}

}  // namespace
