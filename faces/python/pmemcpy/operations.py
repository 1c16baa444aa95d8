"""Operations on arrays after each store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from .casts import fitted
from .dtypes import element_of, stored_element

Operation = Callable[[np.ndarray[Any, Any]], Any]
_Array = tuple[_core.Type, tuple[int, ...], bytes]


def calling(function: Operation) -> Callable[[_core.Type, tuple[int, ...], bytes], _Array]:
    """What the library calls for a function of numpy's arrays."""

    def call(type_: _core.Type, dims: tuple[int, ...], data: bytes) -> _Array:
        element = stored_element(type_)
        given = element.decoded(np.frombuffer(data, element.stored).reshape(dims))
        given.flags.writeable = False
        made = np.asarray(function(given))
        becomes = element_of(made.dtype)
        dense = np.ascontiguousarray(fitted(becomes.type, made), dtype=becomes.stored)
        return becomes.type, made.shape, dense.tobytes()

    return call
