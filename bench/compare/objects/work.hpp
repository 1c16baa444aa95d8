#pragma once

#include <cstdint>
#include <string>

#include "library.hpp"

namespace compare::objects {

/// What the program is asked to do. `count` objects are shared out among the processes.
struct Task {
    std::string work;  // store, overwrite, load, erase, open, list or remove
    std::string path;
    std::uint64_t size_bytes = 256;
    std::uint64_t count = 1000;
    std::uint64_t seed = 1;
    int processes = 1;
};

struct Result {
    double seconds = 0;  // from the common start to the last end
    std::uint64_t operations = 0;
    std::uint64_t faults = 0;
    bool verified = false;
};

/// Errors: Unsupported; std::runtime_error with the library's message.
Result carry_out(const Task& task, const Variant& variant);

}  // namespace compare::objects
