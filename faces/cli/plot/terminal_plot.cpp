#include "cli/plot/terminal_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "cli/plot/canvas.hpp"
#include "cli/plot/colour_map.hpp"
#include "cli/terminal/colour.hpp"
#include "cli/terminal/screen.hpp"

namespace pmemcpy::cli {

namespace {

constexpr int fewest_columns = 20;
constexpr int fewest_rows = 8;
constexpr int lines_around_a_map = 4;   // the title, marks, the colour bar, the shell's next line
constexpr int lines_around_a_line = 3;  // the title, marks, the shell's next line
constexpr int widest_label = 12;
constexpr std::string_view shades = ".:-=+*#%@";

bool is_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {  // the first that is set counts
        const char* value = std::getenv(name);
        if (value == nullptr || *value == '\0') continue;
        std::string locale(value);
        std::transform(locale.begin(), locale.end(), locale.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    }
    return false;
}

std::vector<Scale::Tick> ticks_beside(const Side& down, std::size_t lines) {
    return ticks_of(down, Along::cells, static_cast<int>(lines) / 4);
}

/// For the labels in any number of lines.
std::size_t margin_of(const Side& down) {
    std::size_t width = 1;
    for (std::size_t lines = 4; lines <= 64; lines *= 2) {
        for (const Scale::Tick& tick : ticks_beside(down, lines))
            width = std::max(width, std::min<std::size_t>(tick.label.size(), widest_label));
    }
    return width + 1;
}

char shade(double position) {
    if (std::isnan(position)) return ' ';
    const double place = position * static_cast<double>(shades.size());
    return shades[std::min(static_cast<std::size_t>(place), shades.size() - 1)];
}

/// What makes the terminal write in a colour (38) or on it (48).
std::string escape(int what, double position, const TerminalStyle& style) {
    if (!style.has_all_colours) return fmt::format("\033[{};5;{}m", what, terminal_colour_at(position));
    const Colour colour = colour_at(position);
    return fmt::format("\033[{};2;{};{};{}m", what, colour.red, colour.green, colour.blue);
}

/// A line of text in colours, which says each only where it changes.
class ColourLine {
public:
    explicit ColourLine(const TerminalStyle& style) : style_(style) {}
    /// Two dots, one above the other.
    void add(double above, double below) {
        change_to(48, below, ground_);
        add(above);
    }
    /// A dot in the upper half, over what the terminal has there.
    void add(double above) {
        change_to(38, above, ink_);
        text_ += "\u2580";
    }
    /// One dot that takes all of a character.
    void add_whole(double position) {
        change_to(48, position, ground_);
        text_ += ' ';
    }
    std::string text() const { return text_ + "\033[0m"; }

private:
    void change_to(int what, double position, std::string& now) {
        std::string wanted = escape(what, position, style_);
        if (wanted == now) return;
        text_ += wanted;
        now = std::move(wanted);
    }
    const TerminalStyle& style_;
    std::string text_;
    std::string ink_, ground_;
};

/// Labels in the lines of a margin, to the right of it.
std::vector<std::string> margin_labels(const std::vector<Scale::Tick>& ticks, std::size_t lines,
                                       std::size_t width, bool upwards) {
    std::vector<std::string> labels(lines, std::string(width, ' '));
    for (const Scale::Tick& tick : ticks) {
        if (!(tick.position >= 0 && tick.position <= 1)) continue;
        const double place = (upwards ? 1 - tick.position : tick.position) * static_cast<double>(lines - 1);
        labels[static_cast<std::size_t>(std::lround(place))] =
            fmt::format("{:>{}} ", tick.label.substr(0, width - 1), width - 1);
    }
    return labels;
}

/// Labels below, each in the middle under its place, unless it would touch another.
std::string labels_below(const std::vector<Scale::Tick>& ticks, std::size_t width) {
    std::string line(width, ' ');
    std::size_t free_from = 0;
    for (const Scale::Tick& tick : ticks) {
        if (tick.label.size() > width) continue;
        const double middle = tick.position * static_cast<double>(width - 1);
        const double begin = std::round(middle - (static_cast<double>(tick.label.size()) - 1) / 2);
        const auto at =
            static_cast<std::size_t>(std::clamp(begin, 0.0, static_cast<double>(width - tick.label.size())));
        if (at < free_from) continue;
        line.replace(at, tick.label.size(), tick.label);
        free_from = at + tick.label.size() + 1;
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

std::string with_unit(const std::string& text, const std::string& unit) {
    return unit.empty() ? text : text + " [" + unit + "]";
}

bool has_name(const Side& side) { return !side.name.starts_with("index "); }

/// What the sides are, on a line; nothing where they are but indices.
std::string sides_text(const Side* down, const Side& across, std::size_t margin) {
    if (!has_name(across) && (down == nullptr || !has_name(*down))) return "";
    std::string text(margin, ' ');
    if (down != nullptr) text += (down->is_upwards ? "up: " : "down: ") + down->label() + "   across: ";
    return text + across.label() + "\n";
}

std::string colour_bar(const HeatMap& map, const TerminalStyle& style, std::size_t margin) {
    constexpr int width = 32;
    ColourLine colours(style);
    ColourLine grey(style);
    std::string bar;
    for (int i = 0; i < width; ++i) {
        colours.add_whole((i + 0.5) / width);
        bar += shade((i + 0.5) / width);
    }
    grey.add_whole(std::nan(""));
    const char* below = !map.reaches_below() ? "" : style.is_unicode ? "\u2264 " : "<= ";
    const char* above = !map.reaches_above() ? "" : style.is_unicode ? "\u2265 " : ">= ";
    std::string line = std::string(margin, ' ') +
                       fmt::format("{}{:.4g} {} {}{:.4g}", below, map.scale.range().low,
                                   style.has_colours ? colours.text() : bar, above, map.scale.range().high);
    if (map.scale.is_log()) line += " (log)";
    if (!map.all.is_empty()) line += fmt::format("   all: {:.6g} to {:.6g}", map.all.low, map.all.high);
    if (map.has_gaps()) line += style.has_colours ? "   " + grey.text() + " missing" : "   blank: missing";
    return line;
}

std::string halved_row(const HeatMap& map, std::size_t row, const TerminalStyle& style) {
    ColourLine line(style);
    for (std::size_t column = 0; column < map.dots.columns; ++column) {
        if (row + 1 < map.dots.rows) {
            line.add(map.position_at(row, column), map.position_at(row + 1, column));
        } else {
            line.add(map.position_at(row, column));
        }
    }
    return line.text();
}

std::string coloured_row(const HeatMap& map, std::size_t row, const TerminalStyle& style) {
    ColourLine line(style);
    for (std::size_t column = 0; column < map.dots.columns; ++column)
        line.add_whole(map.position_at(row, column));
    return line.text();
}

std::string shaded_row(const HeatMap& map, std::size_t row) {
    std::string line;
    for (std::size_t column = 0; column < map.dots.columns; ++column)
        line += shade(map.position_at(row, column));
    return line;
}

std::size_t at_least(int room, int fewest) { return static_cast<std::size_t>(std::max(room, fewest)); }

}  // namespace

TerminalStyle style_of_stdout() {
    const Screen::Size size = Screen::size();
    TerminalStyle style;
    style.columns = size.columns;
    style.rows = size.rows;
    style.has_colours = use_colour(stdout);
    const char* all = std::getenv("COLORTERM");
    style.has_all_colours =
        all != nullptr && (std::string_view(all) == "truecolor" || std::string_view(all) == "24bit");
    style.is_unicode = is_utf8();
    return style;
}

Extents room_for_heat_map(const TerminalStyle& style, const Side& down) {
    const std::size_t columns = at_least(style.columns - static_cast<int>(margin_of(down)), fewest_columns);
    const std::size_t lines =
        at_least(style.rows - lines_around_a_map - (has_name(down) ? 1 : 0), fewest_rows);
    return {style.has_colours && style.is_unicode ? 2 * lines : lines, columns};
}

double dot_height(const TerminalStyle& style) { return style.has_colours && style.is_unicode ? 1 : 2; }

std::size_t room_for_line(const TerminalStyle& style) {
    return at_least(style.columns - widest_label - 1, fewest_columns) * (style.is_unicode ? 2 : 1);
}

std::string text_of(const HeatMap& map, const TerminalStyle& style) {
    const bool is_halved = style.has_colours && style.is_unicode;
    const std::size_t lines = is_halved ? (map.dots.rows + 1) / 2 : map.dots.rows;
    const std::size_t margin = margin_of(map.down);
    const auto labels = margin_labels(ticks_beside(map.down, lines), lines, margin, false);
    std::string text = with_unit(map.title, map.unit) + "\n";
    for (std::size_t line = 0; line < lines; ++line) {
        const std::string row = is_halved           ? halved_row(map, 2 * line, style)
                                : style.has_colours ? coloured_row(map, line, style)
                                                    : shaded_row(map, line);
        text += labels[line] + row + "\n";
    }
    text += std::string(margin, ' ') +
            labels_below(ticks_of(map.across, Along::cells, static_cast<int>(map.dots.columns) / 10),
                         map.dots.columns) +
            "\n" + sides_text(&map.down, map.across, margin);
    return text + colour_bar(map, style, margin) + "\n";
}

std::string text_of(const LinePlot& plot, const TerminalStyle& style) {
    const std::size_t lines =
        at_least(style.rows - lines_around_a_line - (has_name(plot.across) ? 1 : 0), fewest_rows);
    const auto ticks = plot.scale.ticks(static_cast<int>(lines) / 3);
    std::size_t margin = 1;
    for (const Scale::Tick& tick : ticks)
        margin = std::max(margin, std::min<std::size_t>(tick.label.size(), widest_label) + 1);
    const std::size_t columns = at_least(style.columns - static_cast<int>(margin) - 1, fewest_columns);
    Canvas canvas(columns, lines, style.is_unicode);
    for (const LinePlot::Segment& segment : plot.segments()) canvas.draw(segment);
    const auto labels = margin_labels(ticks, lines, margin, true);
    std::string text = with_unit(plot.title, plot.unit) + (plot.scale.is_log() ? " (log)" : "") + "\n";
    for (std::size_t line = 0; line < lines; ++line) {
        text += labels[line] + (style.is_unicode ? "\u2502" : "|") + canvas.line(line);
        while (text.back() == ' ') text.pop_back();
        text += "\n";
    }
    return text + std::string(margin + 1, ' ') +
           labels_below(ticks_of(plot.across, Along::points, static_cast<int>(columns) / 10), columns) +
           "\n" + sides_text(nullptr, plot.across, margin + 1);
}

}  // namespace pmemcpy::cli
