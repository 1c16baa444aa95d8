#include "clients.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <system_error>

namespace pmemcpy::hermes {

namespace {

struct Slot {
    bool is_done = false;
    Spans spans{};
    std::array<char, 500> message{};
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

[[noreturn]] void be_one(const Client& client, Slot& slot, const std::function<Spans(const Client&)>& work) {
    try {
        slot.spans = work(client);
        slot.is_done = true;
    } catch (const std::exception& error) {
        std::snprintf(slot.message.data(), slot.message.size(), "%s", error.what());
    }
    // Nothing at exit is the child's to do: what it opened, it has closed.
    std::_Exit(slot.is_done ? 0 : 1);
}

void end_all(std::vector<pid_t>& children) {
    for (pid_t& child : children) {
        if (child <= 0) continue;
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        child = 0;
    }
}

std::int64_t now_ns() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Span timed(const Client& client, const std::function<void()>& work) {
    client.meet();
    Span span;
    span.begin_ns = now_ns();
    work();
    span.end_ns = now_ns();
    return span;
}

double seconds_of(const std::vector<Spans>& all, std::size_t part) {
    Span whole = all.front().at(part);
    for (const Spans& spans : all) {
        whole.begin_ns = std::min(whole.begin_ns, spans.at(part).begin_ns);
        whole.end_ns = std::max(whole.end_ns, spans.at(part).end_ns);
    }
    return static_cast<double>(whole.end_ns - whole.begin_ns) * 1e-9;
}

std::vector<Spans> run_clients(int count, const std::function<Spans(const Client&)>& work) {
    SharedMemory shared(count);
    const auto meet = [&shared] {
        const int error = pthread_barrier_wait(&shared->barrier);
        if (error != 0 && error != PTHREAD_BARRIER_SERIAL_THREAD) throw_errno(error, "pthread_barrier_wait");
    };
    std::vector<pid_t> children(static_cast<std::size_t>(count));
    const pid_t parent = ::getpid();
    for (int i = 0; i < count; ++i) {
        const auto index = static_cast<std::size_t>(i);
        children[index] = ::fork();
        if (children[index] < 0) {
            const int error = errno;
            end_all(children);
            throw_errno(error, "fork");
        }
        if (children[index] == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() != parent) std::_Exit(1);
            be_one({i, count, meet}, shared->slots.at(index), work);
        }
    }
    for (int ended = 0; ended < count; ++ended) {
        int status = 0;
        const pid_t child = ::waitpid(-1, &status, 0);
        if (child < 0) throw_errno(errno, "waitpid");
        const auto found = std::find(children.begin(), children.end(), child);
        if (found == children.end()) continue;
        *found = 0;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        // The others may wait for it for ever.
        end_all(children);
        const Slot& slot = shared->slots.at(static_cast<std::size_t>(found - children.begin()));
        throw std::runtime_error(slot.message[0] ? slot.message.data()
                                                 : "a client ended before its work was done");
    }
    std::vector<Spans> all(children.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = shared->slots.at(i).spans;
    return all;
}

int print_result(const char* program, const std::function<nlohmann::ordered_json()>& measure) {
    try {
        std::printf("%s\n", measure().dump().c_str());
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", program, error.what());
        return 1;
    }
}

}  // namespace pmemcpy::hermes
