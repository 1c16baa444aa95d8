#pragma once

#include <cstdint>
#include <vector>

#include "cli/element/column.hpp"

namespace pmemcpy::cli {

/// How many numbers lie in each of some intervals of the same width, each from its lower edge to just below its upper one; the
/// last takes its upper edge in. Integers get no more intervals than there are integers, from `lowest` to just below
/// `highest` + 1. NaN and infinities are in none.
class Histogram {
public:
    /// `lowest` and `highest` are of the same kind, and finite. What another process has stored since these were found, and
    /// lies outside, counts to the outermost intervals.
    Histogram(const Number& lowest, const Number& highest, std::uint64_t bins);

    void add(const Chunk& chunk);

    const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
    /// One more than counts.
    const std::vector<long double>& edges() const noexcept { return edges_; }
    /// The last edge is the highest number, and in its interval; of integers it is one more, and is not.
    bool is_closed() const noexcept { return is_closed_; }

private:
    template <class T>
    std::size_t bin_of(T number) const;

    Number lowest_;
    Number highest_;
    bool is_closed_ = true;
    long double bins_per_unit_ = 0;
    std::vector<long double> edges_;
    std::vector<std::uint64_t> counts_;
};

}  // namespace pmemcpy::cli
