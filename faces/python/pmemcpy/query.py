"""Questions to a pool: what in it has these attributes, this type, these values?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .arrays import Array
from .info import Report

if TYPE_CHECKING:
    import pandas
    import xarray

_SHOWN = 10

Box = tuple[slice, ...]


class Found(Iterable[Any]):
    """The result of a query. Each iteration asks anew, and yields objects as they are found.

    Example: for u in pool.find('units = "K" and max > 300'): print(u.name, u[...].mean())
    """

    def __init__(self, pool: _core.Pool, group: str, query: str, opened: Callable[[str], Any]) -> None:
        _core.check_query(query)
        self._pool = pool
        self._group = group
        self._query = query
        self._opened = opened

    def __iter__(self) -> Iterator[Any]:
        """Arrays, values and groups."""
        for found, _ in self._each():
            yield found

    def boxes(self) -> Iterator[tuple[Array, list[Box]]]:
        """Yields arrays with the boxes of the elements that a comparison of `value` found, one box for each block.

        Example: for u, boxes in pool.find("value > 300").boxes(): hot = [u[box] for box in boxes]
        """
        for found, boxes in self._each():
            if isinstance(found, Array):
                yield (
                    found,
                    [
                        tuple(slice(first, first + n) for first, n in zip(offset, count, strict=True))
                        for offset, count in boxes
                    ],
                )

    @property
    def ids(self) -> list[str]:
        """Returns only the ids, far faster than iterating over the objects."""
        return _core.find_ids(self._pool, self._query, self._group)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a table with a row for each object: its id, its properties, and all attributes that any of them
        has.
        """
        import pandas

        rows, ids = [], []
        for info, _ in self._infos():
            known = Report(info)
            row = {name: getattr(known, name) for name in ("kind", "size_bytes", "blocks", "step")}
            row["dtype"] = None if row["kind"] == "group" else info.type.name
            row["shape"] = tuple(info.dims) if row["kind"] == "array" else None
            row["changed"] = known.written_ns
            creation = Report(self._pool.creation(info.id))
            row["created"], row["creator"], row["program"] = creation.created_ns, creation.user, creation.program
            found = self._opened(info.id)
            if found is not None:
                row.update({f"attrs.{name}": _cell(value) for name, value in found.attrs.items()})
            rows.append(row)
            ids.append(info.id)
        return pandas.DataFrame(rows, index=pandas.Index(ids, name="id"))

    def to_xarray(self) -> xarray.Dataset:
        """The arrays and plain values as one dataset of lazy variables, each by its id, decoded by CF.

        Errors: ValueError where dimensions of one name have different lengths.
        """
        from .xarray import dataset_of

        return dataset_of(list(self))

    def explain(self) -> str:
        """Explains how the query is answered: what the index tells, and how many objects are left to look at."""
        return _core.explain(self._pool, self._query, self._group)

    def __repr__(self) -> str:
        first = [repr(found) for found in islice(self, _SHOWN + 1)]
        more = "\n..." if len(first) > _SHOWN else ""
        return f"<pmemcpy find {self._query!r}>" + "".join(f"\n{line}" for line in first[:_SHOWN]) + more

    # ---- inside ----

    def _infos(self) -> Iterator[tuple[_core.Info, Any]]:
        finding = _core.Finding(self._pool, self._query, self._group)
        while (found := finding.next()) is not None:
            yield found

    def _each(self) -> Iterator[tuple[Any, Any]]:
        for info, boxes in self._infos():
            found = self._opened(info.id)
            if found is not None:  # else it was erased just now
                yield found, boxes


def counted(pool: _core.Pool, group: str, query: str) -> int | dict[Any, int]:
    rows = _core.counts(pool, query, group)
    if not _core.is_count(query):
        return rows[0][1]
    return {_value(value): objects for value, objects in rows}


def _value(value: Any) -> Any:
    return np.datetime64(str(value)) if isinstance(value, _core.Time) else value


def _cell(value: Any) -> Any:
    """A list as an object of its own, or a table takes it for a column."""
    return value.tolist() if isinstance(value, np.ndarray) else value
