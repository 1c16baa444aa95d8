"""What a variable of xarray becomes in a pool: elements, by CF where a pool has no type for them, and their storage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from xarray import conventions

from .datasets import Box, boxes, codec_of
from .errors import UnsupportedError

_BY_CF = {"dtype", "scale_factor", "add_offset", "_FillValue", "missing_value", "units", "calendar", "_Unsigned"}
_BY_CREATE = {"codec", "order", "contiguous", "fill_value", "scope"}
_BY_NETCDF = {"zlib", "complevel", "shuffle", "compression", "chunksizes", "chunks"}


@dataclass(frozen=True)
class Storage:
    """How an array is made: what Group.create() takes, and the pieces in which it is stored."""

    options: dict[str, Any]
    boxes: list[Box]
    is_in_chunks: bool


def encoded(name: str, variable: xr.Variable, encoding: Mapping[str, Any]) -> tuple[xr.Variable, Storage]:
    """The variable with elements that a pool can hold, and how it is kept.

    Errors: ValueError for an encoding that a pool does not have, UnsupportedError for odd objects.
    """
    unknown = sorted(set(encoding) - _BY_CF - _BY_CREATE - _BY_NETCDF)
    if unknown:
        raise ValueError(
            f"encoding of {name!r}: a pool has no {', '.join(unknown)}; there are "
            f"{', '.join(sorted(_BY_CF | _BY_CREATE | _BY_NETCDF))}"
        )
    options = {key: value for key, value in encoding.items() if key in _BY_CREATE}
    compression = encoding.get("compression") or ("zlib" if encoding.get("zlib") else None)
    if compression is not None:
        options["codec"] = codec_of(compression, encoding.get("complevel"), encoding.get("shuffle", True))
    chunks = encoding.get("chunksizes", encoding.get("chunks"))
    how = Storage(options, boxes(variable.shape, chunks), chunks is not None)
    cf = {key: value for key, value in encoding.items() if key in _BY_CF and value is not None}
    if cf.get("dtype") is str:
        del cf["dtype"]
    variable = variable.copy(deep=False)
    variable.encoding = cf
    if cf or variable.dtype.kind == "m" or _has_dates(variable):
        variable = conventions.encode_cf_variable(variable, name=name)
    if variable.dtype.kind in "OT":
        variable = _text(name, variable)
    return variable, how


def _has_dates(variable: xr.Variable) -> bool:
    if variable.dtype.kind != "O" or not variable.size:
        return False
    first = variable[(0,) * variable.ndim].values[()]  # one element, also of a variable of dask
    return hasattr(first, "calendar")  # of cftime


def _text(name: str, variable: xr.Variable) -> xr.Variable:
    """Text of fixed length, with what is missing as "", and that as CF's fill value if no text is empty itself."""
    elements = np.asarray(variable.data).astype(object)
    missing = np.array([one is None or one != one for one in elements.flat], bool).reshape(elements.shape)
    if not all(isinstance(one, str) for one in elements[~missing].flat):
        raise UnsupportedError(
            f"the variable {name!r} has objects that are no text, which cannot be stored; give it a dtype, or if "
            "they are those of a MultiIndex, reset_index() first"
        )
    attrs = dict(variable.attrs)
    if missing.any() and not np.any(elements[~missing] == ""):
        attrs["_FillValue"] = ""
    text = np.where(missing, "", elements).astype(str)
    return xr.Variable(variable.dims, text, attrs)


__all__ = ["Storage", "encoded"]
