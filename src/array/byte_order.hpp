#pragma once

#include <pmemcpy/type.hpp>
#include <span>

namespace pmemcpy::array {

/// Turns every number of `type` in these elements, in place, to the other byte order. `type` has a fixed
/// size, and `elements` holds whole elements. Text, opaque bytes and single bytes stay.
void swap_bytes(const Type& type, std::span<std::byte> elements);

}  // namespace pmemcpy::array
