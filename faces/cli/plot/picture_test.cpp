#include "cli/plot/picture.hpp"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>

#include "cli/plot/colour_map.hpp"
#include "cli/plot/terminal_plot.hpp"

using namespace pmemcpy::cli;

namespace {

HeatMap map_of(std::size_t rows, std::size_t columns, const std::vector<double>& numbers,
               const TerminalStyle& style) {
    const Side down{"i", {0, static_cast<double>(rows - 1)}, rows};
    const Side across{"j", {0, static_cast<double>(columns - 1)}, columns};
    const Extents dots = fitted(rows, columns, room_for_heat_map(style, down), dot_height(style));
    Raster raster(rows, columns, dots.rows, dots.columns);
    for (std::size_t i = 0; i < numbers.size(); ++i) raster.add(i / columns, i % columns, numbers[i]);
    const Scale scale(raster.range(false), false);
    const Range all = raster.range(false);
    return {"u", "m", down, across, dots, std::move(raster), scale, all};
}

LinePlot plot_of(const std::vector<double>& numbers, const TerminalStyle& style) {
    const Side across{"i", {0, static_cast<double>(numbers.size() - 1)}, numbers.size()};
    Series series(numbers.size(), room_for_line(style), false);
    for (std::size_t i = 0; i < numbers.size(); ++i) series.add(i, numbers[i]);
    const Scale scale(series.range(), false);
    return {"u", "", across, std::move(series), scale};
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
}

}  // namespace

TEST(cli_picture, means_are_of_what_is_finite) {
    Raster raster(2, 4, 1, 2);
    const double numbers[] = {1, 2, NAN, NAN, 3, 4, INFINITY, NAN};
    for (std::size_t i = 0; i < 8; ++i) raster.add(i / 4, i % 4, numbers[i]);
    EXPECT_EQ(raster.rows(), 1U);
    EXPECT_EQ(raster.columns(), 2U);
    EXPECT_DOUBLE_EQ(raster.mean(0, 0), 2.5);
    EXPECT_TRUE(std::isnan(raster.mean(0, 1)));
    EXPECT_DOUBLE_EQ(raster.range(false).high, 2.5);
}

TEST(cli_picture, means_of_the_largest_numbers_are_finite) {
    Raster raster(1, 3, 1, 1);
    for (std::size_t i = 0; i < 3; ++i) raster.add(0, i, DBL_MAX);
    EXPECT_DOUBLE_EQ(raster.mean(0, 0), DBL_MAX);
}

// A picture of salinity had all of the southern ocean in one colour, because the percentiles were none.
TEST(cli_picture, outliers_are_left_out_and_nothing_else) {
    Raster raster(1, 1000, 1, 1000);
    for (std::size_t i = 0; i < 1000; ++i) raster.add(0, i, static_cast<double>(i * 7 % 1000));
    EXPECT_EQ(raster.robust_range().low, 0) << "what is even has no outliers";
    EXPECT_EQ(raster.robust_range().high, 999);
    Raster far(1, 1000, 1, 1000);
    for (std::size_t i = 0; i < 1000; ++i)
        far.add(0, i, i == 500 ? -1e10 : static_cast<double>(i * 7 % 1000));
    EXPECT_NEAR(far.robust_range().low, 20, 1);
    EXPECT_NEAR(far.robust_range().high, 979, 1);
}

TEST(cli_picture, no_picture_becomes_one_colour_for_what_is_rare) {
    Raster raster(10, 10, 10, 10);
    for (std::size_t i = 0; i < 100; ++i) raster.add(i / 10, i % 10, i == 55 ? 1 : 0);
    EXPECT_EQ(raster.robust_range().high, 1);
}

TEST(cli_picture, north_is_up) {
    TerminalStyle style;
    style.columns = 26;
    style.rows = 12;
    HeatMap map = map_of(2, 2, {0, 0, 1, 1}, style);
    EXPECT_EQ(map.mean_at(0, 0), 0);
    map.down.places = {-30, 30};
    map.down.is_upwards = true;
    EXPECT_EQ(map.mean_at(0, 0), 1);
    const auto ticks = ticks_of(map.down, Along::cells, 3);
    EXPECT_LT(ticks.back().position, ticks.front().position);
    EXPECT_EQ(ticks.front().label, "-20");
}

