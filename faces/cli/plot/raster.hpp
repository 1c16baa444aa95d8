#pragma once

#include <cstddef>
#include <vector>

#include "cli/plot/range.hpp"

namespace pmemcpy::cli {

/// A plane of numbers as means over cells, of which there are no more than a picture has room for.
class Raster {
public:
    /// At most `most_rows` x `most_columns` cells for rows x columns numbers.
    Raster(std::size_t rows, std::size_t columns, std::size_t most_rows, std::size_t most_columns);
    /// What is not finite counts for nothing.
    void add(std::size_t row, std::size_t column, double number);

    std::size_t rows() const noexcept { return cells_down_; }
    std::size_t columns() const noexcept { return cells_across_; }
    /// NaN for a cell without any finite number.
    double mean(std::size_t row, std::size_t column) const;
    /// Of the means; with `positive`, of those above 0.
    Range range(bool positive) const;
    /// Of all means, unless what is outermost, 2 % at each end, takes more than three quarters of it: then without that.
    Range robust_range() const;

private:
    struct Cell {
        double mean = 0;
        std::size_t count = 0;
    };
    std::size_t rows_;
    std::size_t columns_;
    std::size_t cells_down_;
    std::size_t cells_across_;
    std::vector<Cell> cells_;
};

}  // namespace pmemcpy::cli
