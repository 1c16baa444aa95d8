#pragma once

#include <cstdint>
#include <pmemcpy/box.hpp>
#include <string>
#include <vector>

#include "library.hpp"

namespace compare::arrays {

/// One call of a rank: a selection of an array.
struct Piece {
    std::uint64_t step;
    std::size_t array;
    pmemcpy::Selection where;
};

/// Who writes and who reads what: the shape of one application's traffic, as one rank sees it. All ranks have equally many
/// pieces in each step, so that collective calls meet.
struct Pattern {
    Content content;
    std::vector<Piece> written;
    std::vector<Piece> read;
    bool syncs_each_step = false;
};

struct PatternSize {
    std::string name;
    std::uint64_t bytes = 1ULL << 30;  // of all arrays, steps and ranks together, about
    int arrays = 10;
    std::uint64_t steps = 1;
    std::uint64_t row_bytes = 4096;
    std::uint64_t seed = 1;
};

/// The patterns and what each is, for help.
extern const std::vector<std::pair<std::string, std::string>> pattern_names;

/// Throws std::invalid_argument for a name that there is none of, Unsupported for a number of ranks it does not fit.
Pattern make_pattern(const PatternSize& size, int rank, int ranks);

}  // namespace compare::arrays
