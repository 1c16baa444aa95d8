"""Masked arrays: a pool keeps their data, with a fill value in each masked place, as netCDF does."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InvalidArgumentError

FILL = "_FillValue"  # netCDF's attribute, by which xarray and netCDF4 mask again

# What netCDF takes for each type. Source: NC_FILL_* in netcdf.h.
_DEFAULTS = {
    "i1": -127,
    "u1": 255,
    "i2": -32767,
    "u2": 65535,
    "i4": -2147483647,
    "u4": 4294967295,
    "i8": -9223372036854775806,
    "u8": 18446744073709551614,
    "f4": 9.969209968386869e36,
    "f8": 9.969209968386869e36,
}


def filled(data: np.ma.MaskedArray[Any, Any], name: str, fill: Any) -> tuple[np.ndarray[Any, Any], Any]:
    """The data with `fill` where they are masked, and `fill` itself; None where nothing is masked.

    Errors: InvalidArgumentError where something is masked and `fill` is None.
    """
    if not np.asarray(data.mask).tobytes().strip(b"\0"):  # also of structures, whose masks have fields
        return np.asarray(data.data), None
    if fill is None:
        raise InvalidArgumentError(
            f"{name}: some elements are masked, and the array has no value that says so; choose one, .filled(value), "
            f"or give the array an attribute {FILL}"
        )
    whole = fill if data is np.ma.masked else data.filled(fill)  # type: ignore[no-untyped-call]
    return np.asarray(whole), fill


def fill_of(data: np.ma.MaskedArray[Any, Any]) -> Any:
    """What a new array says for masked elements: what the array itself says, else what netCDF does; None without."""
    usual = np.ma.default_fill_value(data.dtype)  # type: ignore[no-untyped-call]
    if data.dtype.names is None and data.fill_value != usual:
        return data.dtype.type(data.fill_value)
    default = _DEFAULTS.get(data.dtype.str[1:])
    return None if default is None else data.dtype.type(default)
