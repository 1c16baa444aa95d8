#pragma once

#include <string>
#include <vector>

#include "cli/plot/range.hpp"

namespace pmemcpy::cli {

/// Which number lies where along an axis or a colour bar.
class Scale {
public:
    struct Tick {
        double position;
        std::string label;
        double number = 0;
    };

    /// Linear, or with `is_log` by powers of ten, which wants numbers above 0. A range of one number is made wider, so that
    /// the number lies in the middle. Errors: invalid_argument
    Scale(Range range, bool is_log);

    const Range& range() const noexcept { return range_; }
    bool is_log() const noexcept { return is_log_; }
    /// 0 at the low end, 1 at the high one, and there also for what lies beyond. NaN for what has no place: NaN, and where
    /// the scale is logarithmic what is not above 0.
    double position(double number) const;
    /// The same, but beyond the ends for what lies beyond.
    double unbounded(double number) const;
    /// The same scale, reaching further by these parts of its length.
    Scale wider(double below, double above) const;
    /// Round numbers in the range, at least two where there are so many, and hardly more than `most`.
    std::vector<Tick> ticks(int most) const;

private:
    std::vector<Tick> powers(int most) const;
    double coordinate(double number) const;
    Range range_;
    bool is_log_;
};

}  // namespace pmemcpy::cli
