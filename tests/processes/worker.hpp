#pragma once

// What the tests with several processes share. A test program runs itself again as each of its workers, so that a
// worker starts with nothing inherited: `program --worker NAME ARGUMENT...`. This header brings main().

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <pmemcpy/pmemcpy.hpp>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "persist/trace.hpp"
#include "tests/folder.hpp"
#include "tests/inside.hpp"

namespace processes {

using pmemcpy::Folder;
using pmemcpy::Inside;
using Arguments = std::vector<std::string>;
using Work = std::function<int(const Arguments&)>;

inline std::map<std::string, Work>& works() {
    static std::map<std::string, Work> all;
    return all;
}

/// Makes a function known as a worker of this program.
struct Job {
    Job(const std::string& name, Work work) { works()[name] = std::move(work); }
};

/// Puts a worker off the processor now and then, right after something it has stored: as a busy machine does, but there
/// where it matters. Only in builds that trace.
class PutOff final : public pmemcpy::persist::TraceSink {
public:
    PutOff() {
        if constexpr (pmemcpy::persist::tracing) pmemcpy::persist::set_trace_sink(this);
    }
    ~PutOff() override { pmemcpy::persist::set_trace_sink(nullptr); }
    void on_store(const void*, std::size_t, const pmemcpy::persist::Site&) override { perhaps(); }
    void on_bulk(const void*, std::size_t, const pmemcpy::persist::Site&) override { perhaps(); }
    void on_flush(const void*, std::size_t, const pmemcpy::persist::Site&) override {}
    void on_fence(const pmemcpy::persist::Site&) override { perhaps(); }
    void on_sync(const pmemcpy::persist::Site&) override { perhaps(); }

private:
    static void perhaps() {
        thread_local std::minstd_rand random(std::random_device{}());
        if (random() % 512 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 4096));
    }
};

/// A process that does one of the jobs; killed when this goes.
class Worker {
public:
    Worker(const std::string& job, const Arguments& arguments, const Arguments& before = {}) {
        Arguments all = before;
        // Where this program is emulated /proc/self/exe is the emulator (cmake/aarch64-linux-gnu.cmake).
        if (const char* emulator = std::getenv("PMEMCPY_EMULATOR")) all.emplace_back(emulator);
        const char* const self = "/proc/self/exe";
        all.push_back(all.empty() ? self : std::filesystem::read_symlink(self).string());
        all.insert(all.end(), {"--worker", job});
        all.insert(all.end(), arguments.begin(), arguments.end());
        std::vector<char*> argv;
        for (std::string& argument : all) argv.push_back(argument.data());
        argv.push_back(nullptr);
        const pid_t parent = ::getpid();
        pid_ = ::fork();
        if (pid_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() != parent) ::_exit(125);
            ::execvp(argv[0], argv.data());
            ::_exit(126);
        }
    }
    Worker(Worker&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
    Worker& operator=(Worker&& other) noexcept {
        kill();
        pid_ = std::exchange(other.pid_, 0);
        return *this;
    }
    ~Worker() { kill(); }

    void kill() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        wait();
    }
    /// The exit code, or 1000 and the signal that ended it.
    int wait() {
        if (pid_ <= 0) return -1;
        int status = 0;
        ::waitpid(std::exchange(pid_, 0), &status, 0);
        return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    bool is_running() {
        int status = 0;
        if (pid_ <= 0) return false;
        if (::waitpid(pid_, &status, WNOHANG) == 0) return true;
        pid_ = 0;
        last_ = WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
        return false;
    }
    /// Until it has stopped, by itself or by stop(); false if it has ended instead.
    bool wait_until_stopped() const {
        int status = 0;
        return ::waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status);
    }
    bool stop() const { return ::kill(pid_, SIGSTOP) == 0 && wait_until_stopped(); }
    void go_on() const { ::kill(pid_, SIGCONT); }
    /// Of a worker that is_running() found gone.
    int last() const { return last_; }
    pid_t pid() const { return pid_; }

private:
    pid_t pid_ = 0;
    int last_ = 0;
};

/// Zeroed memory that all processes of a test share, outside of any pool.
template <class T>
class Shared {
public:
    explicit Shared(const std::string& path) {
        std::ofstream(path, std::ios::app).close();
        std::filesystem::permissions(path, std::filesystem::perms(0666));
        if (std::filesystem::file_size(path) < sizeof(T)) std::filesystem::resize_file(path, sizeof(T));
        const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        memory_ = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        ::close(fd);
        if (memory_ == MAP_FAILED) throw std::runtime_error("no shared memory for the test");
    }
    ~Shared() { ::munmap(memory_, sizeof(T)); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    T* operator->() const { return static_cast<T*>(memory_); }
    T& operator*() const { return *static_cast<T*>(memory_); }

private:
    void* memory_ = nullptr;
};

using Word = std::atomic<std::uint64_t>;

/// Waits for something that another process does; false after too long.
template <class Condition>
bool wait_until(Condition condition, int seconds = 60) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
}

inline void sleep_us(std::uint64_t microseconds) {
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

inline bool is_long() { return std::getenv("PMEMCPY_LONG") != nullptr; }

/// PMEMCPY_SEED repeats a run, as far as the scheduler lets it.
inline std::uint64_t seed() {
    const char* given = std::getenv("PMEMCPY_SEED");
    const std::uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
    std::cout << "[   seed   ] PMEMCPY_SEED=" << value << "\n";
    return value;
}

/// Nobody stores meanwhile: all space is where it should be.
inline void expect_clean(const pmemcpy::catalog::Audit& audit) {
    EXPECT_EQ(audit.leaked_records, 0u);
    EXPECT_EQ(audit.leaked_units, 0u);
    EXPECT_EQ(audit.leaked_chunks, 0u);
    EXPECT_EQ(audit.doubly_owned, 0u);
    EXPECT_EQ(audit.lost, 0u);
    for (const std::string& complaint : audit.complaints) ADD_FAILURE() << complaint;
}

/// Erases all there is: no space is left in anybody's use.
inline void expect_that_all_can_go(pmemcpy::PMEM& pmem) {
    for (const std::string& id : pmem.ids()) pmem.erase(id);
    const std::vector<std::string> groups =
        pmem.groups();  // sorted: from the last on, so that none has another in it
    std::for_each(groups.rbegin(), groups.rend(), [&](const std::string& id) { pmem.erase(id); });
    pmem.trim();
    EXPECT_EQ(pmem.info().data_bytes, 0u);
    EXPECT_EQ(pmem.info().metadata_bytes, 0u);
}

template <class F>
void expect_error(pmemcpy::Code code, F&& f, const std::string& says = "") {
    try {
        f();
        ADD_FAILURE() << "no error, expected " << pmemcpy::name_of(code);
    } catch (const pmemcpy::Error& error) {
        EXPECT_EQ(error.kind(), code) << error.what();
        EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
}

}  // namespace processes

int main(int argc, char** argv) {
    if (argc >= 3 && std::string(argv[1]) == "--worker") {
        const processes::PutOff put_off;
        try {
            return processes::works().at(argv[2])(processes::Arguments(argv + 3, argv + argc));
        } catch (const std::exception& error) {
            std::cerr << "worker " << argv[2] << ": " << error.what() << "\n";
            return 99;
        }
    }
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
