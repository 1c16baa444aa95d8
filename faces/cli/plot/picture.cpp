#include "cli/plot/picture.hpp"

#include <algorithm>
#include <cmath>

namespace pmemcpy::cli {

namespace {

constexpr double thinnest = 0.25;  // of the room

/// A side's dots: as near as it gets to `wanted`, but a multiple of the numbers where there is more room than numbers.
std::size_t side(std::size_t numbers, double wanted, std::size_t most) {
    const auto dots = std::clamp<std::size_t>(static_cast<std::size_t>(std::llround(wanted)), 1, most);
    if (dots <= numbers) return std::min(dots, most);
    return std::max<std::size_t>(1, dots / numbers) * numbers;
}

/// Cuts what lies above 1 or below 0 off a part of a line; false if that is all of it.
bool cut(LinePlot::Segment& s) {
    for (const double edge : {0.0, 1.0}) {
        const bool is_floor = edge == 0;
        const bool first_out = is_floor ? s.y0 < edge : s.y0 > edge;
        const bool second_out = is_floor ? s.y1 < edge : s.y1 > edge;
        if (first_out && second_out) return false;
        if (!first_out && !second_out) continue;
        const double x = s.x0 + (s.x1 - s.x0) * ((edge - s.y0) / (s.y1 - s.y0));
        (first_out ? s.x0 : s.x1) = x;
        (first_out ? s.y0 : s.y1) = edge;
    }
    return true;
}

}  // namespace

double HeatMap::position_at(std::size_t row, std::size_t column) const {
    return scale.position(
        raster.mean(row * raster.rows() / dots.rows, column * raster.columns() / dots.columns));
}

bool HeatMap::has_gaps() const {
    for (std::size_t row = 0; row < raster.rows(); ++row) {
        for (std::size_t column = 0; column < raster.columns(); ++column) {
            if (std::isnan(scale.position(raster.mean(row, column)))) return true;
        }
    }
    return false;
}

std::vector<LinePlot::Segment> LinePlot::segments() const {
    std::vector<Segment> all;
    const double last = std::max(1.0, static_cast<double>(series.numbers()) - 1);
    for (const auto& points : series.lines()) {
        for (std::size_t i = 0; i < points.size(); ++i) {
            const Series::Point& from = points[i];
            if (i + 1 == points.size() && i > 0) break;
            const Series::Point& to =
                points[std::min(i + 1, points.size() - 1)];  // itself, of a point that stands alone
            Segment segment{static_cast<double>(from.at) / last, scale.unbounded(from.value),
                            static_cast<double>(to.at) / last, scale.unbounded(to.value)};
            if (cut(segment)) all.push_back(segment);
        }
    }
    return all;
}

std::vector<Scale::Tick> ticks_of(const Side& side, Along along, int most) {
    const double length = side.indices.high - side.indices.low;
    if (length == 0) return {{0.5, std::to_string(static_cast<unsigned long long>(side.indices.low))}};
    auto ticks =
        Scale(side.indices, false).ticks(std::max(1, static_cast<int>(std::min<double>(most, length))));
    if (along == Along::cells) {
        const auto cells = static_cast<double>(side.numbers);
        for (Scale::Tick& tick : ticks) tick.position = (tick.position * (cells - 1) + 0.5) / cells;
    }
    return ticks;
}

Extents fitted(std::size_t rows, std::size_t columns, Extents most, double dot_height) {
    const double height = static_cast<double>(rows) / dot_height;
    const auto width = static_cast<double>(columns);
    const double scale =
        std::min(static_cast<double>(most.rows) / height, static_cast<double>(most.columns) / width);
    double down = height * scale;
    double across = width * scale;
    if (down < thinnest * static_cast<double>(most.rows) ||
        across < thinnest * static_cast<double>(most.columns)) {
        down = static_cast<double>(most.rows);
        across = static_cast<double>(most.columns);
    }
    return {side(rows, down, most.rows), side(columns, across, most.columns)};
}

}  // namespace pmemcpy::cli
