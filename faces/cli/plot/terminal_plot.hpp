#pragma once

#include <string>

#include "cli/plot/picture.hpp"

namespace pmemcpy::cli {

/// What the terminal can show.
struct TerminalStyle {
    int columns = 80;
    int rows = 24;
    bool has_colours = false;      ///< 256 of them
    bool has_all_colours = false;  ///< of 24 bits
    bool is_unicode = false;
};

/// How stdout looks: its size and colours, and by the locale whether it knows more than ASCII.
TerminalStyle style_of_stdout();

/// The dots that there is room for beside the labels; and how high they are, by their width.
Extents room_for_heat_map(const TerminalStyle& style, const Side& down);
double dot_height(const TerminalStyle& style);
/// How many dots there are along a line.
std::size_t room_for_line(const TerminalStyle& style);

/// With colours, two dots in each character, one above the other; without, a character for each, from . for the least to @.
std::string text_of(const HeatMap& map, const TerminalStyle& style);
/// With Unicode 2 x 4 dots in each character, else a star for each dot.
std::string text_of(const LinePlot& plot, const TerminalStyle& style);

}  // namespace pmemcpy::cli
