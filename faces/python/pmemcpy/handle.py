"""The open pool behind all objects made of it, and how it travels to another process."""

from __future__ import annotations

from typing import Any

from . import _core
from .errors import PoolNotFoundError


class Handle(_core.Pool):
    """A pool that knows how it was opened: unpickling opens it anew, in any process."""

    def __init__(self, path: str, mode: str, options: dict[str, Any], again: Handle | None = None) -> None:
        super().__init__(path, mode, again=again, **options)
        self.path = path
        self.mode = mode
        self.options = options
        self.pool_uuid = self.uuid

    def again(self) -> Handle:
        """The same pool, open once more. Errors: BusyError when its path leads to another pool by now."""
        options = {"program": self.options.get("program", ""), "verify_loads": True}
        return Handle(self.path, "r+", options, self)

    def __reduce__(self) -> Any:
        return _opened, (self.path, "r" if self.mode == "r" else "r+", self.options, self.pool_uuid)


def _opened(path: str, mode: str, options: dict[str, Any], uuid: bytes) -> Handle:
    handle = Handle(path, mode, options)
    if handle.pool_uuid == uuid:
        return handle
    handle.close()
    raise PoolNotFoundError(f"the pool that was pickled is not at {path} any more: another pool is there")
