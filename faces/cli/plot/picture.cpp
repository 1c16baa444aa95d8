#include "cli/plot/picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "cli/element/datetime.hpp"

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

/// Some of the elements, as far from each other.
std::vector<Scale::Tick> dates_along(const Side& side, std::size_t most) {
    const std::size_t step = (side.numbers + most - 1) / most;
    std::vector<Scale::Tick> ticks;
    for (std::size_t i = 0; i < side.numbers; i += step)
        ticks.push_back({0, side.text(side.places[i]), side.places[i]});
    return ticks;
}

/// Where a coordinate is from the first element to the last: cells are as wide as each other, wherever they lie.
double place_of(double coordinate, const Side& side, Along along) {
    const std::vector<double>& places = side.places;
    const bool is_rising = places.front() < places.back();
    if (along == Along::points) return (coordinate - places.front()) / (places.back() - places.front());
    const auto next = std::lower_bound(
        places.begin() + 1, places.end() - 1, coordinate,
        [&](double place, double wanted) { return (place < wanted) == is_rising && place != wanted; });
    const double before = *std::prev(next);
    const auto at = static_cast<double>(next - places.begin() - 1);
    return (at + (coordinate - before) / (*next - before)) / static_cast<double>(places.size() - 1);
}

}  // namespace

std::string Side::label() const { return unit.empty() ? name : name + " [" + unit + "]"; }

std::string Side::text(double place) const {
    if (times) return times->text(place);
    if (!ticks) return fmt::format("{:.6g}", place);
    std::string date = datetime_text(static_cast<std::int64_t>(place), *ticks);
    // What is zero at the end says nothing.
    if (const std::size_t point = date.find('.'); date.find_first_not_of('0', point + 1) == std::string::npos)
        date.resize(std::min(point, date.size()));
    constexpr std::size_t with_seconds = 19;
    if (date.size() == with_seconds && date.ends_with(":00")) date.resize(date.size() - 3);
    for (const std::string_view midnight : {"T00:00", "T00"}) {
        if (date.ends_with(midnight)) date.resize(date.size() - midnight.size());
    }
    return date;
}

Range Side::range() const {
    if (places.empty()) return indices;
    Range range;
    range.add(places.front());
    range.add(places.back());
    return range;
}

double Side::along(std::size_t element) const {
    if (numbers < 2) return 0;
    if (places.empty()) return static_cast<double>(element) / static_cast<double>(numbers - 1);
    return (places[element] - places.front()) / (places.back() - places.front());
}

double HeatMap::mean_at(std::size_t row, std::size_t column) const {
    return raster.mean(down.is_upwards ? raster.rows() - 1 - row : row, column);
}

double HeatMap::position_at(std::size_t row, std::size_t column) const {
    return scale.position(mean_at(row * raster.rows() / dots.rows, column * raster.columns() / dots.columns));
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
    for (const auto& points : series.lines()) {
        for (std::size_t i = 0; i < points.size(); ++i) {
            const Series::Point& from = points[i];
            if (i + 1 == points.size() && i > 0) break;
            const Series::Point& to =
                points[std::min(i + 1, points.size() - 1)];  // itself, of a point that stands alone
            Segment segment{across.along(from.at), scale.unbounded(from.value), across.along(to.at),
                            scale.unbounded(to.value)};
            if (cut(segment)) all.push_back(segment);
        }
    }
    return all;
}

std::vector<Scale::Tick> ticks_of(const Side& side, Along along, int most) {
    const Range range = side.range();
    if (range.low == range.high) return {{0.5, side.text(range.low)}};
    const double finest = side.places.empty() ? range.high - range.low : most;  // whole indices
    auto ticks =
        side.has_dates()
            ? dates_along(side, static_cast<std::size_t>(std::max(1, most)))
            : Scale(range, false).ticks(std::max(1, static_cast<int>(std::min<double>(most, finest))));
    for (Scale::Tick& tick : ticks) {
        if (!side.places.empty()) tick.position = place_of(tick.number, side, along);
        if (along == Along::cells) {
            const auto cells = static_cast<double>(side.numbers);
            tick.position = (tick.position * (cells - 1) + 0.5) / cells;
        }
        if (side.is_upwards) tick.position = 1 - tick.position;
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