TEST(cli_picture, marks_stand_where_the_coordinates_are) {
    Side depth{"depth", {0, 3}, 4, "m", {0, 10, 100, 1000}};
    const auto cells = ticks_of(depth, Along::cells, 2);
    EXPECT_EQ(cells.back().label, "1000");
    EXPECT_DOUBLE_EQ(cells.back().position, 3.5 / 4) << "in the middle of the last cell";
    const auto points = ticks_of(depth, Along::points, 2);
    EXPECT_DOUBLE_EQ(points[1].position, points[1].number / 1000);
    EXPECT_DOUBLE_EQ(depth.along(2), 0.1);
    depth.places = {1000, 100, 10, 0};
    EXPECT_DOUBLE_EQ(ticks_of(depth, Along::cells, 2).back().position, 0.5 / 4);
    EXPECT_EQ(depth.label(), "depth [m]");
}

TEST(cli_picture, times_are_dates) {
    Side time{"time", {0, 11}, 12};
    time.ticks = pmemcpy::TimeUnit::second;
    for (int month = 0; month < 12; ++month) time.places.push_back(86400.0 * 30 * month);
    const auto ticks = ticks_of(time, Along::cells, 6);
    ASSERT_EQ(ticks.size(), 6U);
    EXPECT_EQ(ticks[1].label, "1970-03-02");
    EXPECT_DOUBLE_EQ(ticks[1].position, 2.5 / 12);
    EXPECT_EQ(time.text(3600), "1970-01-01T01:00");
    EXPECT_EQ(time.text(61), "1970-01-01T00:01:01");
    time.ticks = pmemcpy::TimeUnit::nanosecond;
    EXPECT_EQ(time.text(1.5e9), "1970-01-01T00:00:01.500000000");
    EXPECT_EQ(time.text(0), "1970-01-01");
    time.ticks = pmemcpy::TimeUnit::month;
    EXPECT_EQ(time.text(13), "1971-02");
}

TEST(cli_picture, a_line_goes_through_least_and_greatest) {
    Series series(1000, 10, false);
    for (std::size_t i = 0; i < 1000; ++i) series.add(999 - i, i == 500 ? 1e6 : 0);  // backwards
    EXPECT_EQ(series.range().high, 1e6);
    const auto lines = series.lines();
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_LE(lines[0].size(), 40U);
    EXPECT_EQ(lines[0].front().at, 0U);
    EXPECT_EQ(lines[0].back().at, 999U);
    EXPECT_TRUE(std::is_sorted(lines[0].begin(), lines[0].end(), [](auto a, auto b) { return a.at < b.at; }));
}

TEST(cli_picture, a_line_has_gaps) {
    Series series(6, 100, true);
    const double numbers[] = {1, 2, NAN, 4, -1, 6};
    for (std::size_t i = 0; i < 6; ++i) series.add(i, numbers[i]);
    const auto lines = series.lines();
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[1].size(), 1U);
    EXPECT_EQ(lines[2][0].at, 5U);
}

TEST(cli_picture, a_line_ends_where_the_scale_does) {
    LinePlot plot = plot_of({0, 10, 0}, {});
    plot.scale = Scale({0, 5}, false);
    const auto segments = plot.segments();
    ASSERT_EQ(segments.size(), 2U);
    EXPECT_DOUBLE_EQ(segments[0].x1, 0.25);
    EXPECT_DOUBLE_EQ(segments[0].y1, 1);
    EXPECT_DOUBLE_EQ(segments[1].x0, 0.75);
    plot.scale = Scale({20, 30}, false);
    EXPECT_TRUE(plot.segments().empty());
}

