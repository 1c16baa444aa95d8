"""From what stands in brackets, as in numpy, to the hyperslab that the library moves and what is left to do after."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

import numpy as np

from .errors import OutOfRangeError

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Hyperslab:
    """`count` elements in each dimension, `stride` apart, the first at `offset`; `then` is the index that makes of them
    what was asked for, None when that is they themselves."""

    offset: Shape
    count: Shape
    stride: Shape
    then: tuple[Any, ...] | None

    @property
    def is_regular(self) -> bool:
        """Whether no arrays of indices are in it, so that it can be stored into."""
        return self.then is None or not any(isinstance(index, np.ndarray) for index in self.then)

    @property
    def shape(self) -> Shape:
        """Of what was asked for."""
        if self.then is None:
            return self.count
        shape: Shape = np.broadcast_to(np.int8(0), self.count)[self.then].shape
        return shape


def whole(shape: Shape) -> Hyperslab:
    """All of an array."""
    return Hyperslab((0,) * len(shape), shape, (1,) * len(shape), None)


def select(key: Any, shape: Shape) -> Hyperslab:
    """The hyperslab of `array[key]` in an array of this shape.

    Arrays of indices, and of booleans, take the smallest box that has them all, and pick from it.
    Errors: OutOfRangeError (an IndexError), IndexError for what numpy refuses too.
    """
    if key is Ellipsis:
        return whole(shape)
    offset, count, stride = [], [], []
    then: list[Any] = []
    dimension = 0
    for index in _expanded(key, len(shape)):
        if index is None:
            then.append(None)
            continue
        extent = shape[dimension]
        after: Any
        if isinstance(index, slice):
            first, number, step, after = _of_slice(index, extent)
        elif isinstance(index, np.ndarray):
            first, number, step, after = _of_array(index, extent, dimension)
        else:
            first, number, step, after = _place(index, extent, dimension), 1, 1, 0
        offset.append(first)
        count.append(number)
        stride.append(step)
        then.append(after)
        dimension += 1
    # numpy gives the element itself where every index is a number, and an array where there is an ellipsis.
    if _has_ellipsis(key) and all(after == 0 for after in then if not isinstance(after, (slice, np.ndarray))):
        then.append(Ellipsis)
    trivial = all(isinstance(after, (slice, EllipsisType)) and after in (slice(None), Ellipsis) for after in then)
    if trivial and (then or _has_ellipsis(key)):
        return Hyperslab(tuple(offset), tuple(count), tuple(stride), None)
    return Hyperslab(tuple(offset), tuple(count), tuple(stride), tuple(then))


def _has_ellipsis(key: Any) -> bool:
    return key is Ellipsis or (isinstance(key, tuple) and any(index is Ellipsis for index in key))


def _expanded(key: Any, dimensions: int) -> list[Any]:
    """One index for each dimension, and None for each new axis; masks as arrays of indices."""
    indices: list[Any] = []
    for index in key if isinstance(key, tuple) else (key,):
        if index is None or index is Ellipsis or isinstance(index, slice):
            indices.append(index)
            continue
        if isinstance(index, (bool, np.bool_)):
            raise IndexError("a single boolean is no index here; use a mask of the array's shape, or an if")
        if isinstance(index, (list, np.ndarray)) and np.ndim(index) > 0:
            array = np.asarray(index)
            if array.size == 0 and array.dtype.kind == "f":
                array = array.astype(np.intp)  # an empty list
            if array.dtype.kind == "b":
                indices.extend(_Mask(part, extent) for part, extent in zip(array.nonzero(), array.shape, strict=True))
            elif array.dtype.kind in "iu":
                indices.append(array)
            else:
                raise IndexError(f"arrays used as indices must be of integers or booleans, not {array.dtype}")
            continue
        try:
            indices.append(operator.index(index))
        except TypeError:
            raise IndexError(
                "only integers, slices, `...`, None and arrays of integers or booleans are indices, "
                f"not {type(index).__name__}"
            ) from None
    given = sum(index is not None and index is not Ellipsis for index in indices)
    ellipses = sum(index is Ellipsis for index in indices)
    if ellipses > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if given > dimensions:
        raise IndexError(f"too many indices: the array is {dimensions}-dimensional, but {given} were given")
    at = next((i for i, index in enumerate(indices) if index is Ellipsis), len(indices))
    indices[at : at + ellipses] = [slice(None)] * (dimensions - given)
    return indices


class _Mask(np.ndarray[Any, Any]):
    """The indices that a mask means in one dimension, with the extent that the mask has there."""

    extent: int

    def __new__(cls, indices: np.ndarray[Any, Any], extent: int) -> _Mask:
        mask = indices.view(cls)
        mask.extent = extent
        return mask

    def __array_finalize__(self, other: Any) -> None:
        self.extent = getattr(other, "extent", -1)


def _of_slice(index: slice, extent: int) -> tuple[int, int, int, slice]:
    first, end, step = index.indices(extent)
    number = len(range(first, end, step))
    if number == 0:
        return 0, 0, 1, slice(None)
    if step < 0:
        return first + (number - 1) * step, number, -step, slice(None, None, -1)
    return first, number, step if number > 1 else 1, slice(None)


def _of_array(index: np.ndarray[Any, Any], extent: int, dimension: int) -> tuple[int, int, int, np.ndarray[Any, Any]]:
    if isinstance(index, _Mask):
        if index.extent != extent:
            raise IndexError(
                f"the mask does not match the array: dimension {dimension} is {extent}, but the mask has {index.extent}"
            )
        index = np.asarray(index)
    if index.size == 0:
        return 0, 0, 1, index
    places = np.where(index < 0, index + extent, index)
    least, greatest = int(places.min()), int(places.max())
    for place, given in ((least, index.min()), (greatest, index.max())):
        if not 0 <= place < extent:
            raise OutOfRangeError(f"index {given} is out of bounds for dimension {dimension} with size {extent}")
    return least, greatest - least + 1, 1, places - least


def _place(index: int, extent: int, dimension: int) -> int:
    place = index + extent if index < 0 else index
    if not 0 <= place < extent:
        raise OutOfRangeError(f"index {index} is out of bounds for dimension {dimension} with size {extent}")
    return place
