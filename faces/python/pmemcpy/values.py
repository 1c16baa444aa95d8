"""Python's objects as values and attributes: how they are recorded, and how they come back.

| stored                         | recorded as            | comes back as            |
|--------------------------------|------------------------|--------------------------|
| bool, int, float, complex      | bool, int64 (uint64 where it needs to be), float64, complex128 | the same |
| str                            | string                 | str                      |
| bytes, bytearray, memoryview   | sequence of bytes      | bytes                    |
| numpy scalars                  | their dtype            | numpy scalars            |
| datetime, date, timedelta      | datetime64[us], [D], opaque as h5py has it | numpy.datetime64, numpy.timedelta64 |
| lists of numbers, none of which NumPy would round or make a number of True | as arrays | numpy arrays |
| dict, other lists, tuple, None | JSON text              | dict, list, None         |
| arrays, keys that are no text, or NaN in these | an error: store_tree() keeps them | |
| arrays (attributes only)       | sequence (1-D, or without elements), array | numpy arrays |
| arrays of text (attributes only) | JSON text; without elements as other arrays | lists of str; numpy arrays |
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
from typing import Any

import numpy as np

from ._core import Kind, Type
from .casts import fitted
from .dtypes import dtype_of, element_of, stored_element
from .errors import CorruptError, InvalidArgumentError, UnsupportedError

_JSON = Type.opaque(1, "json")
_BYTES = Type.sequence(Type.opaque(1))
_RAW = "bp4"
_WAY = "store_tree(name, ...) of a pool or group keeps dicts, lists and tuples with what is in them, arrays as arrays"
_PYTHON = frozenset({Kind.int64, Kind.float64, Kind.complex128, Kind.boolean})

Encoded = tuple[Type, str, Any]


def encode(value: Any) -> Encoded:
    """The type, the serializer and the bytes of a value. Errors: TypeError, InvalidArgumentError, UnsupportedError."""
    if isinstance(value, str):
        return Type.string(), _RAW, value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _BYTES, _RAW, bytes(value)
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return _encode_scalar(_numpy_scalar(value))
    if isinstance(value, np.generic):
        return _encode_scalar(value)
    if isinstance(value, dt.datetime):
        utc = value.astimezone(dt.timezone.utc).replace(tzinfo=None) if value.tzinfo else value
        return _encode_scalar(np.datetime64(utc, "us"))
    if isinstance(value, dt.date):
        return _encode_scalar(np.datetime64(value, "D"))
    if isinstance(value, dt.timedelta):
        return _encode_scalar(np.timedelta64(value, "us"))
    if value is None or isinstance(value, (dict, list, tuple)):
        return _JSON, _RAW, _json_text(value)
    if isinstance(value, np.ndarray):
        return _encode_array(value)
    raise TypeError(
        f"a {type(value).__name__} cannot be stored: give an array, a number, text, bytes, a date, "
        "or what JSON has (dict, list, None)"
    )


def decode(encoded: Encoded) -> Any:
    """The object for what is recorded. Errors: UnsupportedError, CorruptError."""
    type_, serializer, data = encoded
    if serializer not in ("bp4", "none"):
        raise UnsupportedError(
            f"this value was written by the serializer {serializer}, which Python cannot read; .raw has its bytes"
        )
    if type_ == _JSON:
        try:
            return json.loads(data)
        except ValueError as error:
            raise CorruptError(f"a value recorded as JSON is no JSON text: {error}") from None
    if type_.kind == Kind.string:
        return data.decode()
    if type_ == _BYTES:
        return bytes(data)
    if type_.kind == Kind.sequence:
        dtype = dtype_of(type_.element)
        if len(data) % dtype.itemsize != 0:
            _wrong_size(type_, data)
        return stored_element(type_.element).decoded(np.frombuffer(data, dtype)).copy()
    if type_.is_fixed_size and len(data) != type_.size:
        _wrong_size(type_, data)
    if type_.kind == Kind.array:
        elements = np.frombuffer(data, dtype_of(type_.element)).reshape(type_.dimensions)
        return stored_element(type_.element).decoded(elements).copy()
    scalar = stored_element(type_).decoded(np.frombuffer(data, dtype_of(type_)))[0]
    if type_.kind in _PYTHON:
        return scalar.item()
    return str(scalar) if isinstance(scalar, np.str_) else scalar


_KINDS = {bool: "b", int: "i", float: "f", complex: "c"}


def array_of(data: list[Any] | tuple[Any, ...]) -> np.ndarray[Any, Any] | None:
    """The array that a list of numbers is; None where NumPy would round one of them, or make 1 of True."""
    try:
        array = np.asarray(data)
    except (ValueError, OverflowError):  # rows of different lengths; beyond a float
        return None
    kinds = _kinds_in(data)
    if array.dtype.kind not in "biufcM" or ("b" in kinds and len(kinds) > 1):
        return None
    if array.dtype.kind in "fc" and not kinds & {"f", "c"}:  # of whole numbers that no one type has
        return None
    if array.dtype.kind in "fc" and kinds & {"i", "u"}:
        leaves: Any = data
        for _ in range(array.ndim - 1):
            leaves = itertools.chain.from_iterable(leaves)
        made = array.ravel().tolist()
        if any(a != b for a, b in zip(made, leaves, strict=True) if isinstance(b, (int, np.integer))):
            return None
    return array


def _kinds_in(data: Any) -> set[str]:
    if isinstance(data, (list, tuple)):
        types = set(map(type, data))
        if types <= _KINDS.keys():
            return {_KINDS[type_] for type_ in types}
        return set().union(*map(_kinds_in, data))
    return {np.asarray(data).dtype.kind}


def _wrong_size(type_: Type, data: Any) -> Any:
    raise CorruptError(f"found {len(data)} bytes where there must be a {type_.name}")


def _numpy_scalar(value: complex) -> np.generic:
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        if -(2**63) <= value < 2**63:
            return np.int64(value)
        if value < 2**64:
            return np.uint64(value)
        raise InvalidArgumentError(f"{value} has more than 64 bits; store it as text")
    return np.float64(value) if isinstance(value, float) else np.complex128(value)


def _encode_scalar(value: np.generic) -> Encoded:
    if isinstance(value, np.str_):
        return encode(str(value))
    if isinstance(value, np.bytes_):
        return encode(bytes(value))
    element = element_of(value.dtype)
    return element.type, _RAW, fitted(element.type, np.asarray(value)).tobytes()


def _encode_array(value: np.ndarray[Any, Any]) -> Encoded:
    element = element_of(value.dtype)
    if value.size == 0:
        return _encode_empty(value.shape, element.type)
    if element.is_text:
        return _JSON, _RAW, _json_text(value.tolist())
    data = np.ascontiguousarray(fitted(element.type, value))
    if value.ndim == 0:
        return element.type, _RAW, data.tobytes()
    if value.ndim == 1:
        return Type.sequence(element.type), _RAW, data.tobytes()
    return Type.array(element.type, value.shape), _RAW, data.tobytes()


def _encode_empty(shape: tuple[int, ...], element: Type) -> Encoded:
    """No rows: the type of a row has the rest of the shape."""
    if 0 in shape[1:]:
        raise UnsupportedError(
            f"an attribute has no type for an array of shape {shape}: of an empty one only the first extent may be 0; "
            "store it as an array of the pool, which has any shape"
        )
    return Type.sequence(Type.array(element, shape[1:]) if shape[1:] else element), _RAW, b""


def _json_text(value: Any) -> bytes:
    _check_keys(value)
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False, default=_plain).encode()
    except ValueError as error:
        raise InvalidArgumentError(f"JSON cannot hold this: {error}; {_WAY}") from None


def _check_keys(value: Any) -> None:
    """Errors: TypeError for keys of which json would silently make text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"JSON's keys are text, and {key!r} is none; {_WAY}")
            _check_keys(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            if isinstance(inner, (dict, list, tuple)):
                _check_keys(inner)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "__array__"):
        raise TypeError(f"a dict or list with arrays in it is not kept as JSON; {_WAY}")
    raise TypeError(f"a {type(value).__name__} inside a structure cannot be stored as JSON")
