"""numpy's dtypes and the library's types: the type of an element in memory and for its readers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from ._core import Kind, TimeUnit, Type
from .errors import UnsupportedError

_SCALARS = {
    Kind.int8: "i1",
    Kind.int16: "i2",
    Kind.int32: "i4",
    Kind.int64: "i8",
    Kind.uint8: "u1",
    Kind.uint16: "u2",
    Kind.uint32: "u4",
    Kind.uint64: "u8",
    Kind.float16: "f2",
    Kind.float32: "f4",
    Kind.float64: "f8",
    Kind.complex64: "c8",
    Kind.complex128: "c16",
    Kind.boolean: "?",
}
_UNITS = {
    "Y": TimeUnit.year,
    "M": TimeUnit.month,
    "W": TimeUnit.week,
    "D": TimeUnit.day,
    "h": TimeUnit.hour,
    "m": TimeUnit.minute,
    "s": TimeUnit.second,
    "ms": TimeUnit.millisecond,
    "us": TimeUnit.microsecond,
    "ns": TimeUnit.nanosecond,
    "ps": TimeUnit.picosecond,
    "fs": TimeUnit.femtosecond,
    "as": TimeUnit.attosecond,
}
_LETTERS = {unit: letters for letters, unit in _UNITS.items()}
_KINDS = {np.dtype(code): kind for kind, code in _SCALARS.items()}
_BIG: Final = ">"
_NUMPY: Final = "NUMPY:"  # h5py's tag
_TIMES = re.compile(_NUMPY + r"[<>][mM]8(\[[0-9]*[a-zA-Z]+\])?")
_SMALL = re.compile(r"u?int[124]|float[468]_e[0-9]m[0-9]+[a-z0-9]*")


@dataclass(frozen=True)
class Element:
    """An element of a stored array: its type, and the dtype of its bytes as they lie in the pool."""

    type: Type
    stored: np.dtype[Any]

    @property
    def dtype(self) -> np.dtype[Any]:
        """What a load gives: `stored`, except that text in UTF-8 is decoded, also in structures."""
        return _decoded_dtype(self.type)

    @property
    def is_text(self) -> bool:
        return is_text(self.type)

    def decoded(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """What the user gets for an array of `stored`."""
        return _decoded(self.type, array)


def is_text(type_: Type) -> bool:
    return type_.kind == Kind.fixed_string and type_.is_utf8


def has_text(type_: Type) -> bool:
    if type_.kind == Kind.structure:
        return any(has_text(member) for _, _, member in type_.fields)
    return has_text(type_.element) if type_.kind == Kind.array else is_text(type_)


def _decoded_dtype(type_: Type) -> np.dtype[Any]:
    if not has_text(type_):
        return dtype_of(type_)
    if type_.kind == Kind.structure:
        return np.dtype([(name, _decoded_dtype(member)) for name, _, member in type_.fields])
    if type_.kind == Kind.array:
        return np.dtype((_decoded_dtype(type_.element), type_.dimensions))
    return np.dtype(f"U{type_.size}")


def _decoded(type_: Type, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if not has_text(type_):
        return array
    if type_.kind == Kind.array:
        return _decoded(type_.element, array)
    if is_text(type_):
        return np.char.decode(array, "utf-8").astype(_decoded_dtype(type_))
    whole = np.empty(array.shape, _decoded_dtype(type_))
    for name, _, member in type_.fields:
        whole[name] = _decoded(member, array[name])
    return whole


def element_of(dtype: Any) -> Element:
    """How a new array keeps elements of this dtype. Errors: UnsupportedError, which says what to do instead."""
    return stored_element(type_of(np.dtype(dtype)))


@lru_cache(maxsize=256)
def stored_element(type_: Type) -> Element:
    """How an array of this type is read. Errors: UnsupportedError."""
    return Element(type_, dtype_of(type_))


def type_of(dtype: np.dtype[Any]) -> Type:
    """The library's type for elements of a dtype. Text becomes UTF-8, of at most four bytes for a character."""
    big = dtype.byteorder == _BIG
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return Type.array(type_of(base), shape)
    if dtype.names is not None:
        assert dtype.fields is not None
        if any(len(field) > 2 for field in dtype.fields.values()):
            raise UnsupportedError(
                f"{dtype} has titles beside its fields' names, which are not kept; make it without them"
            )
        fields = [(name, dtype.fields[name][1], type_of(dtype.fields[name][0])) for name in dtype.names]
        return Type.structure(fields, dtype.itemsize)
    if dtype.metadata and "enum" in dtype.metadata:
        base_type = Type.scalar(_KINDS[dtype.newbyteorder("=")], big)
        return Type.enumeration(base_type, [(str(name), int(value)) for name, value in dtype.metadata["enum"].items()])
    kind = _KINDS.get(dtype.newbyteorder("="))
    if kind is not None:
        return Type.scalar(kind, big)
    if dtype.name == "bfloat16":
        return Type.scalar(Kind.bfloat16)
    if dtype.kind == "M":
        unit, count = np.datetime_data(dtype)
        if count != 1 or unit == "generic":
            raise UnsupportedError(f"{dtype} has no unit that can be stored; use one such as datetime64[us]")
        return Type.datetime64(_UNITS[unit], big)
    if dtype.kind == "m":
        return Type.opaque(8, _NUMPY + dtype.str)
    if dtype.type.__module__ == "ml_dtypes":
        return Type.opaque(dtype.itemsize, dtype.name)
    if dtype.kind == "S":
        return Type.fixed_string(max(1, dtype.itemsize), utf8=False)
    if dtype.kind == "U":
        return Type.fixed_string(max(4, dtype.itemsize), utf8=True)
    if dtype.kind == "V" and dtype.itemsize:
        return Type.opaque(dtype.itemsize)
    advice = {
        "O": "objects have no bytes of their own: use a dtype of fixed size, for text .astype(str) or .tolist()",
        "T": "use text of fixed size, .astype(str)",
        "f": "it means something else on every machine: use float64",
        "c": "it means something else on every machine: use complex128",
    }.get(dtype.kind, "use a dtype of fixed size")
    raise UnsupportedError(f"arrays of {dtype} cannot be stored; {advice}")


