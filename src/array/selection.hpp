#pragma once

#include <optional>
#include <pmemcpy/box.hpp>

namespace pmemcpy::array {

/// Throws unless `selection` lies inside an array of shape `dims`. The message names the dimension and both
/// numbers. A first dimension of `unlimited` may be exceeded: that is how stores grow an array; a load passes
/// the extent that the array has now. Errors: invalid_argument for a wrong number of dimensions, a stride of
/// 0, more than 2^64 elements; out_of_range for an element outside.
void validate(const Selection& selection, const Dimensions& dims);

/// The smallest box that holds every selected element.
Box bounding_box(const Selection& selection);

/// One past the last index that is selected in a dimension; the offset if none is.
Extent end_of(const Selection& selection, int dimension);

/// A selection has an index space of its own: the box from 0 to `count` in each dimension, which is also the
/// shape of the user's buffer. These say which part of `wanted`'s index space lies in `block`; nullopt if
/// none. A block that was itself stored with a stride leaves every n-th element: a selection.
std::optional<Box> covered(const Selection& wanted, const Box& block);
std::optional<Selection> covered(const Selection& wanted, const Selection& block);

/// From the index space of `outer` back to the array: the elements of `outer` that `inner` picks.
Selection compose(const Selection& outer, const Selection& inner);

/// Fortran order is C order with the dimensions reversed.
Dimensions reversed(const Dimensions& dims);
Box reversed(const Box& box);
Selection reversed(const Selection& selection);

}  // namespace pmemcpy::array
