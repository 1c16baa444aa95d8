#include "processes.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <stdexcept>
#include <system_error>

#include "library.hpp"

namespace mosiqs {
namespace {

enum class State { unfinished, done, unsupported, failed };

struct Slot {
    State state = State::unfinished;
    Part part;
    std::array<char, 1000> message{};
};

struct Shared {
    pthread_barrier_t barrier;
    std::array<Slot, 64> slots;
};

[[noreturn]] void throw_errno(int error, const char* what) {
    throw std::system_error(error, std::generic_category(), what);
}

class SharedMemory {
public:
    explicit SharedMemory(int count) {
        void* memory =
            ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw_errno(errno, "mmap");
        shared_ = new (memory) Shared;
        pthread_barrierattr_t attributes{};
        int error = pthread_barrierattr_init(&attributes);
        if (error == 0) error = pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        if (error == 0)
            error = pthread_barrier_init(&shared_->barrier, &attributes, static_cast<unsigned>(count));
        if (error != 0) throw_errno(error, "pthread_barrier_init");
    }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    ~SharedMemory() { ::munmap(shared_, sizeof(Shared)); }
    Shared* operator->() const { return shared_; }

private:
    Shared* shared_ = nullptr;
};

[[noreturn]] void be_one(const Process& process, Slot& slot,
                         const std::function<Part(const Process&)>& work) {
    State state = State::failed;
    try {
        slot.part = work(process);
        state = State::done;
    } catch (const Unsupported& reason) {
        state = State::unsupported;
        std::snprintf(slot.message.data(), slot.message.size(), "%s", reason.what());
    } catch (const std::exception& error) {
        std::snprintf(slot.message.data(), slot.message.size(), "%s", error.what());
    }
    slot.state = state;
    // Nothing at exit is the child's to do: what it opened, it has closed.
    std::_Exit(state == State::done ? 0 : 1);
}

void throw_for(const Slot& slot) {
    if (slot.state == State::unsupported) throw Unsupported(slot.message.data());
    if (slot.state == State::failed) throw std::runtime_error(slot.message.data());
    throw std::runtime_error("a process ended before its work");
}

/// Ends those that are left; the rest are 0.
void end_all(std::vector<pid_t>& children) {
    for (pid_t& child : children) {
        if (child == 0) continue;
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        child = 0;
    }
}

}  // namespace

void Process::meet() const {
    const int error = pthread_barrier_wait(static_cast<pthread_barrier_t*>(barrier_));
    if (error != 0 && error != PTHREAD_BARRIER_SERIAL_THREAD) throw_errno(error, "pthread_barrier_wait");
}

void Process::in_turns(const std::function<void()>& turn) const {
    for (int i = 0; i < count_; ++i) {
        if (i == index_) turn();
        meet();
    }
}

std::int64_t now_ns() {
    timespec time{};
    if (::clock_gettime(CLOCK_MONOTONIC, &time) != 0) throw_errno(errno, "clock_gettime");
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::vector<Part> run_in_processes(int count, const std::function<Part(const Process&)>& work) {
    const SharedMemory shared(count);
    std::vector<pid_t> children(static_cast<std::size_t>(count));
    const pid_t parent = ::getpid();
    for (int i = 0; i < count; ++i) {
        const auto index = static_cast<std::size_t>(i);
        children[index] = ::fork();
        if (children[index] < 0) {
            const int error = errno;
            children[index] = 0;
            end_all(children);
            throw_errno(error, "fork");
        }
        if (children[index] == 0) {
            // Whoever ends this program, by a timeout for example, ends all of it.
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() != parent) std::_Exit(1);
            be_one(Process(i, count, &shared->barrier), shared->slots.at(index), work);
        }
    }
    for (int ended = 0; ended < count; ++ended) {
        int status = 0;
        const pid_t child = ::waitpid(-1, &status, 0);
        if (child < 0) throw_errno(errno, "waitpid");
        for (std::size_t i = 0; i < children.size(); ++i) {
            if (children[i] != child) continue;
            children[i] = 0;
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                end_all(children);
                throw_for(shared->slots.at(i));
            }
        }
    }
    std::vector<Part> parts(children.size());
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = shared->slots.at(i).part;
    return parts;
}

double seconds_of_a_new_process(const std::vector<std::string>& arguments, std::string& output) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno(errno, "pipe2");
    std::vector<std::string> words = arguments;
    words.insert(words.begin(), "/proc/self/exe");
    std::vector<char*> argv(words.size() + 1);
    std::transform(words.begin(), words.end(), argv.begin(), [](std::string& word) { return word.data(); });
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    pid_t child = 0;
    const std::int64_t start = now_ns();
    const int error = posix_spawn(&child, words.front().c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (error != 0) throw_errno(error, "posix_spawn");
    std::array<char, 4096> buffer{};
    output.clear();
    for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
        output.append(buffer.data(), static_cast<std::size_t>(got));
    int status = 0;
    ::waitpid(child, &status, 0);
    const double seconds = static_cast<double>(now_ns() - start) * 1e-9;
    ::close(ends[0]);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw std::runtime_error("a new process failed: " + output);
    return seconds;
}

}  // namespace mosiqs
