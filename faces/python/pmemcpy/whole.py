"""What is stored whole under a name: as a new array, or into one of its shape that is there."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import casts, masked, values

NDArray = np.ndarray[Any, Any]


def as_array(data: Any) -> NDArray | None:
    """What is to be an array of its own; None for values."""
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, (list, tuple)) and data:
        return values.array_of(data)
    if not isinstance(data, np.generic) and hasattr(data, "__array__"):
        return np.asarray(data)
    return None


def storable(array: NDArray, name: str) -> tuple[NDArray, np.dtype[Any], Any]:
    """The elements as a new array keeps them, the dtype to create it with, and what it has in masked places, if any.

    Errors: InvalidArgumentError for masked elements without such a value, and for text that is missing.
    """
    fill = None
    if isinstance(array, np.ma.MaskedArray):
        array, fill = masked.filled(array, name, masked.fill_of(array))
    array = casts.text_of(array)
    if array.dtype.kind == "U" and array.size:  # as many bytes as it needs, and no fewer than characters
        characters = array.dtype.itemsize // 4
        array = np.char.encode(array, "utf-8")
        return array, np.dtype(f"U{-(-max(1, characters, array.dtype.itemsize) // 4)}"), fill
    return array, array.dtype, fill


def order_of(array: NDArray) -> str:
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
