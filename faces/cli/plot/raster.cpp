#include "cli/plot/raster.hpp"

#include <algorithm>
#include <cmath>

namespace pmemcpy::cli {

namespace {

/// Which of `cells` cells the number `at` of `numbers` falls into. A product of the two would overflow for large arrays.
std::size_t cell_of(std::size_t at, std::size_t numbers, std::size_t cells) {
    __extension__ typedef unsigned __int128 Wide;
    return static_cast<std::size_t>(Wide{at} * cells / numbers);
}

}  // namespace

Raster::Raster(std::size_t rows, std::size_t columns, std::size_t most_rows, std::size_t most_columns)
    : rows_(rows),
      columns_(columns),
      cells_down_(std::min(rows, most_rows)),
      cells_across_(std::min(columns, most_columns)),
      cells_(cells_down_ * cells_across_) {}

void Raster::add(std::size_t row, std::size_t column, double number) {
    if (!std::isfinite(number)) return;
    Cell& cell =
        cells_[cell_of(row, rows_, cells_down_) * cells_across_ + cell_of(column, columns_, cells_across_)];
    ++cell.count;
    // Not by their sum, which for numbers near the largest is infinite.
    const auto count = static_cast<double>(cell.count);
    cell.mean += number / count - cell.mean / count;
}

double Raster::mean(std::size_t row, std::size_t column) const {
    const Cell& cell = cells_[row * cells_across_ + column];
    return cell.count == 0 ? std::nan("") : cell.mean;
}

Range Raster::range(bool positive) const {
    Range range;
    for (const Cell& cell : cells_) {
        if (cell.count > 0 && (!positive || cell.mean > 0)) range.add(cell.mean);
    }
    return range;
}

Range Raster::robust_range() const {
    constexpr std::size_t outermost = 50;  // one of so many
    constexpr double times = 4;            // as long as without it
    const Range all = range(false);
    std::vector<double> means;
    for (const Cell& cell : cells_) {
        if (cell.count > 0) means.push_back(cell.mean);
    }
    const std::size_t left_out = means.size() / outermost;
    if (left_out == 0) return all;
    const auto at = [&](std::size_t place) {
        std::nth_element(means.begin(), means.begin() + static_cast<std::ptrdiff_t>(place), means.end());
        return means[place];
    };
    const Range most{at(left_out), at(means.size() - 1 - left_out)};
    // By halves, because a range may have no finite length.
    const bool is_far = all.high / 2 - all.low / 2 > times * (most.high / 2 - most.low / 2);
    return is_far && most.low < most.high ? most : all;
}

}  // namespace pmemcpy::cli
