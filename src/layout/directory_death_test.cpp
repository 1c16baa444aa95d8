// A process that uses a pool in a directory is killed, at every call in turn.

#include "layout/directory_suite.hpp"
#include "os/calls.hpp"

#include <csignal>

namespace pmemcpy::layout {
namespace {

int calls_left = 0;

void count_down() {
    if (--calls_left == 0) ::kill(::getpid(), SIGKILL);
}

/// The kernel, which kills this process at its n-th change of a directory or file.
os::Calls deadly_calls(int n) {
    calls_left = n;
    os::Calls fake = os::system_calls();
    fake.openat = [](int at, const char* path, int flags, mode_t mode) {
        if ((flags & O_CREAT) != 0) count_down();
        return os::system_calls().openat(at, path, flags, mode);
    };
    fake.fallocate = [](int fd, int mode, off_t offset, off_t length) {
        count_down();
        return os::system_calls().fallocate(fd, mode, offset, length);
    };
    fake.ftruncate = [](int fd, off_t size) { return count_down(), os::system_calls().ftruncate(fd, size); };
    fake.linkat = [](int a, const char* from, int b, const char* to, int flags) {
        return count_down(), os::system_calls().linkat(a, from, b, to, flags);
    };
    fake.renameat = [](int a, const char* from, int b, const char* to) {
        return count_down(), os::system_calls().renameat(a, from, b, to);
    };
    fake.unlinkat = [](int a, const char* path, int flags) {
        return count_down(), os::system_calls().unlinkat(a, path, flags);
    };
    fake.mmap = [](void* at, size_t size, int protection, int flags, int fd, off_t offset) {
        return count_down(), os::system_calls().mmap(at, size, protection, flags, fd, offset);
    };
    return fake;
}

/// The kernel, which sends this process a signal when it gives a file so many bytes.
template <int signal, off_t bytes>
os::Calls signal_at_bytes() {
    os::Calls fake = os::system_calls();
    fake.fallocate = [](int fd, int mode, off_t offset, off_t length) {
        if (length == bytes) ::kill(::getpid(), signal);
        return os::system_calls().fallocate(fd, mode, offset, length);
    };
    return fake;
}

/// A process that opens the pool and stores that.
pid_t store_elsewhere(const std::string& path, const Options& options, const os::Calls& calls,
                      const std::string& id, std::size_t bytes) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    const os::ScopedCalls scoped(calls);
    PMEM own;
    own.mmap(path, options);
    own.store(id, std::string(bytes, 'v'));
    own.munmap();
    ::_exit(0);
}

// A process had counted bytes and died. While another one was stopped between a file and its count, these bytes stayed counted: the pool was
// full, and nothing said why.
TEST_F(directory_layout, that_is_full_of_what_the_dead_counted_says_who_keeps_it_from_being_counted_anew) {
    constexpr off_t small = 100'003;
    constexpr off_t large = 50'000'003;
    open();
    const pid_t stopped =
        store_elsewhere(path(), options(), signal_at_bytes<SIGSTOP, small>(), "stopped", small);
    int status = 0;
    ASSERT_EQ(::waitpid(stopped, &status, WUNTRACED), stopped);
    ASSERT_TRUE(WIFSTOPPED(status));
    const pid_t dead = store_elsewhere(path(), options(), signal_at_bytes<SIGKILL, large>(), "dead", large);
    ASSERT_EQ(::waitpid(dead, &status, 0), dead);
    ASSERT_TRUE(WIFSIGNALED(status));
    expect_error(Code::no_space, "process " + std::to_string(stopped),
                 [&] { pmem_.store("mine", std::string(large, 'm')); });
    expect_error(Code::no_space, "is stopped in making or removing a file",
                 [&] { pmem_.store("mine", std::string(large, 'm')); });
    ::kill(stopped, SIGCONT);
    ASSERT_EQ(::waitpid(stopped, &status, 0), stopped);
    EXPECT_EQ(status, 0);
    pmem_.store("mine", std::string(large, 'm'));
    EXPECT_EQ(pmem_.load<std::string>("stopped").size(), static_cast<std::size_t>(small));
}

TEST_F(directory_layout, a_kill_at_any_call_leaves_no_orphan_after_recovery) {
    open();
    store("A", ramp(1000));
    pmem_.munmap();
    int kills = 0;
    for (int n = 1;; ++n) {
        SCOPED_TRACE(n);
        const bool died = dies([&] {
            PMEM own;
            own.mmap(path(), options());
            const os::ScopedCalls deadly(deadly_calls(n));
            const auto values = ramp(1000, 5);
            own.store<double>("A", values.data(), Box{{0}, {1000}});
            own.store("group/new", std::string(100'000, 'n'));
            own.rename("group/new", "renamed");
            own.erase("renamed");
        });
        open();
        const auto first = load("A", 1)[0];
        EXPECT_TRUE(first == 0 || first == 5);
        EXPECT_EQ(doubles_of("A"), ramp(1000, first));
        std::set<std::string> with_payload;
        for (const std::string& id : pmem_.ids()) with_payload.insert(id);
        EXPECT_EQ(names(), with_payload);
        EXPECT_EQ(payloads().size(), with_payload.size());
        EXPECT_TRUE(pmem_.verify().empty());
        std::uint64_t bytes = 0;
        for (const fs::path& payload : payloads()) bytes += fs::file_size(payload);
        EXPECT_EQ(pmem_.info().data_bytes, bytes);
        for (const std::string& id : pmem_.ids()) pmem_.erase(id);
        for (const std::string& id : pmem_.groups()) pmem_.erase(id);
        pmem_.sync();
        EXPECT_TRUE(payloads().empty());
        store("A", ramp(1000));
        pmem_.munmap();
        if (!died) break;
        ++kills;
    }
    EXPECT_GT(kills, 10);
}

TEST_F(directory_layout, who_is_left_removes_what_the_dead_have_left) {
    open();
    store("A", ramp(1000));
    for (int n = 1;; ++n) {
        SCOPED_TRACE(n);
        const bool died = dies([&] {
            PMEM own;
            own.mmap(path(), options());
            const os::ScopedCalls deadly(deadly_calls(n));
            const auto values = ramp(1000, 5);
            own.store<double>("A", values.data(), Box{{0}, {1000}});
            own.store("group/new", std::string(100'000, 'n'));
        });
        pmem_.compact();
        pmem_.compact();  // on page media the first one's sync lets the second one free
        std::set<std::string> with_payload;
        for (const std::string& id : pmem_.ids()) with_payload.insert(id);
        EXPECT_EQ(payloads().size(), with_payload.size());
        if (pmem_.exists("group/new")) pmem_.erase("group/new");
        store("A", ramp(1000));
        if (!died) break;
    }
    pmem_.sync();
    EXPECT_EQ(payloads().size(), 1u);
    EXPECT_EQ(names(), std::set<std::string>{"A"});
}

}  // namespace
}  // namespace pmemcpy::layout
