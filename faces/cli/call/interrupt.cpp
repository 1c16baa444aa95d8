#include "cli/call/interrupt.hpp"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstddef>

namespace pmemcpy::cli {

namespace {

// A handler has nothing but globals.
volatile std::sig_atomic_t signal_that_came = 0;

void remember(int signal) { signal_that_came = signal; }

// A signal that comes right before a sleep does not end it; so nobody sleeps longer than this at a time.
constexpr auto longest_nap = std::chrono::milliseconds(250);

}  // namespace

Interrupts::Interrupts() {
    signal_that_came = 0;
    struct sigaction ours {};
    ours.sa_handler = remember;  // without SA_RESTART, so that system calls end
    for (std::size_t i = 0; i < signals_.size(); ++i) {
        sigaction(signals_[i], nullptr, &before_[i]);
        if (before_[i].sa_handler != SIG_IGN) sigaction(signals_[i], &ours, nullptr);
    }
}

Interrupts::~Interrupts() {
    for (std::size_t i = 0; i < signals_.size(); ++i) sigaction(signals_[i], &before_[i], nullptr);
}

bool Interrupts::came() const noexcept { return signal_that_came != 0; }

void Interrupts::check() const {
    if (came()) throw Interrupted{};
}

int Interrupts::exit_status() const noexcept { return 128 + static_cast<int>(signal_that_came); }

bool Interrupts::sleep(std::chrono::nanoseconds at_most, int input) const {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + at_most;
    pollfd readable{input, POLLIN, 0};  // poll leaves out those below 0
    while (!came()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        const auto nap = std::clamp(left, std::chrono::milliseconds(0), longest_nap);
        if (poll(&readable, 1, static_cast<int>(nap.count())) > 0) return true;
        if (Clock::now() >= end) break;
    }
    return false;
}

}  // namespace pmemcpy::cli
