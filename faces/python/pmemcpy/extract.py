"""Attributes that are computed from the content of stored objects, in the background."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping
from typing import Any

from . import _core
from .info import Report

Function = Callable[[Any], Mapping[str, Any] | None]


class Extractor:
    """A thread that calls a function once for each content of each object that a query finds; see Pool.extract()."""

    def __init__(self, pool: _core.Pool, name: str, query: str, function: Function, opened: Callable[[], Any]) -> None:
        self._opened = opened
        self._function = function
        self._pool: Any = None
        self._extractor = _core.Extractor(pool, name, query, self._look)
        atexit.register(self.close)  # a thread that calls Python must end before Python does

    def wait(self) -> None:
        """Waits until everything stored before the call was looked at.

        Errors: UnsupportedError in a function of one.
        """
        self._extractor.wait()

    @property
    def info(self) -> Report:
        """looked_at, failed, and the trouble of the last error."""
        return Report(self._extractor.info())

    def close(self) -> None:
        """Waits for a running call of the function. The next extractor of this name looks at the rest.

        Errors: UnsupportedError in a function of one.
        """
        self._extractor.close()
        atexit.unregister(self.close)
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def __enter__(self) -> Extractor:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _look(self, id: str) -> None:
        # With a pool of this thread's own: it sees what others see, and no step that is not committed.
        if self._pool is None:
            self._pool = self._opened()
        found = self._pool[id]
        attributes = self._function(found)
        if attributes:
            found.attrs.update(attributes)
