"""The blocks of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .info import Report
from .selections import Shape

if TYPE_CHECKING:
    from .arrays import Array

NDArray = np.ndarray[Any, Any]


class Block:
    """One block of an array: the box that one store produced."""

    def __init__(self, array: Array, info: _core.BlockInfo) -> None:
        self._array = array
        self._info = info

    @property
    def info(self) -> Report:
        return Report(self._info)

    @property
    def key(self) -> tuple[slice, ...]:
        """The index of its elements in the array: `array[block.key]`."""
        lies = zip(self._info.offset, self._info.count, self._info.stride, strict=True)
        return tuple(slice(first, first + (n - 1) * step + 1 if n else first, step) for first, n, step in lies)

    @property
    def shape(self) -> Shape:
        return self._info.count

    @property
    def minimum(self) -> Any:
        """The smallest element, None where that was not recorded."""
        return self._limit(self._info.minimum)

    @property
    def maximum(self) -> Any:
        """The largest element, None where that was not recorded."""
        return self._limit(self._info.maximum)

    def load(self) -> NDArray:
        """Loads a copy of the array's present elements in this block's box."""
        loaded: NDArray = self._array.load(self.key)
        return loaded

    def view(self) -> NDArray:
        """Shows this block's box, as Array.view(). Errors: UnsupportedError when newer blocks cover part of it."""
        return self._array.view(self.key)

    def __repr__(self) -> str:
        return f"<pmemcpy block of {self._array.name!r}: {self._info.size_bytes} bytes, shape {self.shape}>"

    def _limit(self, raw: bytes) -> Any:
        if not self._info.has_range:
            return None
        dtype = self._array._element.stored.base
        return np.frombuffer(raw[: dtype.itemsize], dtype)[0]
