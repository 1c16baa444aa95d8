"""The properties of a pool, a variable or a block, as an object that prints as a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core

_LAST_NS = 2**63 - 1  # that datetime64[ns] has


class Report:
    """The fields of one of the library's descriptions; times are numpy.datetime64."""

    def __init__(self, told: Any) -> None:
        self._told = told

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_told":
            raise AttributeError(name)
        value = getattr(self._told, name)
        if name in ("written_ns", "created_ns"):
            return np.datetime64(min(value, _LAST_NS), "ns")
        if name == "kind":
            return getattr(value, "name", value)
        return value

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._told) if not name.startswith("_")]

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dir__()}

    def __repr__(self) -> str:
        fields = self.as_dict()
        width = max(map(len, fields))
        return "\n".join(f"{name:<{width}}  {_readable(name, value)}" for name, value in fields.items())


def _readable(name: str, value: Any) -> str:
    if name.endswith("_bytes"):
        return readable_size(value)
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def short(value: Any, longest: int = 160) -> str:
    """As Python writes it, but no more of it than a person reads."""
    text = repr(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def readable_size(size_bytes: int) -> str:
    """640 B, 1.5 KiB, 3.2 GiB."""
    size = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError


def described(info: _core.Info) -> str:
    """float64 (3, 4), 96 B; of a value its type and size."""
    size = readable_size(info.size_bytes)
    name = info.type.tag or info.type.name
    if info.kind != _core.VariableKind.array:
        return f"{name}, {size}"
    extents = [str(extent) for extent in info.dims]
    if info.is_unlimited:
        extents[0] += "+"
    return f"{name} ({', '.join(extents)}), {size}"
