#include "cli/plot/canvas.hpp"

#include <algorithm>
#include <cmath>

namespace pmemcpy::cli {

Canvas::Canvas(std::size_t columns, std::size_t rows, bool is_braille)
    : is_braille_(is_braille),
      columns_(columns),
      width_(columns * (is_braille ? 2 : 1)),
      height_(rows * (is_braille ? 4 : 1)),
      dots_(width_ * height_) {}

void Canvas::draw(const LinePlot::Segment& s) {
    const auto right = static_cast<double>(width_ - 1), floor = static_cast<double>(height_ - 1);
    const double x0 = s.x0 * right, x1 = s.x1 * right;
    const double y0 = (1 - s.y0) * floor, y1 = (1 - s.y1) * floor;
    const double steps = std::max(1.0, std::ceil(std::max(std::abs(x1 - x0), std::abs(y1 - y0))));
    for (double i = 0; i <= steps; ++i) set(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps);
}

void Canvas::set(double x, double y) {
    const auto column = std::min(static_cast<std::size_t>(std::lround(x)), width_ - 1);
    const auto row = std::min(static_cast<std::size_t>(std::lround(y)), height_ - 1);
    dots_[row * width_ + column] = true;
}

std::string Canvas::line(std::size_t row) const {
    std::string text;
    for (std::size_t column = 0; column < columns_; ++column) {
        if (is_braille_) {
            append_braille(text, row, column);
        } else {
            text += dots_[row * width_ + column] ? '*' : ' ';
        }
    }
    return text;
}

// Unicode's patterns from U+2800 on have a bit for each dot: down the left side, down the right one, then the last row.
void Canvas::append_braille(std::string& text, std::size_t row, std::size_t column) const {
    constexpr unsigned bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    unsigned pattern = 0;
    for (std::size_t y = 0; y < 4; ++y) {
        for (std::size_t x = 0; x < 2; ++x) {
            if (dots_[(row * 4 + y) * width_ + column * 2 + x]) pattern |= bits[y][x];
        }
    }
    if (pattern == 0) {
        text += ' ';
        return;
    }
    text += '\xe2';
    text += static_cast<char>(0xa0 | pattern >> 6);
    text += static_cast<char>(0x80 | (pattern & 0x3f));
}

}  // namespace pmemcpy::cli
