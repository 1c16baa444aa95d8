#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/call/interrupt.hpp"
#include "cli/watch/follow.hpp"
#include "cli/watch/followed.hpp"

namespace pmemcpy::cli {

/// How news of a pool reach whoever watches it.
class Announcer {
public:
    virtual ~Announcer() = default;
    virtual void tell(const News& news) = 0;
    /// A step was committed since the last look; of several the newest.
    virtual void tell_step(std::uint64_t step) = 0;
    /// The pool is gone, or another one is in its place.
    virtual void tell(Followed::Fate fate) = 0;
    /// After each look, when all that is new has been told.
    virtual void finish_look(const Follower& follower) = 0;
    /// Sleeps, or until somebody at the keyboard wants no more; whether that is so.
    virtual bool sleep(const Interrupts& interrupts, std::chrono::nanoseconds at_most);
};

/// A line for each, appended to stdout.
std::unique_ptr<Announcer> announce_in_lines(const std::string& pool);
/// A JSON object on a line for each.
std::unique_ptr<Announcer> announce_in_json(const std::string& pool);
/// A table of all variables on the terminal, the newest first, drawn anew after each look.
std::unique_ptr<Announcer> announce_on_screen(const std::string& pool);

}  // namespace pmemcpy::cli
