#include "os/forked.hpp"

#include <cerrno>
#include <csignal>
#include <utility>

#include <sys/mman.h>
#include <sys/wait.h>

#include "os/calls.hpp"
#include "os/failure.hpp"
#include "os/process.hpp"

namespace pmemcpy::os {

namespace {

constexpr std::uint64_t last_wait_ns = 100'000'000;
constexpr std::uint64_t nap_ns = 1'000'000;

}  // namespace

SharedPages::SharedPages(std::size_t bytes) : bytes_(bytes) {
    void* const mapped =
        calls().mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw_failure("get memory to share with", "a child", errno);
    base_ = static_cast<std::byte*>(mapped);
}

SharedPages::~SharedPages() { calls().munmap(base_, bytes_); }

ForkedChild::ForkedChild(const std::function<void()>& work) {
    const pid_t parent = calls().getpid();
    pid_ = calls().fork();
    if (pid_ < 0) throw_failure("begin", "a child process", errno);
    if (pid_ > 0) return;
    calls().die_with_parent();
    // Was it gone before that? Nobody would end this one then. A pid namespace in between shows 0, which is no answer.
    const pid_t now = calls().getppid();
    if (now == parent || now == 0) {
        try {
            work();
        } catch (...) {  // NOLINT(bugprone-empty-catch): what it was to say is missing then, which says it
        }
    }
    calls().exit_now();
}

ForkedChild::~ForkedChild() {
    if (pid_ <= 0 || has_ended()) return;
    calls().kill(pid_, SIGKILL);
    for (std::uint64_t waited = 0; !has_ended() && waited < last_wait_ns; waited += nap_ns) sleep_ns(nap_ns);
}

ForkedChild::ForkedChild(ForkedChild&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}

bool ForkedChild::has_ended() {
    if (pid_ <= 0) return true;
    int status = 0;
    const pid_t result = calls().waitpid(pid_, &status, WNOHANG);
    // ECHILD: the program waits for all its children, or ignores them; then this one's end is not told here.
    if (result == 0 || (result < 0 && errno == EINTR)) return false;
    pid_ = -1;
    return true;
}

}  // namespace pmemcpy::os
