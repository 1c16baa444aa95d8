#include "stepping.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include <dlfcn.h>
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
    if (!done_) ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_EXITKILL);
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

// False when the verb is done.
bool SteppedChild::resume(bool one_instruction) {
    if (done_) return false;
    place_ = 0;
    if (::ptrace(one_instruction ? PTRACE_SINGLESTEP : PTRACE_CONT, pid_, nullptr, nullptr) != 0) {
        throw std::runtime_error("cannot resume the child");
    }
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

bool SteppedChild::step() { return resume(true); }

void SteppedChild::finish() {
    while (resume(false)) {
    }
}

std::uint64_t SteppedChild::place() const {
    if (place_ != 0) return place_;
    struct user_regs_struct registers {};
    if (::ptrace(PTRACE_GETREGS, pid_, nullptr, &registers) == 0) place_ = registers.rip;
    return place_;
}

// Asked for at each step, and the same each time.
long SteppedChild::text_here() const {
    const auto [text, is_new] = text_.try_emplace(place(), 0);
    if (is_new) text->second = ::ptrace(PTRACE_PEEKTEXT, pid_, place(), nullptr);
    return text->second;
}

bool SteppedChild::is_at_system_call() const {
    constexpr long system_call = 0x050f;
    return (text_here() & 0xffff) == system_call;
}

bool SteppedChild::is_at_atomic_or_fence() const {
    const long text = text_here();
    const auto byte = [text](int i) { return static_cast<unsigned>(text >> 8 * i) & 0xff; };
    constexpr unsigned lock = 0xf0, exchange = 0x87, two_byte = 0x0f, fences = 0xae;
    int at = 0;
    while (at < 4 && (byte(at) == 0x66 || byte(at) == 0xf2 || byte(at) == 0xf3 || byte(at) >> 4 == 0x4)) ++at;
    if (byte(at) == lock || byte(at) == exchange) return true;
    return byte(at) == two_byte && byte(at + 1) == fences && byte(at + 2) >= 0xe8;  // lfence, mfence, sfence
}

bool SteppedChild::run_to(std::uint64_t place, std::uint64_t occurrence) {
    constexpr long breakpoint = 0xcc;
    const long text = ::ptrace(PTRACE_PEEKTEXT, pid_, place, nullptr);
    const long with_breakpoint = (text & ~0xffL) | breakpoint;
    for (std::uint64_t n = 1;; ++n) {
        if (::ptrace(PTRACE_POKETEXT, pid_, place, with_breakpoint) != 0)
            throw std::runtime_error("cannot set a breakpoint");
        if (!resume(false)) return false;
        struct user_regs_struct registers {};
        ::ptrace(PTRACE_GETREGS, pid_, nullptr, &registers);
        if (registers.rip != place + 1) throw std::runtime_error("the child stopped where it should not");
        registers.rip = place;
        ::ptrace(PTRACE_SETREGS, pid_, nullptr, &registers);
        place_ = 0;
        ::ptrace(PTRACE_POKETEXT, pid_, place, text);
        if (n == occurrence) return true;
        if (!step()) return false;
    }
}

std::string name_of_place(std::uint64_t place) {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<void*>(place), &info) == 0 || info.dli_fname == nullptr) return "somewhere";
    char offset[32];
    std::snprintf(offset, sizeof offset, "+0x%llx",
                  static_cast<unsigned long long>(place - reinterpret_cast<std::uint64_t>(info.dli_fbase)));
    const std::string file = info.dli_fname;
    return (info.dli_sname == nullptr ? std::string("?") : std::string(info.dli_sname)) + " in " +
           file.substr(file.rfind('/') + 1) + offset;
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
