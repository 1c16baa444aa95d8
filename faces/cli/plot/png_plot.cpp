#include "cli/plot/png_plot.hpp"

#include <cairo.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <pmemcpy/error.hpp>
#include <span>

#include "cli/plot/colour_map.hpp"

namespace pmemcpy::cli {

namespace {

// In pixels, around what is plotted.
constexpr int left_margin = 108;   // the name of an axis, upright, and its labels, of which dates are widest
constexpr int right_margin = 148;  // the colour bar and its labels
constexpr int top_margin = 48;     // the title
constexpr int bottom_margin = 60;  // labels and the name of an axis
constexpr int narrow_right_margin = 44;  // half of a date
constexpr int bar_gap = 18;
constexpr int bar_width = 18;
constexpr int tick_length = 5;
constexpr int tip_length = 14;  // of a colour bar that ends before the numbers do
constexpr double label_size = 12;
constexpr double line_height = 14;
constexpr double name_size = 13;
constexpr double title_size = 16;
constexpr double dark = 0.15;  // of what is written and of frames
constexpr double faint = 0.88;

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
using Context = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;

struct Area {
    double x, y, width, height;
};

/// Where a text lies: its left, middle or right at a point; and all of it beside the middle of its height.
enum class Anchor { left, middle, right };

class Drawing {
public:
    explicit Drawing(const PngSize& size)
        : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, size.width, size.height),
                   cairo_surface_destroy),
          context_(cairo_create(surface_.get()), cairo_destroy) {
        cairo_select_font_face(pen(), "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
        cairo_set_source_rgb(pen(), 1, 1, 1);
        cairo_paint(pen());
        ink();
    }

    cairo_t* pen() const { return context_.get(); }
    void ink(double grey = dark) const { cairo_set_source_rgb(pen(), grey, grey, grey); }

    void text(double x, double y, const std::string& words, double size, Anchor anchor) const {
        cairo_set_font_size(pen(), size);
        cairo_text_extents_t extents;
        cairo_text_extents(pen(), words.c_str(), &extents);
        const double shift = anchor == Anchor::left ? 0 : anchor == Anchor::middle ? 0.5 : 1;
        cairo_font_extents_t font;
        cairo_font_extents(pen(), &font);
        cairo_move_to(pen(), x - shift * extents.x_advance, y + (font.ascent - font.descent) / 2);
        cairo_show_text(pen(), words.c_str());
    }
    void upright_text(double x, double y, const std::string& words, double size) const {
        cairo_save(pen());
        cairo_translate(pen(), x, y);
        cairo_rotate(pen(), -1.5707963267948966);
        text(0, 0, words, size, Anchor::middle);
        cairo_restore(pen());
    }
    void line(double x0, double y0, double x1, double y1) const {
        cairo_move_to(pen(), x0, y0);
        cairo_line_to(pen(), x1, y1);
        cairo_stroke(pen());
    }
    /// Its lines lie on whole pixels.
    void frame(const Area& area) const {
        cairo_set_line_width(pen(), 1);
        cairo_rectangle(pen(), area.x - 0.5, area.y - 0.5, area.width + 1, area.height + 1);
        cairo_stroke(pen());
    }
    void title(const std::string& words, const Area& area) const {
        text(area.x + area.width / 2, area.y - top_margin / 2.0, words, title_size, Anchor::middle);
    }

    std::vector<std::byte> png() const {
        cairo_surface_flush(surface_.get());
        std::vector<std::byte> bytes;
        const cairo_status_t status = cairo_surface_write_to_png_stream(surface_.get(), append, &bytes);
        const cairo_status_t drawn = cairo_status(pen());
        if (status != CAIRO_STATUS_SUCCESS || drawn != CAIRO_STATUS_SUCCESS) {
            throw Error(Code::no_space,
                        fmt::format("cairo cannot draw the picture: {}",
                                    cairo_status_to_string(status != CAIRO_STATUS_SUCCESS ? status : drawn)));
        }
        return bytes;
    }

private:
    static cairo_status_t append(void* bytes, const unsigned char* data, unsigned length) noexcept {
        const auto more = std::as_bytes(std::span(data, length));
        auto& all = *static_cast<std::vector<std::byte>*>(bytes);
        all.insert(all.end(), more.begin(), more.end());
        return CAIRO_STATUS_SUCCESS;
    }
    Surface surface_;
    Context context_;
};

/// A date has the clock on a line of its own.
struct Lines {
    explicit Lines(const std::string& label) {
        const std::size_t clock = label.find('T');
        first = label.substr(0, clock);
        if (clock != std::string::npos) second = label.substr(clock + 1);
    }
    std::string first{};
    std::string second{};
};

/// Marks and labels to the left of an area or below it.
void draw_ticks_left(const Drawing& drawing, const Area& area, const std::vector<Scale::Tick>& ticks,
                     bool upwards) {
    for (const Scale::Tick& tick : ticks) {
        const double y = area.y + (upwards ? 1 - tick.position : tick.position) * area.height;
        drawing.line(area.x - tick_length, y, area.x, y);
        const Lines label(tick.label);
        const double above = label.second.empty() ? 0 : line_height / 2;
        drawing.text(area.x - tick_length - 4, y - above, label.first, label_size, Anchor::right);
        drawing.text(area.x - tick_length - 4, y + above, label.second, label_size, Anchor::right);
    }
}

void draw_ticks_below(const Drawing& drawing, const Area& area, const std::vector<Scale::Tick>& ticks) {
    const double floor = area.y + area.height;
    for (const Scale::Tick& tick : ticks) {
        const double x = area.x + tick.position * area.width;
        drawing.line(x, floor, x, floor + tick_length);
        const Lines label(tick.label);
        drawing.text(x, floor + tick_length + 10, label.first, label_size, Anchor::middle);
        drawing.text(x, floor + tick_length + 10 + line_height, label.second, label_size, Anchor::middle);
    }
}

void draw_names(const Drawing& drawing, const Area& area, const std::string& down,
                const std::string& across) {
    drawing.upright_text(area.x - left_margin + 14, area.y + area.height / 2, down, name_size);
    drawing.text(area.x + area.width / 2, area.y + area.height + 46, across, name_size, Anchor::middle);
}

/// One pixel for each cell, then as large as the area.
void draw_cells(const Drawing& drawing, const Area& area, const HeatMap& map) {
    const auto columns = static_cast<int>(map.raster.columns());
    const auto rows = static_cast<int>(map.raster.rows());
    const Surface image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, columns, rows), cairo_surface_destroy);
    const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(image.get()));
    unsigned char* data = cairo_image_surface_get_data(image.get());
    for (std::size_t row = 0; data != nullptr && row < map.raster.rows(); ++row) {
        auto* pixels = reinterpret_cast<std::uint32_t*>(data + row * stride);
        for (std::size_t column = 0; column < map.raster.columns(); ++column) {
            const Colour colour = colour_at(map.scale.position(map.mean_at(row, column)));
            pixels[column] = std::uint32_t{colour.red} << 16 | std::uint32_t{colour.green} << 8 | colour.blue;
        }
    }
    cairo_surface_mark_dirty(image.get());
    cairo_save(drawing.pen());
    cairo_translate(drawing.pen(), area.x, area.y);
    cairo_scale(drawing.pen(), area.width / columns, area.height / rows);
    cairo_set_source_surface(drawing.pen(), image.get(), 0, 0);
    cairo_pattern_set_filter(cairo_get_source(drawing.pen()), CAIRO_FILTER_NEAREST);
    cairo_rectangle(drawing.pen(), 0, 0, columns, rows);
    cairo_fill(drawing.pen());
    cairo_restore(drawing.pen());
}

