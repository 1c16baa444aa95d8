"""A drawing of what is in a group."""

from __future__ import annotations

from typing import Any

from . import _core
from .info import described


def below(pool: _core.Pool, id: str) -> dict[str, Any]:
    """What is below a group: of a group in it the same again, of a variable its id."""
    prefix = "" if id == "/" else f"{id}/"
    root: dict[str, Any] = {}
    for group in pool.groups(prefix):
        _node(root, group[len(prefix) :])
    for name in pool.ids(prefix):
        parent, _, last = name[len(prefix) :].rpartition("/")
        _node(root, parent)[last] = name
    return root


class Tree:
    """Prints as a tree of the names below a group, with types, shapes and sizes."""

    def __init__(self, pool: _core.Pool, id: str) -> None:
        self._root = id
        self._below = _described(pool, below(pool, id))

    def __repr__(self) -> str:
        return "\n".join([self._root, *_lines(self._below, "")])


def _node(root: dict[str, Any], path: str) -> dict[str, Any]:
    for part in filter(None, path.split("/")):
        root = root.setdefault(part, {})
    return root


def _described(pool: _core.Pool, node: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, what in node.items():
        try:
            made[name] = _described(pool, what) if isinstance(what, dict) else described(pool.info(what))
        except LookupError:
            continue  # erased since it was listed
    return made


def _lines(node: dict[str, Any], margin: str) -> list[str]:
    lines = []
    for i, (name, below) in enumerate(sorted(node.items())):
        is_last = i == len(node) - 1
        is_group = isinstance(below, dict)
        lines.append(f"{margin}{'└── ' if is_last else '├── '}{name}" + ("/" if is_group else f"  {below}"))
        if is_group:
            lines.extend(_lines(below, margin + ("    " if is_last else "│   ")))
    return lines
