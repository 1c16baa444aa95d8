"""What the tests of Zarr share: what a store holds, as something to compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import zarr


def documents(store: Path) -> dict[str, Any]:
    """Every zarr.json, by the path of its group or array."""
    return {
        str(path.parent.relative_to(store)): json.loads(path.read_text()) for path in sorted(store.rglob("zarr.json"))
    }


def plain(array: np.ndarray[Any, Any]) -> Any:
    """Something that == compares, with NaN equal to itself."""
    kind = array.dtype.kind
    return array.tolist() if kind in "OT" else (str(array.dtype), array.shape, array.tobytes())


def values(store: Path) -> dict[str, Any]:
    node = zarr.open(store, mode="r")
    arrays = {"": node} if isinstance(node, zarr.Array) else dict(node.members(max_depth=None))
    return {name: plain(np.asarray(item[...])) for name, item in arrays.items() if isinstance(item, zarr.Array)}


def chunks(store: Path) -> list[str]:
    return sorted(str(p.relative_to(store)) for p in store.rglob("*") if p.is_file() and p.name != "zarr.json")


def assert_same(first: Path, second: Path) -> None:
    left, right = documents(first), documents(second)
    assert left.keys() == right.keys()
    for name, document in left.items():
        assert repr(sorted_keys(document)) == repr(sorted_keys(right[name])), name
        assert list(document.get("attributes", {})) == list(right[name].get("attributes", {})), name
    left_values, right_values = values(first), values(second)
    assert left_values.keys() == right_values.keys()
    for name, value in left_values.items():
        assert value == right_values[name], name
    assert chunks(first) == chunks(second)


def sorted_keys(item: Any) -> Any:
    """For repr, in which NaN is equal to itself, and 1 is not 1.0."""
    if isinstance(item, dict):
        return {key: sorted_keys(item[key]) for key in sorted(item)}
    return [sorted_keys(part) for part in item] if isinstance(item, list) else item


def mixed(seed: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Elements of any bits, except where not all are elements."""
    rng = np.random.default_rng(seed)
    size = int(np.prod(shape))
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "U":
        letters = np.array(["", "a", "ß", "日本", "😀x"])
        return letters[rng.integers(0, 5, shape)].astype(dtype)
    if dtype.kind == "S":
        return np.array([b"", b"a", b"\xff\x01", b"abc"])[rng.integers(0, 4, shape)].astype(dtype)
    if dtype.names:
        made = np.zeros(shape, dtype)
        for i, name in enumerate(dtype.names):
            made[name] = mixed(seed + i, dtype[name], shape)
        return made
    if dtype.kind in "fc":
        return rng.normal(size=shape).astype(dtype)
    return np.frombuffer(rng.bytes(size * dtype.itemsize), dtype).reshape(shape)
