"""The attributes of a variable, of a group, or of the pool, as a mapping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np

from . import _core, values
from .info import short


class Attributes(MutableMapping[str, Any]):
    """Named values beside a variable or group: numbers, text, small arrays, and JSON values.

    Crash: each one is set or removed whole. Erasing a variable removes its attributes.
    """

    def __init__(self, pool: _core.Pool, id: str) -> None:
        self._pool = pool
        self._id = id

    def __getitem__(self, name: str) -> Any:
        return values.decode(self._pool.get_attribute(self._id, name))

    def __setitem__(self, name: str, value: Any) -> None:
        self._pool.set_attribute(self._id, name, *_encoded(value))

    def update(  # type: ignore[override]  # one signature for its five
        self, other: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), /, **more: Any
    ) -> None:
        """Sets several attributes. Followers of the pool's changes (the index, a watch) are notified once.

        Crash: some first ones are set; for all or none, set them in a step.
        """
        several = dict(other, **more)
        self._pool.set_attributes(self._id, [(name, *_encoded(value)) for name, value in several.items()])

    def __delitem__(self, name: str) -> None:
        self._pool.remove_attribute(self._id, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._pool.attributes(self._id))

    def __len__(self) -> int:
        return len(self._pool.attributes(self._id))

    def __contains__(self, name: object) -> bool:
        return name in self._pool.attributes(self._id)

    def __repr__(self) -> str:
        return f"<attributes of {self._id!r}: {short(dict(self))}>"


def _encoded(value: Any) -> tuple[Any, str, Any]:
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, (int, float, np.number)) for v in value):
        array = values.array_of(value)  # netCDF's and HDF5's attributes of numbers are arrays
        value = value if array is None else array
    return values.encode(value)
