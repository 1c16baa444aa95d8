#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pmemcpy::cli {

/// A process that has a pool open.
struct Process {
    std::uint64_t pid = 0;
    std::string user;
    bool is_writing = false;           ///< has it open for writing, whatever it does just now
    bool is_stopped = false;           ///< by a signal or a debugger
    std::uint64_t resident_bytes = 0;  ///< its memory, with what it has touched of the pool
    std::string command;
};

/// Who has the pool at `path` open, but for this process; writers first. As /proc tells: of this machine and PID
/// namespace, and of other users' processes only to root.
std::vector<Process> processes_at(const std::string& path);

}  // namespace pmemcpy::cli
