#pragma once

#include <cstdint>
#include <string>

namespace mosiqs {

/// One question of the paper's Table I from beginning to end, as a process that has just started answers it.
struct AnswerTask {
    std::string variant;
    std::string path;
    std::string what;  // contains, members or attributes
    std::uint64_t files = 41;
    std::uint64_t object_bytes = 1024;
};

struct Answer {
    double open_seconds = 0;
    double ready_seconds = 0;  // until questions can be asked: an index in memory is made
    double ask_seconds = 0;
    double read_seconds = 0;  // the data of what was found; of Q3, which finds a number, those of the group
    std::uint64_t objects = 0;
    bool verified = false;
};

/// Errors: Unsupported; std::runtime_error with the library's message.
Answer answer(const AnswerTask& task);

/// Stores the granules' objects, their attributes and those of their groups. Returns seconds.
double fill_granules(const AnswerTask& task);

}  // namespace mosiqs
