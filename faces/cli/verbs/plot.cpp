#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/plot/plotter.hpp"
#include "cli/plot/png_plot.hpp"
#include "cli/plot/terminal_plot.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/sink.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string pool;
    PlotRequest request;
    std::optional<std::string> output;
    std::optional<std::string> size;
    bool ascii = false;
};

/// "960x600": in pixels, or in characters.
std::pair<int, int> parse_extent(const std::string& text) {
    constexpr int least = 10, most = 8192;
    std::pair<int, int> size{};
    const char* end = text.data() + text.size();
    const auto width = std::from_chars(text.data(), end, size.first);
    const bool has_x = width.ec == std::errc{} && width.ptr != end && *width.ptr == 'x';
    const auto height = has_x ? std::from_chars(width.ptr + 1, end, size.second) : width;
    if (!has_x || height.ec != std::errc{} || height.ptr != end ||
        std::min(size.first, size.second) < least || std::max(size.first, size.second) > most) {
        throw Error(Code::invalid_argument,
                    fmt::format("'{}' is no size of a picture; write WIDTHxHEIGHT, each from {} to {}", text,
                                least, most));
    }
    return size;
}

void print(const std::string& text) {
    Sink sink("");
    sink.write(text);
    sink.finish();
}

TerminalStyle style_for(const Arguments& arguments) {
    TerminalStyle style = style_of_stdout();
    if (arguments.size) std::tie(style.columns, style.rows) = parse_extent(*arguments.size);
    if (arguments.ascii) style.is_unicode = style.has_colours = false;
    return style;
}

void plot_png(const Plotter& plotter, const Arguments& arguments) {
    check_png();
    PngSize size;
    if (arguments.size) std::tie(size.width, size.height) = parse_extent(*arguments.size);
    const auto png = plotter.is_line() ? png_of(plotter.line(room_for_line(size), true), size)
                                       : png_of(plotter.heat_map(room_for_heat_map(size), 1), size);
    Sink sink(*arguments.output, plotter.is_private());
    sink.write(png);
    sink.finish();
}

void plot_json(const Plotter& plotter, const Arguments& arguments) {
    const auto [width, height] = arguments.size ? parse_extent(*arguments.size) : std::pair{80, 24};
    const auto room = static_cast<std::size_t>(width);
    Json json = plotter.head();
    if (plotter.is_line()) {
        const LinePlot plot = plotter.line(room, false);
        json["low"] = plot.scale.range().low;
        json["high"] = plot.scale.range().high;
        const double numbers = static_cast<double>(std::max<std::size_t>(plot.across.numbers, 2) - 1);
        const double stride = (plot.across.indices.high - plot.across.indices.low) / numbers;
        json["lines"] = Json::array();
        for (const auto& points : plot.series.lines()) {
            Json line = Json::array();
            for (const Series::Point& point : points) {
                const double index = plot.across.indices.low + stride * static_cast<double>(point.at);
                line.push_back({std::llround(index), point.value});
            }
            json["lines"].push_back(line);
        }
    } else {
        const HeatMap map = plotter.heat_map({static_cast<std::size_t>(height), room}, 1);
        json["low"] = map.scale.range().low;
        json["high"] = map.scale.range().high;
        if (!map.all.is_empty()) json["all"] = {map.all.low, map.all.high};
        json["means"] = Json::array();
        for (std::size_t row = 0; row < map.raster.rows(); ++row) {
            Json means = Json::array();
            for (std::size_t column = 0; column < map.raster.columns(); ++column)
                means.push_back(map.raster.mean(row, column));  // JSON has null for no number
            json["means"].push_back(means);
        }
    }
    print(dump(json) + "\n");
}

int plot(const Arguments& arguments, bool json) {
    if (arguments.ascii && (json || arguments.output))
        throw Error(Code::invalid_argument,
                    "--ascii is for the terminal: it goes with neither --output nor --json");
    const PMEM pmem = open_for_reading(arguments.pool);
    const Plotter plotter(pmem, arguments.request);
    if (arguments.output) {
        plot_png(plotter, arguments);
    } else if (json) {
        plot_json(plotter, arguments);
    } else {
        const TerminalStyle style = style_for(arguments);
        print(plotter.is_line()
                  ? text_of(plotter.line(room_for_line(style), true), style)
                  : text_of(plotter.heat_map(room_for_heat_map(style, plotter.down()), dot_height(style)),
                            style));
    }
    return exit_ok;
}

}  // namespace

void add_plot(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "plot", "Draw a line or a plane of an array, in the terminal or as PNG")
        .needs("POOL", arguments->pool, "The pool")
        .needs("ID", arguments->request.id, "The array, of numbers")
        .takes("--box", arguments->request.box,
               "Only a part, as first:end[:stride] in each dimension: 0,3,: is a line of a 3-D array")
        .takes("--step", arguments->request.step, "The array as it was at a committed step")
        .takes("-o,--output", arguments->output, "Write a PNG file; - is stdout")
        .takes("--size", arguments->size,
               "WIDTHxHEIGHT, in pixels (default: 960x600) or characters (the terminal's)")
        .takes("--range", arguments->request.range,
               "LOW:HIGH of the scale, of which one may be left out; : is all")
        .takes("--raw", arguments->request.is_raw,
               "The numbers that are stored, whatever their attributes say")
        .takes("--log", arguments->request.is_log, "A logarithmic scale; what is not above 0 is left out")
        .takes("--ascii", arguments->ascii, "Without colours, and no characters but those of ASCII")
        .takes_json("Print the numbers that would be drawn, as JSON", "--output")
        .tells(
            "One dimension is drawn as a line, two as a heat map, the first downwards. Of more, --box fixes "
            "all but two; dimensions of length 1 count as fixed. Where there are more elements than dots, a "
            "dot "
            "of a heat map is the mean of its elements, and a line goes through the least and the greatest "
            "of "
            "them.\n"
            "\n"
            "The attributes that NetCDF's conventions have are heeded. What is missing by _FillValue, "
            "missing_value or valid_range, or is not finite, is grey in a heat map, and a gap in a line; "
            "packed "
            "numbers are unpacked; units is the unit. A dimension has the name that _ARRAY_DIMENSIONS says; "
            "an "
            "array of one dimension that is called so has the coordinates, and north, and what is positive "
            "up, "
            "is above.\n"
            "\n"
            "The colours reach from the least to the greatest dot. Where the outermost 2 % at each end would "
            "take more than three quarters of them they are left out, and the bar has an end for them; "
            "\"all\" "
            "is from the least to the greatest number.\n"
            "\n"
            "The whole part is read, piece by piece, so the memory that it takes is small however large the "
            "array.\n")
        .runs([arguments](bool json) { return plot(*arguments, json); });
}

}  // namespace pmemcpy::cli
