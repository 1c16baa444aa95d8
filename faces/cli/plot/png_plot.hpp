#pragma once

#include <cstddef>
#include <vector>

#include "cli/plot/picture.hpp"

namespace pmemcpy::cli {

/// In pixels.
struct PngSize {
    int width = 960;
    int height = 600;
};

/// Errors: unsupported, when this command was built without cairo, which draws.
void check_png();

/// How many dots there are beside title, labels and colour bar.
Extents room_for_heat_map(const PngSize& size);
std::size_t room_for_line(const PngSize& size);

/// The bytes of a PNG file. Errors: unsupported, no_space
std::vector<std::byte> png_of(const HeatMap& map, const PngSize& size);
std::vector<std::byte> png_of(const LinePlot& plot, const PngSize& size);

}  // namespace pmemcpy::cli
