#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/plot/raster.hpp"
#include "cli/plot/scale.hpp"
#include "cli/plot/series.hpp"

namespace pmemcpy::cli {

/// Indices of an array along one side of a picture.
struct Side {
    std::string name;
    Range indices;  ///< of the first and the last element
    std::size_t numbers = 1;
};

struct Extents {
    std::size_t rows = 0;
    std::size_t columns = 0;
};

/// Numbers in a plane, the first index downwards, as `pmemcpy cat` prints them.
struct HeatMap {
    std::string title;
    std::string unit;
    Side down;
    Side across;
    Extents dots;  ///< as large as it is to be drawn; each cell of the raster is one dot or several
    Raster raster;
    Scale scale;

    /// From 0 to 1 by the scale, of what is seen at a dot; NaN for no number.
    double position_at(std::size_t row, std::size_t column) const;
    /// Whether some dot is no number.
    bool has_gaps() const;
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

/// Marks at whole indices: at points that reach from edge to edge, or in the middle of cells that stand side by side.
enum class Along { points, cells };
std::vector<Scale::Tick> ticks_of(const Side& side, Along along, int most);

}  // namespace pmemcpy::cli
