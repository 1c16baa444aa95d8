#pragma once

#include <cstddef>
#include <optional>
#include <pmemcpy/type.hpp>
#include <string>
#include <vector>

#include "cli/element/time_since.hpp"
#include "cli/plot/raster.hpp"
#include "cli/plot/scale.hpp"
#include "cli/plot/series.hpp"

namespace pmemcpy::cli {

/// A dimension of an array along one side of a picture.
struct Side {
    std::string name;
    Range indices{0, 0};  ///< of the first and the last element
    std::size_t numbers = 1;
    std::string unit{};
    std::vector<double> places{};      ///< of the elements, all rising or all falling; empty: their indices
    std::optional<TimeUnit> ticks{};   ///< of datetime64, what the places are counted in
    std::optional<TimeSince> times{};  ///< of what CF calls a time coordinate
    std::string coordinate{};          ///< the id of the array that has the places
    bool is_upwards = false;           ///< where it goes down a picture, the last element is on top

    bool has_dates() const noexcept { return ticks || times; }
    /// "lat [degrees_north]"
    std::string label() const;
    /// A coordinate as text: "45.5", "2026-07-01".
    std::string text(double place) const;
    Range range() const;
    /// Where an element is between the first and the last, from 0 to 1.
    double along(std::size_t element) const;
};

struct Extents {
    std::size_t rows = 0;
    std::size_t columns = 0;
};

/// Numbers in a plane, the first index downwards, as `pmemcpy cat` prints them, unless that side goes up.
struct HeatMap {
    std::string title;
    std::string unit;
    Side down;
    Side across;
    Extents dots;  ///< as large as it is to be drawn; each cell of the raster is one dot or several
    Raster raster;
    Scale scale;
    Range all;  ///< of the numbers themselves

    /// What is seen there, counted from the top.
    double mean_at(std::size_t row, std::size_t column) const;
    /// From 0 to 1 by the scale, of what is seen at a dot; NaN for no number.
    double position_at(std::size_t row, std::size_t column) const;
    /// Whether some dot is no number.
    bool has_gaps() const;
    /// Whether some dot lies beyond an end of the scale.
    bool reaches_below() const { return raster.range(scale.is_log()).low < scale.range().low; }
    bool reaches_above() const { return raster.range(scale.is_log()).high > scale.range().high; }
};

/// Numbers in a row.
struct LinePlot {
    std::string title;
    std::string unit;
    Side across;
    Series series;
    Scale scale;

    /// A straight part of the line; from left to right and from bottom to top by 0 to 1.
    struct Segment {
        double x0, y0, x1, y1;
    };
    /// All of the line that lies in the range of the scale.
    std::vector<Segment> segments() const;
};

/// How large to draw a plane of rows x columns numbers where there is room for `most` dots, each of which is `dot_height`
/// times as high as wide: as large as it fits without being stretched; but of one that is long and thin, both sides fill
/// the room. What is smaller than the room grows by whole numbers, so that all its cells are alike.
Extents fitted(std::size_t rows, std::size_t columns, Extents most, double dot_height);

/// Marks at whole indices, round coordinates, or some of the times: at points that reach from edge to edge, or in the middle of cells that stand side
/// by side. From 0 at the left or top to 1.
enum class Along { points, cells };
std::vector<Scale::Tick> ticks_of(const Side& side, Along along, int most);

}  // namespace pmemcpy::cli
