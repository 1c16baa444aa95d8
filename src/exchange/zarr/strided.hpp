#pragma once

#include <cstddef>
#include <cstdint>
#include <pmemcpy/box.hpp>

namespace pmemcpy::exchange {

/// How far apart, in elements, neighbours along each dimension are in a dense array in C order.
Dimensions steps_of(const Dimensions& shape);

/// Copies `count` elements of `width` bytes from one place in an array to one in another, whose neighbours are so many elements
/// apart.
void copy_strided(const std::byte* from, const Dimensions& from_steps, std::byte* to,
                  const Dimensions& to_steps, const Dimensions& count, std::uint64_t width);

}  // namespace pmemcpy::exchange
