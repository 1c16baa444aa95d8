"""Loads and stores by arrays of indices and masks, made of loads and stores of boxes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .selections import Hyperslab

NDArray = np.ndarray[Any, Any]

MOST_BOXES = 256
# What a box of its own costs a load, in bytes that are copied meanwhile.
_BOX_BYTES = 64 << 10


class _Boxes:
    """Boxes that have nothing but the elements at these places, which are sorted and differ."""

    def __init__(self, slab: Hyperslab, places: NDArray) -> None:
        self._slab = slab
        self._places = places
        self._rows = [np.asarray(side) for side in np.unravel_index(places, slab.count)] if places.size else []
        self._grid = self._as_grid()
        self._begins = [] if self._grid else self._lines()

    def __len__(self) -> int:
        return math.prod(map(len, self._grid)) if self._grid else len(self._begins)

    def each(self, elements: NDArray) -> Iterator[tuple[Hyperslab, NDArray]]:
        """Each box, and a view of its part of `elements`, in which those of all places lie one behind the other."""
        if self._grid:
            lengths = [sum(count for _, count, _ in runs) for runs in self._grid]
            whole = elements.reshape(*lengths, *elements.shape[1:])
            parts = [list(_with_place(runs)) for runs in self._grid]
            for part in itertools.product(*parts):
                yield self._box([run for run, _ in part]), whole[tuple(place for _, place in part)]
            return
        for first, end in itertools.pairwise([*self._begins, len(self._places)]):
            *row, last = ((int(side[first]), 1, 1) for side in self._rows)
            box = self._box([*row, (last[0], end - first, 1)])
            yield box, elements[first:end].reshape(*box.count, *elements.shape[1:])

    def _box(self, runs: list[tuple[int, int, int]]) -> Hyperslab:
        offset, stride = self._slab.offset, self._slab.stride
        offset = tuple(at + first * wide for (first, _, _), at, wide in zip(runs, offset, stride, strict=True))
        stride = tuple(step * wide for (_, _, step), wide in zip(runs, stride, strict=True))
        return Hyperslab(offset, tuple(count for _, count, _ in runs), stride, None)

    def _as_grid(self) -> list[list[tuple[int, int, int]]]:
        """The runs along each dimension, where all their crossings are meant, as with rows and columns; else none."""
        sides = [np.unique(side) for side in self._rows]
        if not sides or math.prod(map(len, sides)) != len(self._places):
            return []
        return [list(_runs(side)) for side in sides]

    def _lines(self) -> list[int]:
        """Where elements that lie in another row than those before, or not behind them, begin."""
        if not self._rows:
            return []
        *rows, last = self._rows
        is_new = np.diff(last) != 1
        for side in rows:
            is_new |= np.diff(side) != 0
        return [0, *(np.flatnonzero(is_new) + 1).tolist()]


class Scattered:
    """The elements that arrays of indices mean, and what is to be stored in them; of one named twice the last counts.

    Errors: ValueError for a source that cannot be broadcast to them.
    """

    def __init__(self, slab: Hyperslab, source: NDArray, stored: np.dtype[Any]) -> None:
        sides = _meant(slab)
        wanted = sides[0].shape + stored.shape
        while source.ndim > len(wanted) and source.shape[0] == 1:  # which numpy leaves out too
            source = source[0]
        given = np.broadcast_to(source, wanted).reshape(-1, *stored.shape).astype(stored.base, copy=False)
        places, last = np.unique(_numbered(sides, slab)[::-1], return_index=True)
        self._elements = given[::-1][last]
        self._boxes = _Boxes(slab, places)

    @property
    def boxes(self) -> int:
        """How many stores it takes."""
        return len(self._boxes)

    def each(self) -> Iterator[tuple[Hyperslab, NDArray]]:
        """The boxes that have nothing but these elements, and what goes into each."""
        return self._boxes.each(self._elements)


def gathered(slab: Hyperslab, stored: np.dtype[Any], load: Callable[[Hyperslab], NDArray]) -> NDArray | None:
    """The elements that arrays of indices mean, from a few boxes; None where the smallest box around is as quick."""
    size_bytes = math.prod(slab.count) * stored.itemsize
    if slab.is_regular or size_bytes < 2 * _BOX_BYTES or 4 * math.prod(slab.shape) > math.prod(slab.count):
        return None
    sides = _meant(slab)
    places, number = np.unique(_numbered(sides, slab), return_inverse=True)
    boxes = _Boxes(slab, places)
    if len(boxes) > MOST_BOXES or len(boxes) * _BOX_BYTES > size_bytes:
        return None
    found = np.empty((len(places), *stored.shape), stored.base)
    for box, part in boxes.each(found):
        part[...] = load(box)
    return found[number.reshape(sides[0].shape)]


def _numbered(sides: list[NDArray], slab: Hyperslab) -> NDArray:
    if sides[0].size == 0:
        return np.empty(0, int)
    return np.ravel_multi_index([side.ravel() for side in sides], slab.count)


def _meant(slab: Hyperslab) -> list[NDArray]:
    """Where in the box each element is that the indices mean: its place along each dimension."""
    then: list[Any] = []
    places: list[NDArray] = []  # that are meant at all; of arrays of indices these may be few in a large box
    for index in slab.then or ():
        if isinstance(index, np.ndarray):
            few, number = np.unique(index, return_inverse=True)
            places.append(few)
            then.append(number.reshape(index.shape))
            continue
        if index is not None and index is not Ellipsis:
            places.append(np.arange(slab.count[len(places)]))
        then.append(index)
    shape = tuple(map(len, places))
    return [np.broadcast_to(side, shape)[tuple(then)] for side in np.ix_(*places)]


def _runs(places: NDArray) -> Iterator[tuple[int, int, int]]:
    """First, number and step of places that are evenly apart, taken greedily."""
    first = 0
    while first < len(places):
        end = first + 1
        step = int(places[end] - places[first]) if end < len(places) else 1
        while end < len(places) and places[end] - places[end - 1] == step:
            end += 1
        yield int(places[first]), end - first, step if end - first > 1 else 1
        first = end


def _with_place(runs: list[tuple[int, int, int]]) -> Iterator[tuple[tuple[int, int, int], slice]]:
    """Each run, and where its elements are among those of all."""
    end = 0
    for run in runs:
        yield run, slice(end, end + run[1])
        end += run[1]