def dtype_of(type_: Type) -> np.dtype[Any]:
    """The dtype of elements of a type, as they lie in memory."""
    code = _SCALARS.get(type_.kind)
    if code is not None:
        dtype = np.dtype(code)
        return dtype.newbyteorder(_BIG) if type_.big_endian else dtype
    match type_.kind:
        case Kind.datetime64:
            dtype = np.dtype(f"M8[{_LETTERS[type_.unit]}]")
            return dtype.newbyteorder(_BIG) if type_.big_endian else dtype
        case Kind.fixed_string:
            return np.dtype(f"S{type_.size}")
        case Kind.enumeration:
            return np.dtype(dtype_of(type_.element), metadata={"enum": dict(type_.values)})
        case Kind.opaque:
            return _opaque(type_)
        case Kind.array if type_.is_fixed_size:
            return np.dtype((dtype_of(type_.element), type_.dimensions))
        case Kind.structure if type_.is_fixed_size:
            names, offsets, types = zip(*((name, offset, dtype_of(t)) for name, offset, t in type_.fields), strict=True)
            layout = {"names": names, "formats": types, "offsets": offsets, "itemsize": type_.size}
            structure: np.dtype[Any] = np.dtype(layout)  # type: ignore[call-overload]
            return structure
        case Kind.bfloat16:
            return _of_ml_dtypes("bfloat16")
    raise UnsupportedError(f"numpy has no dtype for {type_.name}")


def _opaque(type_: Type) -> np.dtype[Any]:
    """What opaque bytes are to numpy, by their tag: spans of time as h5py tags them, and types of ml_dtypes."""
    if type_.size == 8 and _TIMES.fullmatch(type_.tag):
        return np.dtype(type_.tag.removeprefix(_NUMPY))
    if _SMALL.fullmatch(type_.tag):
        return _of_ml_dtypes(type_.tag)
    return np.dtype(f"V{type_.size}")


def _of_ml_dtypes(name: str) -> np.dtype[Any]:
    try:
        import ml_dtypes
    except ImportError:
        raise UnsupportedError(f"{name} needs the package ml_dtypes: pip install ml_dtypes") from None
    if not hasattr(ml_dtypes, name):
        raise UnsupportedError(f"this version of ml_dtypes has no {name}: pip install --upgrade ml_dtypes")
    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return dtype
