#pragma once

#include <optional>
#include <string>

#include "pattern.hpp"

namespace compare::arrays {

enum class Work { prepare, write, read };

/// What the command line asks for.
struct Arguments {
    Work work = Work::write;
    std::string variant;
    std::string path;
    PatternSize pattern;
    Access access = Access::create;  // of write
    bool stays = false;              // open once, before what is timed, and do all once before
    int repeat = 1;
    bool verifies = false;
    bool syncs = false;
    double memory_gbs = 0;  // > 0: emulate the paper's persistent memory on memory this fast
    bool tells_variants = false;
};

/// The arguments, or an exit status when there is nothing to do. Help and errors are printed if `loud`.
std::optional<Arguments> parse_arguments(int argc, char** argv, bool loud, int& exit_status);

}  // namespace compare::arrays
