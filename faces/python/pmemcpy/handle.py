"""The open pool behind all objects made of it, and how it travels to another process."""

from __future__ import annotations

from typing import Any

from . import _core


class Handle(_core.Pool):
    """A pool that knows how it was opened: unpickling opens it anew, in any process."""

    def __init__(self, path: str, mode: str, options: dict[str, Any]) -> None:
        super().__init__(path, mode, **options)
        self.path = path
        self.mode = mode
        self.options = options

    def __reduce__(self) -> Any:
        return Handle, (self.path, "r" if self.mode == "r" else "r+", self.options)
