#pragma once

#include <cstddef>
#include <cstdint>

namespace pmemcpy::hold {

/// PMEMCPY_SEED, or the day; the first call prints it.
std::uint64_t drawn_seed();

/// PMEMCPY_LONG is set.
bool is_long();

/// Of so many things about the fraction `one_in`, others with each seed; all if is_long().
bool is_drawn(std::size_t number, std::size_t one_in);

}  // namespace pmemcpy::hold
