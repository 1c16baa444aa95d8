#pragma once

#include <cstdint>

namespace pmemcpy::cli {

struct Divided {
    std::int64_t quotient;
    std::int64_t rest;  // never negative
};

/// Rounded down, of negative numbers too.
inline Divided floor_divide(std::int64_t value, std::int64_t by) {
    const std::int64_t rest = value % by;
    if (rest < 0) return {value / by - 1, rest + by};
    return {value / by, rest};
}

}  // namespace pmemcpy::cli
