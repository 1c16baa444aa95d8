#include "stepping.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pmemcpy::crash {

SteppedChild::SteppedChild(const std::function<void()>& prepare, const std::function<void()>& verb) {
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork failed");
    if (pid_ == 0) {
        try {
            prepare();
            if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(3);
            ::raise(SIGSTOP);
            verb();
            ::raise(SIGSTOP);
        } catch (const std::exception& error) {
            static_cast<void>(!::write(STDERR_FILENO, error.what(), std::string(error.what()).size()));
            ::_exit(4);
        }
        ::_exit(0);
    }
    wait_for_stop();
    if (done_) throw std::runtime_error("the child could not be traced or failed while it was prepared");
}

void SteppedChild::wait_for_stop() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0) {
        if (errno != EINTR) throw std::runtime_error("waitpid failed");
    }
    if (!WIFSTOPPED(status)) {
        pid_ = -1;
        done_ = true;
    }
}

bool SteppedChild::step() {
    if (done_) return false;
    if (::ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) != 0)
        throw std::runtime_error("cannot step the child");
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0) {
        if (errno != EINTR) throw std::runtime_error("waitpid failed");
    }
    if (!WIFSTOPPED(status)) {
        pid_ = -1;
        throw std::runtime_error("the child ended inside the verb");
    }
    done_ = WSTOPSIG(status) == SIGSTOP;
    return !done_;
}

bool SteppedChild::is_at_system_call() const {
    constexpr long system_call = 0x050f;
    struct user_regs_struct registers {};
    if (::ptrace(PTRACE_GETREGS, pid_, nullptr, &registers) != 0) return false;
    const long word = ::ptrace(PTRACE_PEEKTEXT, pid_, registers.rip, nullptr);
    return (word & 0xffff) == system_call;
}

void SteppedChild::kill() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    done_ = true;
}

}  // namespace pmemcpy::crash
