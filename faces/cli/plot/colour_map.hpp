#pragma once

#include <cstdint>

namespace pmemcpy::cli {

struct Colour {
    std::uint8_t red = 0, green = 0, blue = 0;
    friend bool operator==(const Colour&, const Colour&) noexcept = default;
};

/// What is no number: a grey, which the map below has none of.
inline constexpr Colour no_number{150, 150, 150};

/// The colour of a position from 0 to 1: dark to light through blue and green, even to the eye, in print, and to those who
/// see no red or green. NaN: no_number.
/// Source: viridis, by S. van der Walt and N. Smith for matplotlib (2015); straight lines between nine of its colours.
Colour colour_at(double position);

/// The same, as a number of the colours of a terminal that has 256.
int terminal_colour_at(double position);

}  // namespace pmemcpy::cli
