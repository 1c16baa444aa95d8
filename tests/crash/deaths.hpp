#pragma once

#include <string>
#include <vector>

#include "script.hpp"

namespace pmemcpy::crash {

/// A process dies in a verb. Somebody who has the pool open takes back what it has left and goes on; or nobody has, and
/// the next to open it recovers it.
struct Death {
    std::string name;
    std::vector<Operation> before;
    Operation verb;
    std::vector<Operation> then{};  ///< what others do with what they see of it
    bool is_alone = false;
};
inline void PrintTo(const Death& death, std::ostream* out) { *out << death.name; }

std::vector<Death> deaths();

/// The death after so many of the verb's events, with no images of what was before; `seen` is told how many the verb had, and
/// that they are the recording's from this one on.
Script script_of(const Death& death, std::size_t events, Recorder::Part* seen = nullptr);
/// The verb when its process does not die in it: its events, and what there is then.
struct Undisturbed {
    std::vector<Event> events;
    Content content;
};
Undisturbed undisturbed(const Death& death, Model model);
/// Whether a death after so many of a verb's events leaves a word that others see and that nobody has flushed.
bool leaves_unflushed(const std::vector<Event>& events, std::size_t count);

}  // namespace pmemcpy::crash