TEST(cli_picture, fits_without_stretching_where_that_looks_well) {
    const auto size = [](std::size_t rows, std::size_t columns, double height = 1) {
        const Extents e = fitted(rows, columns, {40, 72}, height);
        return std::pair{e.rows, e.columns};
    };
    using Pair = std::pair<std::size_t, std::size_t>;
    EXPECT_EQ(size(4, 6), (Pair{40, 60}));
    EXPECT_EQ(size(1000, 1000), (Pair{40, 40}));
    EXPECT_EQ(size(1000, 2000), (Pair{36, 72}));
    EXPECT_EQ(size(10, 100000), (Pair{40, 72}));  // else it would be a single line
    EXPECT_EQ(size(1000, 1000, 2), (Pair{36, 72}));
    EXPECT_EQ(size(1, 1), (Pair{40, 40}));
}

TEST(cli_picture, colours_go_from_dark_to_light) {
    const auto light = [](Colour c) { return 0.299 * c.red + 0.587 * c.green + 0.114 * c.blue; };
    for (int i = 0; i < 100; ++i)
        EXPECT_LT(light(colour_at(i / 100.0)), light(colour_at((i + 1) / 100.0))) << i;
    EXPECT_EQ(colour_at(NAN), no_number);
    EXPECT_EQ(colour_at(-1), colour_at(0));
    EXPECT_EQ(terminal_colour_at(-1), terminal_colour_at(0));
    EXPECT_EQ(terminal_colour_at(1), 226);
    EXPECT_NE(terminal_colour_at(0.4), terminal_colour_at(0.6));
    EXPECT_EQ(terminal_colour_at(NAN), 246);
}

TEST(cli_picture, without_colours_a_map_is_ascii) {
    TerminalStyle style;
    style.columns = 26;
    style.rows = 12;
    const std::string text = text_of(map_of(2, 2, {0, 1, 2, NAN}, style), style);
    EXPECT_EQ(text.substr(0, 6), "u [m]\n");
    EXPECT_EQ(count(text, "@"), 4 * 8 + 4U) << text;  // one cell of four, and the end of the colour bar
    EXPECT_GT(count(text, "."), 8U);
    EXPECT_NE(text.find("blank: missing"), std::string::npos);
    EXPECT_TRUE(
        std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c < 0x7f); }));
}

TEST(cli_picture, with_colours_a_character_has_two_dots) {
    TerminalStyle style;
    style.is_unicode = style.has_colours = true;
    const std::string text = text_of(map_of(3, 3, {0, 1, 2, 3, 4, 5, 6, 7, 8}, style), style);
    EXPECT_NE(text.find("\033[38;5;"), std::string::npos);
    EXPECT_NE(text.find("\u2580"), std::string::npos);
    style.has_all_colours = true;
    EXPECT_NE(text_of(map_of(1, 1, {5}, style), style).find("\033[38;2;33;144;140m"), std::string::npos);
}

TEST(cli_picture, a_line_is_drawn_with_dots_or_stars) {
    TerminalStyle style;
    style.columns = 40;
    style.rows = 13;
    const std::string stars = text_of(plot_of({0, 1, 2, 3}, style), style);
    EXPECT_EQ(count(stars, "\n"), 12U);
    EXPECT_GE(count(stars, "*"), 30U);
    EXPECT_NE(stars.find("3"), std::string::npos);
    style.is_unicode = true;
    const std::string dots = text_of(plot_of({0, 1, 2, 3}, style), style);
    EXPECT_EQ(count(dots, "*"), 0U);
    EXPECT_GT(count(dots, "\xe2\xa0") + count(dots, "\xe2\xa1") + count(dots, "\xe2\xa2"), 10U);
}

TEST(cli_picture, marks_stand_under_the_middle_of_cells) {
    const Side side{"i", {10, 14}, 5};
    const auto ticks = ticks_of(side, Along::cells, 10);
    ASSERT_EQ(ticks.size(), 5U);
    EXPECT_EQ(ticks[0].label, "10");
    EXPECT_DOUBLE_EQ(ticks[0].position, 0.1);
    EXPECT_DOUBLE_EQ(ticks_of(side, Along::points, 10)[0].position, 0);
    EXPECT_EQ(ticks_of({"i", {7, 7}, 1}, Along::cells, 10)[0].label, "7");
}
