#pragma once

#include <cstddef>
#include <vector>

#include "cli/plot/range.hpp"

namespace pmemcpy::cli {

/// A line of numbers, cut into as many stretches as a picture has columns of dots. Of each the first, the last, the least
/// and the greatest are kept: a line through those looks as if it were drawn through every number.
/// Source: Jugel et al., M4: A Visualization-Oriented Time Series Data Aggregation (VLDB 2014).
class Series {
public:
    struct Point {
        std::size_t at = 0;
        double value = 0;
    };

    /// With `positive`, numbers that are not above 0 are left out, as those are that are not finite.
    Series(std::size_t numbers, std::size_t most_stretches, bool positive);
    /// In any order.
    void add(std::size_t at, double number);

    std::size_t numbers() const noexcept { return numbers_; }
    Range range() const;
    /// The points to draw a line through, from the left to the right. Where a stretch has no number the line ends, and
    /// another one begins behind it.
    std::vector<std::vector<Point>> lines() const;

private:
    struct Stretch {
        bool is_empty = true;
        Point first, last, least, greatest;
    };
    std::size_t numbers_;
    bool positive_;
    std::vector<Stretch> stretches_;
};

}  // namespace pmemcpy::cli
