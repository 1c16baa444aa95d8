#include "pool/holder.hpp"

#include <algorithm>
#include <utility>

#include <pmemcpy/error.hpp>

#include "os/lock.hpp"
#include "os/process.hpp"

namespace pmemcpy::pool {

using persist::Medium;

namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint64_t longest_short_ns = 60 * second_ns;
constexpr std::uint64_t shortest_wait_ns = 20'000;
constexpr std::uint64_t longest_wait_ns = 5'000'000;

// Of a holder in another PID namespace, or that the kernel does not show, nothing is known.
struct Held {
    std::uint64_t process = 0;
    std::uint64_t ns = 0;
    bool is_stopped = false;
};

Held held_by(const Holder& note) {
    const std::uint64_t now = os::coarse_ns();
    const std::uint64_t here = os::pid_namespace();
    const std::uint64_t process = Medium::load(&note.pid);
    const std::uint64_t ns = now - std::min(now, Medium::load(&note.since_ns));
    if (process == 0 || here == 0 || Medium::load(&note.pid_namespace) != here) return {0, ns, false};
    return {process, ns, os::is_stopped(process)};
}

[[noreturn]] void throw_held(const std::string& path, const std::string& what, const Held& held) {
    const std::string holder = held.process != 0 ? os::described(held.process) : "another process";
    throw Error(Code::busy, path + ": " + holder + (held.is_stopped ? " is stopped in " : " has been in ") +
                                what + " for " + std::to_string(held.ns / second_ns) +
                                " s, and this waits for it; continue it (kill -CONT) or end it (kill -KILL), "
                                "then try again");
}

}  // namespace

void note_holder(const Medium& medium, Holder& note, const Holder& self) {
    medium.store(&note.pid, self.pid);
    medium.store(&note.pid_namespace, self.pid_namespace);
    medium.store(&note.since_ns, os::coarse_ns());
}

Patience::Patience(std::string path, std::string what, const os::File& file, std::uint64_t byte,
                   const Holder* note, Holding holding)
    : path_(std::move(path)),
      what_(std::move(what)),
      file_(file),
      byte_(byte),
      note_(note),
      holding_(holding),
      began_(os::monotonic_ns()),
      looked_(began_),
      nap_ns_(shortest_wait_ns) {}

void Patience::look() {
    const std::uint64_t now = os::monotonic_ns();
    if (now - looked_ < second_ns) return;
    looked_ = now;
    Held found = note_ != nullptr ? held_by(*note_) : Held{0, now - began_, false};
    // One may be stopped before it has said that it holds the lock.
    if (!found.is_stopped) {
        if (const std::uint64_t process = os::stopped_holder(file_, byte_))
            found = {process, now - began_, true};
    }
    const bool is_unknown = note_ != nullptr && Medium::load(&note_->pid) == 0;
    const bool is_short = holding_ == Holding::always_short || is_unknown;
    const bool is_too_long = is_short && now - began_ >= longest_short_ns;
    if (found.is_stopped || is_too_long) throw_held(path_, what_, found);
}

bool Patience::says_it_is_stopped() const { return note_ != nullptr && held_by(*note_).is_stopped; }

void Patience::nap() {
    os::sleep_ns(nap_ns_);
    nap_ns_ = std::min(nap_ns_ * 2, longest_wait_ns);
    look();
}

}  // namespace pmemcpy::pool
