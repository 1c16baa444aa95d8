#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include <sys/types.h>

namespace pmemcpy::crash {

/// The function and library of a place, for people.
std::string name_of_place(std::uint64_t place);

/// A child of this process that runs one instruction at a time, and dies at any of them.
class SteppedChild {
public:
    /// Forks. The child does `prepare` freely, then stops; `verb` is stepped. Neither may throw.
    SteppedChild(const std::function<void()>& prepare, const std::function<void()>& verb);
    ~SteppedChild() { kill(); }
    SteppedChild(const SteppedChild&) = delete;
    SteppedChild& operator=(const SteppedChild&) = delete;

    /// Runs one instruction; a system call is one. False when the verb is done.
    bool step();
    /// Runs freely until the verb is done.
    void finish();
    /// Where the next instruction is, the same in every child of one process.
    std::uint64_t place() const;
    /// Whether the next instruction is a system call.
    bool is_at_system_call() const;
    bool is_at_atomic_or_fence() const;
    /// Runs freely until it is about to do the instruction at `place` for the `occurrence`-th time, counted from 1. False
    /// when the verb was done before.
    bool run_to(std::uint64_t place, std::uint64_t occurrence);
    /// SIGKILL, and what the kernel does for the dead.
    void kill();

private:
    void wait_for_stop();
    bool resume(bool one_instruction);
    long text_here() const;

    pid_t pid_ = -1;
    bool done_ = false;
    mutable std::uint64_t place_ = 0;  // 0: not asked for since the last step
    mutable std::unordered_map<std::uint64_t, long> text_;
};

}  // namespace pmemcpy::crash
