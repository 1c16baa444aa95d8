#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "os/file.hpp"

namespace pmemcpy::os {

/// Another program, in a process of its own: started, never a copy of this one, so it does not matter what other threads are at.
/// It has no input, and all that it prints goes to a file. It leads a process group, with which it is killed.
struct Program {
    std::string path;
    std::vector<std::string> arguments{};  // without its own name
    std::vector<const File*> files{};      // which it has too, by the same numbers
    File& printed;
};

/// How a program ended.
struct Ending {
    enum class How {
        exited,   ///< with `number` as status
        killed,   ///< by the signal `number`
        stopped,  ///< by us: its time was over, or it is not wanted any more
        unknown,  ///< somebody else in this process has asked the kernel for it, or asks for none of its children
    } how = How::unknown;
    int number = 0;
};

/// Runs it to its end, but no longer than `most_ns` nanoseconds, and only as long as `is_wanted`, which is asked some times a second. Nothing that
/// it has started goes on afterwards, unless it has left the process group.
/// Errors: those of starting it: not_found, permission_denied, no_space.
Ending run(const Program& program, std::uint64_t most_ns, const std::function<bool()>& is_wanted);

/// Where a program is: itself, if there is a slash in its name, else in the first directory of PATH that has one. Nothing, if none is there that may be run.
std::optional<std::string> find_program(const std::string& name);

/// What a program printed last, at most so many bytes, without the end of the line.
std::string last_printed(const File& printed, std::uint64_t most_bytes);

}  // namespace pmemcpy::os
