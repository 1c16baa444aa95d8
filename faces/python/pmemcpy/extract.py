"""Attributes from the content of what is stored, set in the background."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping
from typing import Any

from . import _core
from .info import Report

Function = Callable[[Any], Mapping[str, Any] | None]


class Extractor:
    """A thread that calls a function once for each content of each object that a query finds; see Pool.extract()."""

    def __init__(self, path: str, name: str, query: str, function: Function, opened: Callable[[], Any]) -> None:
        self._opened = opened
        self._function = function
        self._pool: Any = None
        self._extractor = _core.Extractor(path, name, query, self._look)
        atexit.register(self.close)  # a thread that calls Python must end before Python does

    def wait(self) -> None:
        """Until all that was stored before the call was looked at."""
        self._extractor.wait()

    @property
    def info(self) -> Report:
        """looked_at, failed, and of the last error the trouble."""
        return Report(self._extractor.info())

    def close(self) -> None:
        """Waits for the call of the function that is under way. What was not looked at the next extractor does."""
        atexit.unregister(self.close)
        self._extractor.close()
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