void draw_colour_bar(const Drawing& drawing, const Area& area, const HeatMap& map) {
    constexpr int shades = 256;
    const auto paint = [&](Colour colour, const Area& part) {
        cairo_set_source_rgb(drawing.pen(), colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0);
        cairo_rectangle(drawing.pen(), part.x, part.y, part.width, part.height);
        cairo_fill(drawing.pen());
    };
    for (int i = 0; i < shades; ++i) {  // each reaches to the end, so that no white shows between two
        const double high = area.height * (1 - static_cast<double>(i) / shades);
        paint(colour_at((i + 0.5) / shades), {area.x, area.y, area.width, high});
    }
    drawing.ink();
    drawing.frame(area);
    for (const Scale::Tick& tick : map.scale.ticks(static_cast<int>(area.height) / 60)) {
        const double y = area.y + (1 - tick.position) * area.height;
        drawing.line(area.x + area.width, y, area.x + area.width + tick_length, y);
        drawing.text(area.x + area.width + tick_length + 4, y, tick.label, label_size, Anchor::left);
    }
    // What lies beyond an end has its colour, and so has the tip there.
    const auto tip = [&](double base, double end, Colour colour) {
        cairo_set_source_rgb(drawing.pen(), colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0);
        cairo_move_to(drawing.pen(), area.x, base);
        cairo_line_to(drawing.pen(), area.x + area.width / 2, end);
        cairo_line_to(drawing.pen(), area.x + area.width, base);
        cairo_fill_preserve(drawing.pen());
        drawing.ink();
        cairo_stroke(drawing.pen());
    };
    if (map.reaches_above()) tip(area.y, area.y - tip_length, colour_at(1));
    if (map.reaches_below()) tip(area.y + area.height, area.y + area.height + tip_length, colour_at(0));
    if (!map.unit.empty()) drawing.text(area.x, area.y - tip_length - 12, map.unit, name_size, Anchor::left);
    double y = area.y + area.height + tip_length + 12;
    if (!map.all.is_empty()) {
        drawing.text(area.x, y, fmt::format("all: {:.4g} to {:.4g}", map.all.low, map.all.high), label_size,
                     Anchor::left);
        y += 18;
    }
    if (map.has_gaps()) {
        const Area sample{area.x, y - 6, area.width, 12};
        paint(no_number, sample);
        drawing.ink();
        drawing.text(sample.x + sample.width + 6, y, "missing", label_size, Anchor::left);
    }
}

}  // namespace

