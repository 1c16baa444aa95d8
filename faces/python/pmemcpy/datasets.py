"""New arrays as h5py calls them, with those of its arguments that mean something in a pool."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import whole
from .arrays import Array
from .errors import AlreadyExistsError, InvalidArgumentError, UnsupportedError

if TYPE_CHECKING:
    from .groups import Group

_CODECS = {"gzip": "zlib", "deflate": "zlib", "zlib": "zlib", "zstd": "zstd", "lz4": "lz4", "lz4hc": "lz4hc"}

Box = tuple[slice, ...]
Chunks = bool | int | Sequence[int] | None


def create_dataset(
    group: Group,
    name: str,
    shape: Any,
    dtype: Any,
    data: Any,
    chunks: Chunks,
    codec: str,
    fillvalue: Any,
    maxshape: Any,
) -> Any:
    """As Group.create_dataset()."""
    if name in group:
        raise AlreadyExistsError(f"there is a {name!r} already; group[{name!r}] finds it, require_dataset() too")
    array = (
        None if data is None else np.asarray(data) if shape is not None or dtype is not None else whole.as_array(data)
    )
    if data is not None and array is None:  # a value; a text, a dict
        group[name] = data
        return group[name]
    if array is None:
        if shape is None:
            raise TypeError(f"{name}: one of shape and data must be given")
        extents = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        element = np.dtype("f4" if dtype is None else dtype)
        fill = np.zeros((), element)[()] if fillvalue is None and element.kind in "biufc" else fillvalue
    else:
        array = array if shape is None else array.reshape(shape)
        array = array if dtype is None else array.astype(dtype)
        array, element, masked_fill = whole.storable(array, name)
        extents = array.shape
        fill = masked_fill if fillvalue is None else fillvalue
    pieces = [] if array is None else boxes(array.shape, chunks)
    created = group.create(name, _growing(name, extents, maxshape), element, codec=codec, fill_value=fill)
    if array is not None:
        store_in_boxes(created, array, pieces)
    elif created.shape != extents:
        created.resize(extents)
    return created


def require_dataset(group: Group, name: str, shape: Any, dtype: Any, exact: bool, more: dict[str, Any]) -> Any:
    """As Group.require_dataset()."""
    if name not in group:
        return group.create_dataset(name, shape, dtype, **more)
    found = group[name]
    extents = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if not isinstance(found, Array) or found.shape != extents:
        raise TypeError(f"{name} is there as {found!r}, and not with the shape {extents}")
    wanted = np.dtype(dtype)
    if found.dtype != wanted and (exact or not np.can_cast(wanted, found.dtype)):
        raise TypeError(f"{name} is there with the dtype {found.dtype}, and not {wanted}")
    return found


def refuse(others: dict[str, Any], known: str) -> None:
    """Errors: TypeError for arguments of h5py, netCDF4 or zarr that a pool has no use for."""
    given = sorted(name for name, value in others.items() if value not in (None, False))
    if given:
        raise TypeError(f"a pool's arrays have no {', '.join(given)}; there are {known}")


def codec_of(compression: Any, level: Any = None, shuffle: bool = False) -> str:
    """The codec for h5py's and netCDF4's compression: "gzip", a level of it, or the name of one of ours.

    Errors: InvalidArgumentError for another one.
    """
    if compression is None or compression is False:
        return "none"
    if isinstance(compression, (int, np.integer)):  # also True
        compression, level = "gzip", level if compression is True else compression
    kind, _, rest = str(compression).partition(":")
    if kind not in (*_CODECS, "none", "blosclz"):
        raise InvalidArgumentError(f"there is no compression {compression!r} in a pool; there are {', '.join(_CODECS)}")
    codec = _CODECS.get(kind, kind)
    if rest or codec == "none":
        return f"{codec}:{rest}" if rest else codec
    return codec + (f":{level}" if level is not None else "") + (":shuffle" if shuffle else ":noshuffle")


def store_in_boxes(array: Array, data: np.ndarray[Any, Any], boxes: list[Box]) -> None:
    """Stores all of a new array, piece by piece: then each piece can be loaded without the rest."""
    for box in boxes:
        array[box or ...] = data[box]


def boxes(shape: tuple[int, ...], chunks: Chunks) -> list[Box]:
    """An array's pieces; one, where chunks are of no shape. Errors: InvalidArgumentError."""
    if isinstance(chunks, bool) or chunks is None:
        chunks = shape
    sides = (chunks,) if isinstance(chunks, (int, np.integer)) else tuple(chunks)
    if len(sides) != len(shape) or any(side < 1 <= extent for side, extent in zip(sides, shape, strict=True)):
        raise InvalidArgumentError(f"chunks of {sides} do not fit an array of {shape}")
    edges = (range(0, extent, side) if extent else range(1) for side, extent in zip(sides, shape, strict=True))
    return [
        tuple(slice(a, min(a + side, n)) for a, side, n in zip(corner, sides, shape, strict=True))
        for corner in itertools.product(*edges)
    ]


def _growing(name: str, extents: tuple[int, ...], maxshape: Any) -> tuple[int | None, ...]:
    """The shape to create. Errors: UnsupportedError where another dimension than the first is to grow."""
    if maxshape is None:
        return extents
    limits = (maxshape,) if maxshape is None or isinstance(maxshape, (int, np.integer)) else tuple(maxshape)
    if len(limits) != len(extents) or limits[1:] != extents[1:]:
        raise UnsupportedError(
            f"{name}: of an array in a pool the first dimension can grow and no other, so maxshape must be "
            f"{(None, *extents[1:])}, or leave it out; {limits} was given"
        )
    return extents if limits == extents else (None, *extents[1:])
