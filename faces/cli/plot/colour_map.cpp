#include "cli/plot/colour_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace pmemcpy::cli {

namespace {

constexpr std::array<Colour, 9> viridis = {{{68, 1, 84},
                                            {71, 45, 123},
                                            {59, 82, 139},
                                            {44, 114, 142},
                                            {33, 144, 140},
                                            {39, 173, 129},
                                            {93, 200, 99},
                                            {170, 220, 50},
                                            {253, 231, 37}}};

std::uint8_t between(std::uint8_t a, std::uint8_t b, double part) {
    return static_cast<std::uint8_t>(std::lround(a + (b - a) * part));
}

/// Of the 256 colours of a terminal those that come near the map and, as there, become lighter from one to the next; the
/// nearest of all would not.
constexpr std::array terminal_colours = {53, 54, 24, 30, 36, 71, 77, 149, 220, 226};
constexpr int terminal_grey = 246;

}  // namespace

Colour colour_at(double position) {
    if (std::isnan(position)) return no_number;
    const double place = std::clamp(position, 0.0, 1.0) * (viridis.size() - 1);
    const auto i = std::min(static_cast<std::size_t>(place), viridis.size() - 2);
    const double part = place - static_cast<double>(i);
    const Colour &a = viridis[i], &b = viridis[i + 1];
    return {between(a.red, b.red, part), between(a.green, b.green, part), between(a.blue, b.blue, part)};
}

int terminal_colour_at(double position) {
    if (std::isnan(position)) return terminal_grey;
    const auto i = static_cast<std::size_t>(std::clamp(position, 0.0, 1.0) * terminal_colours.size());
    return terminal_colours[std::min(i, terminal_colours.size() - 1)];
}

}  // namespace pmemcpy::cli
