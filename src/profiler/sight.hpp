#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "os/space.hpp"

namespace pmemcpy::profiler {

/// What a short look at a directory shows.
struct Sight {
    bool is_there = false;     ///< a directory that this user may open
    bool is_directory = true;  ///< false: something else is there
    std::string real_path{};   ///< without symbolic links
    os::Room room{};
    bool may_make = false;  ///< this user may make files and directories in it
    std::string failure{};  ///< why it is not there
};

/// Looks at all of them at once, each in a child of its own: nobody waits longer than `limit_ns` for a mount whose server is gone.
std::vector<Sight> look_at(const std::vector<std::string>& directories, std::uint64_t limit_ns);

}  // namespace pmemcpy::profiler
