#pragma once

#include <optional>
#include <pmemcpy/durability.hpp>
#include <string>
#include <vector>

#include "decomposition.hpp"

namespace domain3d {

/// What the command line asks for.
struct Arguments {
    bool is_write = false;
    std::string pool;
    double gib = 1.0;
    int variables = 0;  // 0: ten when writing, all there are when reading
    std::optional<Grid> grid;
    std::string input;
    std::vector<std::string> names;
    bool reuse = false;
    bool prepare = false;
    bool verify = false;
    bool json = false;
    bool memcpy = false;
    bool checksums = true;
    pmemcpy::MapSync map_sync = pmemcpy::MapSync::automatic;
    int repeat = 1;
    std::string progress = "auto";
};

/// The arguments, or an exit status when there is no job to do. Help and errors are printed if `loud`.
std::optional<Arguments> parse_arguments(int argc, char** argv, bool loud, int& exit_status);

}  // namespace domain3d
