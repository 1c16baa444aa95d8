#include "os/guard.hpp"

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <mutex>

#include <ucontext.h>

#include "os/calls.hpp"
#include "os/failure.hpp"

namespace pmemcpy::os {

namespace {

/// One guarded call of this thread; they may be nested.
struct Frame {
    std::uintptr_t begin;
    std::uintptr_t end;
    Frame* outer;
    sigjmp_buf back;
};

// A signal handler may read this: the model makes it an offset from the thread pointer, without any
// allocation.
thread_local Frame* innermost __attribute__((tls_model("initial-exec"))) = nullptr;

constexpr std::size_t smallest_page_bytes = 4096;

struct sigaction previous_action {};

void hand_on(int signal, siginfo_t* info, void* context) {
    if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
        previous_action.sa_sigaction(signal, info, context);
    } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
        previous_action.sa_handler(signal);
    } else {
        // The instruction runs again after this and meets the default action: the process dies of its own
        // fault. To ignore a fault would repeat it for ever, so the kernel kills in that case too.
        struct sigaction fatal {};
        fatal.sa_handler = SIG_DFL;
        calls().sigaction(SIGBUS, &fatal, nullptr);
    }
}

void on_sigbus(int signal, siginfo_t* info, void* context) {
    // A poisoned page is reported as a whole; any other fault by the byte that was touched.
    const std::uintptr_t extent = info->si_code == BUS_MCEERR_AR ? std::uintptr_t{1} << info->si_addr_lsb : 1;
    const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(info->si_addr) & ~(extent - 1);
    for (Frame* frame = innermost; frame != nullptr; frame = frame->outer) {
        if (first + extent <= frame->begin || first >= frame->end) continue;
        innermost = frame->outer;
        // A long jump alone would leave blocked what was blocked for this handler, and the next fault would
        // kill.
        calls().pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
        siglongjmp(frame->back, 1);
    }
    hand_on(signal, info, context);
}

void install() {
    struct sigaction action {};
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    if (calls().sigaction(SIGBUS, &action, &previous_action) != 0) {
        throw_failure("catch SIGBUS in", "this process", errno);
    }
}

}  // namespace

bool run_guarded(const void* begin, std::size_t length, void (*action)(void*), void* context) {
    static std::atomic<bool> is_installed{false};
    if (!is_installed.load(std::memory_order_acquire)) {
        static std::once_flag once;  // costs as much as the rest of this function, each time
        std::call_once(once, install);
        is_installed.store(true, std::memory_order_release);
    }
    const auto start = reinterpret_cast<std::uintptr_t>(begin);
    Frame frame;
    frame.begin = start;
    frame.end = start + length;
    frame.outer = innermost;
    // Saving the signal mask here would cost a system call each time; the handler restores it instead.
    if (sigsetjmp(frame.back, 0) != 0) return false;  // from the handler, which has taken the frame off
    innermost = &frame;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    try {
        action(context);
    } catch (...) {  // of a guard inside this one
        innermost = frame.outer;
        throw;
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    innermost = frame.outer;
    return true;
}

namespace {

// Others may be storing there: what is read is of no interest.
#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread"), noinline))
#endif
void touch(const volatile std::byte* bytes, std::size_t length) {
    for (std::size_t at = 0; at < length; at += smallest_page_bytes) static_cast<void>(bytes[at]);
    if (length > 0) static_cast<void>(bytes[length - 1]);
}

}  // namespace

bool can_read(const void* begin, std::size_t length) {
    return guarded(begin, length, [=] { touch(static_cast<const volatile std::byte*>(begin), length); });
}

bool can_write(void* begin, std::size_t length) {
    return guarded(begin, length, [=] {
        auto* bytes = static_cast<unsigned char*>(begin);
        for (std::size_t at = 0; at < length; at += smallest_page_bytes)
            __atomic_fetch_or(bytes + at, 0, __ATOMIC_RELAXED);
        if (length > 0) __atomic_fetch_or(bytes + length - 1, 0, __ATOMIC_RELAXED);
    });
}

}  // namespace pmemcpy::os
