"""Following stores of other processes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from . import _core
from .errors import InvalidArgumentError

_LONGEST = 3600.0 * 24


class Watch(Iterator[Any]):
    """Yields the object under a name each time that a process has stored it anew; None when it is erased.

    Changes while the caller looks at the last one count once. Ends when nothing has come for `timeout` seconds, if
    given.
    """

    def __init__(self, waiting: _core.Watch, found: Callable[[], Any], timeout: float | None) -> None:
        if timeout is not None and not timeout >= 0:
            raise InvalidArgumentError(f"a timeout of {timeout} seconds makes no sense")
        self._waiting = waiting
        self._found = found
        self._timeout = timeout

    def __next__(self) -> Any:
        end = math.inf if self._timeout is None else time.monotonic() + self._timeout
        while True:
            left = max(0.0, end - time.monotonic())
            if self._waiting.wait(min(left, _LONGEST)):
                return self._found()
            # The time is over, or a signal came that Python has handled.
            if left == 0.0:
                raise StopIteration
