#pragma once

#include <cstdint>
#include <functional>

#include <sys/types.h>

namespace pmemcpy::crash {

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
    /// Whether the next instruction is a system call.
    bool is_at_system_call() const;
    /// SIGKILL, and what the kernel does for the dead.
    void kill();

private:
    void wait_for_stop();

    pid_t pid_ = -1;
    bool done_ = false;
};

}  // namespace pmemcpy::crash