void check_png() {}

Extents room_for_heat_map(const PngSize& size) {
    return {static_cast<std::size_t>(std::max(1, size.height - top_margin - bottom_margin)),
            static_cast<std::size_t>(std::max(1, size.width - left_margin - right_margin))};
}

std::size_t room_for_line(const PngSize& size) {
    return static_cast<std::size_t>(std::max(1, size.width - left_margin - narrow_right_margin));
}

std::vector<std::byte> png_of(const HeatMap& map, const PngSize& size) {
    const Extents room = room_for_heat_map(size);
    const Drawing drawing(size);
    const std::size_t beside = (room.columns - map.dots.columns) / 2;  // whole dots, or every edge is blurred
    const std::size_t above = (room.rows - map.dots.rows) / 2;
    const Area area{left_margin + static_cast<double>(beside), top_margin + static_cast<double>(above),
                    static_cast<double>(map.dots.columns), static_cast<double>(map.dots.rows)};
    draw_cells(drawing, area, map);
    drawing.ink();
    drawing.frame(area);
    drawing.title(map.title, area);
    draw_ticks_left(drawing, area, ticks_of(map.down, Along::cells, static_cast<int>(area.height) / 50),
                    false);
    draw_ticks_below(drawing, area, ticks_of(map.across, Along::cells, static_cast<int>(area.width) / 80));
    draw_names(drawing, area, map.down.label(), map.across.label());
    draw_colour_bar(drawing, {area.x + area.width + bar_gap, area.y, bar_width, area.height}, map);
    return drawing.png();
}

std::vector<std::byte> png_of(const LinePlot& plot, const PngSize& size) {
    const Drawing drawing(size);
    const Area area{left_margin, top_margin, static_cast<double>(room_for_line(size)),
                    static_cast<double>(std::max(1, size.height - top_margin - bottom_margin))};
    const auto down = plot.scale.ticks(static_cast<int>(area.height) / 60);
    const auto across = ticks_of(plot.across, Along::points, static_cast<int>(area.width) / 80);
    cairo_set_line_width(drawing.pen(), 1);
    drawing.ink(faint);
    for (const Scale::Tick& tick : down) {
        const double y = area.y + (1 - tick.position) * area.height;
        drawing.line(area.x, y, area.x + area.width, y);
    }
    for (const Scale::Tick& tick : across) {
        const double x = area.x + tick.position * area.width;
        drawing.line(x, area.y, x, area.y + area.height);
    }
    drawing.ink();
    drawing.frame(area);
    drawing.title(plot.title, area);
    draw_ticks_left(drawing, area, down, true);
    draw_ticks_below(drawing, area, across);
    draw_names(drawing, area, plot.unit, plot.across.label());
    const Colour colour = colour_at(0.25);
    cairo_set_source_rgb(drawing.pen(), colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0);
    cairo_set_line_width(drawing.pen(), 1.5);
    cairo_set_line_cap(drawing.pen(), CAIRO_LINE_CAP_ROUND);
    for (const LinePlot::Segment& s : plot.segments()) {
        cairo_move_to(drawing.pen(), area.x + s.x0 * area.width, area.y + (1 - s.y0) * area.height);
        cairo_line_to(drawing.pen(), area.x + s.x1 * area.width, area.y + (1 - s.y1) * area.height);
    }
    cairo_stroke(drawing.pen());
    return drawing.png();
}

}  // namespace pmemcpy::cli
