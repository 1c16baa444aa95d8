"""Common parts of arrays and values: name, attributes, properties, and the value."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, values
from .attributes import Attributes
from .info import Report, short


class Variable:
    """Something with a name in a pool that holds data."""

    def __init__(self, pool: _core.Pool, id: str) -> None:
        self._pool = pool
        self._id = id

    @property
    def name(self) -> str:
        """Its id in the pool."""
        return self._id

    @property
    def attrs(self) -> Attributes:
        return Attributes(self._pool, self._id)

    @property
    def info(self) -> Report:
        """Its properties, without reading its data."""
        return Report(self._pool.info(self._id))

    @property
    def creation(self) -> Report:
        """Its creator and time: created_ns, user, host, program, ranks (0: not an MPI program)."""
        return Report(self._pool.creation(self._id))


class Value(Variable):
    """A stored scalar, text or structure. `v[()]` is the value; `v["key"]` and `v[0]` are taken from it."""

    @property
    def value(self) -> Any:
        """The stored value or its nearest in Python, as values.py tells."""
        return values.decode(self._pool.load_value(self._id))

    @property
    def raw(self) -> bytes:
        """Its bytes as stored."""
        return bytes(self._pool.load_value(self._id)[2])

    def __getitem__(self, key: Any) -> Any:
        whole = self.value
        return whole if key == () or key is Ellipsis else whole[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self.value, dtype)

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __str__(self) -> str:
        """Of numbers and text they themselves; of what can be large no more than a person reads."""
        value = self.value
        return short(value) if isinstance(value, (dict, list, bytes, np.ndarray)) else str(value)

    def __repr__(self) -> str:
        return f"<pmemcpy value {self._id!r}: {short(self.value)}>"

    def __reduce__(self) -> Any:
        return Value, (self._pool, self._id)
