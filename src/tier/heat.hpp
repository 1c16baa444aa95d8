#pragma once

#include "tier/placement.hpp"

#include <pmemcpy/tiers.hpp>

#include <cstdint>

namespace pmemcpy::tier {

/// What is left of a number of reads after a while: half of it after each half-life. So what is read often and lately counts most, and
/// nothing has to be forgotten at once.
double faded(double reads, double age_s, double half_life_s);

/// Hotness as equation (3) takes it, of so many reads that have faded: min(7, floor(log2(1 + reads))). Shape: 0 for less than one, 1 from one
/// on, 2 from 3, 3 from 7, and so on up to most_heat from 127.
std::uint32_t score_of(double reads);

/// What an application has said of a block.
enum class Need : std::uint8_t {
    unknown,
    soon,     ///< it is going to be read
    no_more,  ///< it is not
};

/// What is known of a block when it is decided which one leaves its target first.
struct Past {
    Need need = Need::unknown;
    double reads = 0;           // faded until now
    std::uint64_t used_ms = 0;  // when it was last read, or else stored
    std::uint64_t step = 0;     // in which it was stored; 0: in none
    std::uint64_t placed = 0;   // rises with each block that comes to a target
};

/// Whether a leaves before b. What the application has said comes first; under Policy::hot_data then the score; then the replacement; then
/// who came first. A strict weak order.
bool leaves_before(Policy policy, Replacement replacement, const Past& a, const Past& b);

}  // namespace pmemcpy::tier
