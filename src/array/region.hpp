#pragma once

#include <optional>
#include <pmemcpy/box.hpp>
#include <vector>

namespace pmemcpy::array {

/// What both boxes hold; nullopt if that is nothing.
std::optional<Box> intersect(const Box& a, const Box& b);

/// True if `outer` holds every element of `inner`.
bool contains(const Box& outer, const Box& inner);

/// Appends to `out` disjoint boxes, at most two per dimension, that hold what is in `a` and not in `b`.
void subtract(const Box& a, const Box& b, std::vector<Box>& out);

/// The same for selections, where `b` is a part of `a`: it picks some of a's elements, whose strides are
/// multiples of a's. A strided `b` leaves the elements between as up to `multiple - 1` further selections per
/// dimension.
void subtract_part(const Selection& a, const Selection& b, std::vector<Selection>& out);

}  // namespace pmemcpy::array
