#pragma once

#include <limits>

namespace pmemcpy::cli {

/// From the least to the greatest of the numbers that were added.
struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void add(double number) {
        low = number < low ? number : low;
        high = number > high ? number : high;
    }
    bool is_empty() const noexcept { return !(low <= high); }
};

}  // namespace pmemcpy::cli
