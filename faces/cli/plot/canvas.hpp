#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/plot/picture.hpp"

namespace pmemcpy::cli {

/// Dots on a plane of characters: with Unicode's braille 2 x 4 in each, else one, a star.
class Canvas {
public:
    Canvas(std::size_t columns, std::size_t rows, bool is_braille);

    void draw(const LinePlot::Segment& segment);
    /// The characters of one row.
    std::string line(std::size_t row) const;

private:
    void set(double x, double y);
    void append_braille(std::string& text, std::size_t row, std::size_t column) const;

    bool is_braille_;
    std::size_t columns_, width_, height_;
    std::vector<bool> dots_;
};

}  // namespace pmemcpy::cli
