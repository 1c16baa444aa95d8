#include "cli/plot/series.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace pmemcpy::cli {

Series::Series(std::size_t numbers, std::size_t most_stretches, bool positive)
    : numbers_(numbers), positive_(positive), stretches_(std::min(numbers, most_stretches)) {}

void Series::add(std::size_t at, double number) {
    if (!std::isfinite(number) || (positive_ && !(number > 0))) return;
    __extension__ typedef unsigned __int128 Wide;  // the product may exceed 64 bits
    Stretch& stretch = stretches_[static_cast<std::size_t>(Wide{at} * stretches_.size() / numbers_)];
    const Point point{at, number};
    if (stretch.is_empty) {
        stretch = {false, point, point, point, point};
        return;
    }
    if (at < stretch.first.at) stretch.first = point;
    if (at > stretch.last.at) stretch.last = point;
    if (number < stretch.least.value) stretch.least = point;
    if (number > stretch.greatest.value) stretch.greatest = point;
}

Range Series::range() const {
    Range range;
    for (const Stretch& stretch : stretches_) {
        if (stretch.is_empty) continue;
        range.add(stretch.least.value);
        range.add(stretch.greatest.value);
    }
    return range;
}

std::vector<std::vector<Series::Point>> Series::lines() const {
    std::vector<std::vector<Point>> lines;
    bool is_open = false;
    for (const Stretch& stretch : stretches_) {
        if (stretch.is_empty) {
            is_open = false;
            continue;
        }
        if (!is_open) lines.emplace_back();
        is_open = true;
        std::array points = {stretch.first, stretch.least, stretch.greatest, stretch.last};
        std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.at < b.at; });
        const auto end = std::unique(points.begin(), points.end(),
                                     [](const Point& a, const Point& b) { return a.at == b.at; });
        lines.back().insert(lines.back().end(), points.begin(), end);
    }
    return lines;
}

}  // namespace pmemcpy::cli
