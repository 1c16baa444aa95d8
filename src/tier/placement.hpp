#pragma once

#include "tier/hierarchy.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pmemcpy::tier {

/// Hotness of data: 0, never read again, to this.
inline constexpr std::uint32_t most_heat = 7;

/// A target as a decision sees it, in the letters of the paper's appendix.
struct Level {
    double bytes_per_second = 1;  // BW
    double latency_s = 1;         // A
    std::uint64_t capacity = 0;
    std::uint64_t remaining = 0;  // C, and R: of its capacity, what nothing lies in
    std::uint64_t movable = 0;    // what lies there and may go to the next one
    std::uint32_t heat = 0;       // H: the least of what lies there
    bool has_unit = false;        // L: part of the same variable lies there
};

/// All targets of a pool, the fastest first. Those that take nothing at present have no capacity.
using Ledger = std::span<const Level>;

struct Request {
    std::uint64_t bytes = 0;       // s
    std::uint32_t dispersion = 0;  // d: in how many targets the variable lies
    std::uint32_t heat = 0;        // h
    bool is_divisible = true;      // whether parts of it may lie in several targets
};

/// What is to be done, in this order, for a request to have its place.
struct Plan {
    enum class What : std::uint8_t { make_room, place };
    struct Step {
        What what;
        std::uint8_t level;
        std::uint64_t bytes;  // make_room: so many are to leave the level, for the next one
    };
    double cost = 0;  // infinite where there is no place
    std::array<Step, 2 * most_targets> steps{};
    std::size_t size = 0;

    bool is_possible() const;
    std::span<const Step> list() const { return {steps.data(), size}; }
};

/// Decides by one of the equations (1), (2), (3) of the appendix, by dynamic programming over what is still to be placed and where the
/// walk down the targets has come. Pure: nothing is remembered between calls. user_defined takes the first target with room.
///
/// The printed equations have lost their rows. They are read here after Algorithm 1 (PlaceData, skip, split, flush); placement.cpp
/// repeats each as it is understood. Where the request does not fit, capacity is counted in whole pieces of `granularity`, of which
/// a split leaves no part.
Plan decide(Policy policy, Ledger ledger, const Request& request, std::uint64_t granularity = 1);

/// What it costs to move bytes out of the level above `level` into it, which has itself to make room first, and so on down.
/// Infinite where they find no place.
double cost_of_moving(Policy policy, Ledger ledger, std::size_t level, std::uint64_t bytes);

}  // namespace pmemcpy::tier
