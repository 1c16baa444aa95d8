"""Nested dicts, lists and tuples with arrays in them: stored as groups of arrays and values, and loaded as they were.

The attribute `_tree` of the outermost group says what was what: which keys, in which order, lists or tuples, Python's
numbers or numpy's. It is set last; a stamp in it, new for each store, tells a load that another tree came meanwhile.
"""

from __future__ import annotations

import datetime as dt
import math
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import values, whole
from .arrays import Array
from .dtypes import element_of
from .errors import AlreadyExistsError, BusyError, InvalidArgumentError, NotFoundError
from .variable import Variable

if TYPE_CHECKING:
    from .groups import Group

ATTRIBUTE = "_tree"
_LOOKS = 16  # at a tree that others replace all the time

# How a leaf is told: by one of these, or by a dtype ("<U5") or a scalar of numpy ("numpy.int64") that it comes back as.
_ARRAY, _VALUE = "array", "value"


class _Plan:
    """What is to be stored where, all of it looked at before anything is stored."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        self.values: dict[str, values.Encoded] = {}
        self.groups: list[str] = []

    def add(self, path: str, data: Any) -> Any:
        """Plans for `data` at a path. Returns what the attribute says of it. Errors: TypeError, ValueError."""
        if isinstance(data, Mapping):
            return self._add_group(path, "dict", data.items())
        if isinstance(data, (list, tuple)):
            kind = "list" if isinstance(data, list) else "tuple"
            if type(data) not in (list, tuple):
                raise TypeError(f"{path}: a {type(data).__name__} would come back as a {kind}; give {kind}(it)")
            if not _is_json(data):
                return self._add_group(path, kind, enumerate(data))
            self.values[path] = values.encode(data)
            return kind
        if isinstance(data, Variable):  # of this or another pool
            data = data.load() if isinstance(data, Array) else data[()]  # type: ignore[index]
        array = whole.as_array(data)
        return self._add_value(path, data) if array is None else self._add_array(path, array)

    def _add_group(self, path: str, kind: str, items: Iterable[tuple[Any, Any]]) -> list[Any]:
        self.groups.append(path)
        told: list[Any] = []
        taken: set[str] = set()
        for key, inner in items:
            name = _name(key, len(taken))
            while name in taken:
                name += "_"
            taken.add(name)
            told.append([_told(key, path), name, self.add(f"{path}/{name}", inner)])
        return [kind, told]

    def _add_array(self, path: str, array: np.ndarray[Any, Any]) -> str:
        if array.dtype.kind in "OT" or isinstance(array, np.ma.MaskedArray):
            way = ".filled(value)" if isinstance(array, np.ma.MaskedArray) else ".astype(str), or .tolist()"
            raise TypeError(
                f"{path}: a {type(array).__name__} of {array.dtype} would not come back as it is; give {way}"
            )
        element_of(array.dtype)  # which says what to do where it cannot be stored
        self.arrays[path] = array
        return array.dtype.str if array.dtype.kind in "SU" else _ARRAY

    def _add_value(self, path: str, data: Any) -> str:
        if isinstance(data, dt.datetime) and data.tzinfo is not None:
            raise TypeError(f"{path}: a time with a time zone would come back without; store it as text, .isoformat()")
        try:
            encoded = values.encode(data)
        except (TypeError, InvalidArgumentError) as error:
            raise type(error)(f"{path}: {error}") from None
        self.values[path] = encoded
        name = type(data).__name__
        for told in (_VALUE, f"numpy.{name}" if isinstance(data, np.generic) else name):
            if type(_restored(values.decode(encoded), told)) is type(data):
                return told
        raise TypeError(f"{path}: a {name} would not come back as one; give what Python or numpy have for it")


def store(group: Group, name: str, tree: Any, codec: str) -> None:
    """As Group.store_tree()."""
    plan = _Plan()
    told = plan.add("", tree)
    if not plan.groups:
        raise TypeError(f"{name}: a tree is a dict, or a list or tuple that holds arrays, not {type(tree).__name__}")
    is_new = name not in group
    root = group.create_group(name)
    if ATTRIBUTE not in root.attrs and not is_new and len(root):
        raise AlreadyExistsError(f"{root.name} has other things in it; choose a name of its own for the tree")
    root.attrs[ATTRIBUTE] = {"stamp": uuid.uuid4().hex}  # from here on it is not whole
    _erase(root, {path[1:]: element_of(whole.storable(array, path)[1]) for path, array in plan.arrays.items()}, plan)
    for path in plan.groups[1:]:
        root.create_group(path[1:])
    for path, array in plan.arrays.items():
        root.store(path[1:], array, codec=codec)
    for path, encoded in plan.values.items():
        root._pool.store_value(root._id_of(path[1:]), *encoded)
    root.attrs[ATTRIBUTE] = {"stamp": uuid.uuid4().hex, "tree": told}


def load(group: Group, name: str) -> Any:
    """As Group.load_tree()."""
    root = group[name]
    for _ in range(_LOOKS):
        described = _described(root)
        try:
            found = _loaded(root, "", described["tree"])
        except Exception:  # of what fits no more: another shape, another type, nothing
            if _described(root)["stamp"] == described["stamp"]:
                raise
            continue
        # Between the two looks another process may have begun to store a tree here: then its stamp is another one.
        if _described(root)["stamp"] == described["stamp"]:
            return found
    raise BusyError(f"{root.name}: others store trees there all the time; try again")


def erase(group: Group, name: str) -> None:
    """As Group.erase_tree()."""
    root = group[name]
    if ATTRIBUTE not in getattr(root, "attrs", ()):
        raise NotFoundError(f"{root.name} was not stored by store_tree(); delete what is in it name by name")
    root.attrs[ATTRIBUTE] = {"stamp": uuid.uuid4().hex}
    group.erase_all(name)


def _erase(root: Group, elements: dict[str, Any], plan: _Plan) -> None:
    """What cannot stay: all that the plan does not have, and arrays that are there with another shape or type."""
    for id in root.ids():
        there = root[id]
        if isinstance(there, Array):
            array = plan.arrays.get(f"/{id}")
            stays = array is not None and array.shape == there.shape and elements[id].type == there._element.type
        else:
            stays = f"/{id}" in plan.values
        if not stays:
            root.pop(id, None)
    for id in reversed(root.groups()):  # those below another come after it
        if f"/{id}" not in plan.groups:
            root.pop(id, None)


def _described(root: Any) -> dict[str, Any]:
    described = root.attrs.get(ATTRIBUTE)
    if not isinstance(described, dict):
        raise NotFoundError(f"{root.name} was not stored by store_tree()")
    if "tree" not in described:
        raise BusyError(
            f"{root.name}: a tree is being stored there, or the process that stored it has died: store it anew"
        )
    return described


def _loaded(root: Any, path: str, told: Any) -> Any:
    if isinstance(told, list):
        kind, items = told
        pairs = ((_key(key), _loaded(root, f"{path}/{name}" if path else name, inner)) for key, name, inner in items)
        return dict(pairs) if kind == "dict" else _sequence(kind, pairs)
    found = root.load(path)
    return _restored(found, told)


def _sequence(kind: str, pairs: Iterator[tuple[Any, Any]]) -> list[Any] | tuple[Any, ...]:
    elements = [element for _, element in pairs]
    return tuple(elements) if kind == "tuple" else elements


def _restored(found: Any, told: str) -> Any:
    """What was stored, of what is loaded and how it is told."""
    if told in (_ARRAY, _VALUE, "list"):
        return found
    if told == "tuple":
        return tuple(found)
    if told == "bytearray":
        return bytearray(found)
    if told.startswith("numpy."):
        return getattr(np, told.removeprefix("numpy."), lambda same: same)(found)
    if isinstance(found, np.ndarray):
        return found.astype(told)
    return found.item() if isinstance(found, np.generic) else found  # int, and the times of datetime


def _is_json(data: Any) -> bool:
    """Whether JSON gives back the same: no arrays, tuples in it, dicts, or numbers that it does not have."""
    for one in data:
        if type(one) is list:
            if not _is_json(one):
                return False
        elif not (one is None or type(one) in (bool, int, str) or (type(one) is float and math.isfinite(one))):
            return False
    return True


def _name(key: Any, number: int) -> str:
    """What a key is called in the pool: as it is written, if that can be a name."""
    name = str(key) if isinstance(key, (str, int)) else ""
    is_name = 0 < len(name.encode(errors="replace")) <= 255 and name not in (".", "..") and name.isprintable()
    return name if is_name and not set(name) & set("/#") else f"key{number}"


def _told(key: Any, path: str) -> Any:
    """A key as JSON has it: a tuple as a list, which no key is. Errors: TypeError."""
    if type(key) is tuple:
        return [_told(part, path) for part in key]
    if key is None or type(key) in (bool, int, str) or (type(key) is float and math.isfinite(key)):
        return key
    raise TypeError(
        f"{path or '/'}: the key {key!r} is a {type(key).__name__}; keys are text, numbers, None, or tuples of them"
    )


def _key(told: Any) -> Any:
    return tuple(map(_key, told)) if isinstance(told, list) else told
