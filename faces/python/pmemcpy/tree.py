"""A drawing of what is in a group."""

from __future__ import annotations

from typing import Any

from . import _core
from .info import described


class Tree:
    """Prints as a tree of the names below a group, with types, shapes and sizes."""

    def __init__(self, pool: _core.Pool, id: str) -> None:
        self._root = id
        prefix = "" if id == "/" else id + "/"
        self._below: dict[str, Any] = {}
        for group in pool.groups(prefix):
            self._node(group[len(prefix) :])
        for name in pool.ids(prefix):
            parent, _, last = name[len(prefix) :].rpartition("/")
            try:
                self._node(parent)[last] = described(pool.info(name))
            except LookupError:
                continue  # erased since it was listed

    def _node(self, path: str) -> dict[str, Any]:
        node = self._below
        for part in filter(None, path.split("/")):
            node = node.setdefault(part, {})
        return node

    def __repr__(self) -> str:
        return "\n".join([self._root, *_lines(self._below, "")])


def _lines(node: dict[str, Any], margin: str) -> list[str]:
    lines = []
    for i, (name, below) in enumerate(sorted(node.items())):
        is_last = i == len(node) - 1
        is_group = isinstance(below, dict)
        lines.append(f"{margin}{'└── ' if is_last else '├── '}{name}" + ("/" if is_group else f"  {below}"))
        if is_group:
            lines.extend(_lines(below, margin + ("    " if is_last else "│   ")))
    return lines
