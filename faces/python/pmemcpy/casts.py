"""Casts of stored data: numpy's within a kind, except those that cut text, wrap numbers or change fields."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import Kind, Type
from .dtypes import Element, dtype_of, is_text
from .errors import InvalidArgumentError

NDArray = np.ndarray[Any, Any]


def fitted(type_: Type, data: NDArray, name: str = "this") -> NDArray:
    """The user's elements as the bytes that a type keeps; what numpy casts without a loss it may still have to cast.

    `name` is of the array, for the message. Structures are matched by the names of their fields, in any order.
    Errors: TypeError (another kind; text or bytes that are too long), OverflowError (a number or time would change).
    """
    if type_.kind == Kind.array:
        return fitted(type_.element, data, name)
    if type_.kind == Kind.structure:
        return _structure(type_, data, name)
    if is_text(type_):
        return _text(type_, data, name)
    wanted = dtype_of(type_).base
    if data.dtype == wanted:
        return data
    is_plain_void = wanted.type is np.void
    if not np.can_cast(data.dtype, wanted, "same_kind") or (is_plain_void and data.dtype.itemsize != wanted.itemsize):
        raise TypeError(f"{name} holds {wanted}; cast {data.dtype} to it yourself: .astype({wanted.name!r})")
    if wanted.kind == "S":
        _check_length(np.char.str_len(data) if data.dtype.kind == "S" else data.dtype.itemsize, wanted.itemsize, name)
    if _changes(data, wanted):
        raise OverflowError(
            f"{name} holds {wanted}, in which some of these {data.dtype} would be another value; "
            f"if that is meant, cast them yourself: .astype({wanted.name!r})"
        )
    return data


def given(element: Element, data: Any, name: str) -> NDArray:
    """What the user gives, an array or what numpy makes one of, as fitted() has it. Errors: as fitted(), ValueError."""
    kind = element.stored.base.kind
    if element.stored.names and isinstance(data, (tuple, list)):
        data = np.array(data, element.dtype)  # numpy's way to write a structure
    if (
        isinstance(data, int)
        and not element.stored.names
        and (kind in "iufcV" or (kind == "b" and isinstance(data, bool)))
    ):
        return np.array(data, element.stored.base)  # numpy's OverflowError when it does not fit
    return fitted(element.type, np.asarray(data), name)


def text_of(array: NDArray) -> NDArray:
    """Objects that are all text, and numpy's text of variable length, as text of fixed length.

    Errors: InvalidArgumentError for what is missing among text; what is no text stays as it is.
    """
    if array.dtype.kind not in "OT":
        return array
    elements = list(array.astype(object).flat)
    missing = sum(not isinstance(one, str) for one in elements)
    if array.dtype.kind == "O" and not all(isinstance(one, str) or one is None or one != one for one in elements):
        return array
    if missing == 0:
        return np.array(elements, str).reshape(array.shape) if elements or array.dtype.kind == "T" else array
    raise InvalidArgumentError(
        f"{missing} of {array.size} texts are missing, which an array of text cannot say: put text in their places, "
        "or store a list of text and None, such as a.tolist(), which is kept as JSON"
    )


def _structure(type_: Type, data: NDArray, name: str) -> NDArray:
    wanted = dtype_of(type_)
    if data.dtype == wanted:
        return data
    names = [field for field, _, _ in type_.fields]
    if data.dtype.type is np.void and data.dtype.names is None and data.dtype.itemsize == wanted.itemsize:
        return data.view(wanted)  # the bytes themselves
    if set(data.dtype.names or ()) != set(names):
        raise TypeError(f"{name} holds elements with the fields {', '.join(names)}, and this is {data.dtype}")
    whole = np.zeros(data.shape, wanted)
    for field, _, member in type_.fields:
        whole[field] = fitted(member, data[field], f"{name}, field {field!r},")
    return whole


def _text(type_: Type, data: NDArray, name: str) -> NDArray:
    if data.dtype.kind in "UTO":
        data = text_of(data)
        if data.dtype.kind == "U":
            data = np.char.encode(data, "utf-8")
    if data.dtype.kind != "S":
        raise TypeError(f"{name} holds text; cast {data.dtype} to it yourself: .astype(str)")
    if data.size and data.dtype.itemsize > type_.size:
        _check_length(np.char.str_len(data), type_.size, name)
    return data


def _check_length(needed: Any, width: int, name: str) -> None:
    longest = int(np.max(needed, initial=0))
    if longest > width:
        raise TypeError(
            f"{name} holds at most {width} bytes in each element, and this needs {longest}: nothing is cut off; delete "
            f"it and store it anew, or make it wide enough from the beginning, create(..., 'U{-(-longest // 4)}')"
        )


def _changes(data: NDArray, wanted: np.dtype[Any]) -> bool:
    """Whether the cast to whole numbers, or to a coarser or shorter unit of time, makes other values of some."""
    if data.size == 0:
        return False
    if wanted.kind in "iu" and data.dtype.kind in "iu":
        limits = np.iinfo(wanted)
        return int(data.min()) < limits.min or int(data.max()) > limits.max
    if (wanted.kind in "mM" and data.dtype.kind == wanted.kind) or wanted.name.rstrip("124") in ("int", "uint"):
        back = data.astype(wanted).astype(data.dtype)
        return bool(np.any((back != data) & (data == data)))
    return False
