#include "processes.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>

#include "library.hpp"

namespace compare::objects {
namespace {

enum class State { unfinished, done, unsupported, failed };

struct Slot {
    State state = State::unfinished;
    Part part;
    std::array<char, 2000> message{};
};

[[noreturn]] void throw_errno(int error, const char* what) {
    throw std::system_error(error, std::generic_category(), what);
}

/// Memory that the forked processes share: a barrier, and a slot for what each has to say.
class Shared {
public:
    explicit Shared(int count)
        : bytes_(sizeof(pthread_barrier_t) + alignof(Slot) + sizeof(Slot) * static_cast<std::size_t>(count)) {
        memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory_ == MAP_FAILED) throw_errno(errno, "mmap");
        pthread_barrierattr_t shared{};
        int error = pthread_barrierattr_init(&shared);
        if (error == 0) error = pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
        if (error == 0) error = pthread_barrier_init(barrier(), &shared, static_cast<unsigned>(count));
        if (error != 0) throw_errno(error, "pthread_barrier_init");
        for (int i = 0; i < count; ++i) new (slots() + i) Slot();
    }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    ~Shared() { ::munmap(memory_, bytes_); }

    pthread_barrier_t* barrier() const { return static_cast<pthread_barrier_t*>(memory_); }
    Slot& slot(std::size_t index) const { return slots()[index]; }

private:
    Slot* slots() const {
        constexpr std::size_t after =
            (sizeof(pthread_barrier_t) + alignof(Slot) - 1) / alignof(Slot) * alignof(Slot);
        return reinterpret_cast<Slot*>(static_cast<std::byte*>(memory_) + after);
    }

    std::size_t bytes_;
    void* memory_ = nullptr;
};

std::uint64_t minor_faults() {
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) != 0) throw_errno(errno, "getrusage");
    return static_cast<std::uint64_t>(usage.ru_minflt);
}

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

/// Ends those that are left in `children`; the rest are 0.
void end_all(std::span<pid_t> children) {
    for (pid_t& child : children) {
        if (child == 0) continue;
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        child = 0;
    }
}

void throw_for(const Slot& slot, int status) {
    if (slot.state == State::unsupported) throw Unsupported(slot.message.data());
    if (slot.state == State::failed) throw std::runtime_error(slot.message.data());
    if (WIFSIGNALED(status)) {
        throw std::runtime_error(std::string("a process was ended by the signal ") +
                                 ::strsignal(WTERMSIG(status)));
    }
    throw std::runtime_error("a process ended before its work");
}

}  // namespace

std::int64_t now_ns() {
    timespec time{};
    if (::clock_gettime(CLOCK_MONOTONIC, &time) != 0) throw_errno(errno, "clock_gettime");
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

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

Part Process::timed(const std::function<void()>& work) const {
    Part part;
    meet();
    const std::uint64_t faults = minor_faults();
    part.start_ns = now_ns();
    work();
    part.end_ns = now_ns();
    part.faults = minor_faults() - faults;
    meet();
    return part;
}

std::vector<Part> run_in_processes(int count, const std::function<Part(const Process&)>& work) {
    const Shared shared(count);
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
            be_one(Process(i, count, shared.barrier()), shared.slot(index), work);
        }
    }
    std::vector<Part> parts(static_cast<std::size_t>(count));
    for (int ended = 0; ended < count; ++ended) {
        int status = 0;
        const pid_t child = ::waitpid(-1, &status, 0);
        if (child < 0) throw_errno(errno, "waitpid");
        for (std::size_t i = 0; i < children.size(); ++i) {
            if (children[i] != child) continue;
            children[i] = 0;
            if (shared.slot(i).state != State::done) {
                end_all(children);
                throw_for(shared.slot(i), status);
            }
            parts[i] = shared.slot(i).part;
        }
    }
    return parts;
}

}  // namespace compare::objects
