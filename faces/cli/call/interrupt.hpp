#pragma once

#include <signal.h>

#include <array>
#include <chrono>

namespace pmemcpy::cli {

/// What a verb throws when it was told to stop before it was through.
struct Interrupted {};

/// While one of these lives, SIGINT, SIGTERM and SIGHUP do not end the process: they end what sleeps, and the verb, which
/// looks for them, tidies up and ends with the status that a shell gives to who is ended by that signal. Those that were
/// ignored before, as by nohup, stay so. One at a time, in the main thread.
class Interrupts {
public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    bool came() const noexcept;
    /// Errors: Interrupted
    void check() const;
    /// 128 + the signal.
    int exit_status() const noexcept;
    /// Sleeps, or until `input` (-1: none) can be read; whether it can. A signal ends it early.
    bool sleep(std::chrono::nanoseconds at_most, int input = -1) const;

private:
    static constexpr std::array signals_ = {SIGINT, SIGTERM, SIGHUP};
    std::array<struct sigaction, signals_.size()> before_{};
};

}  // namespace pmemcpy::cli
