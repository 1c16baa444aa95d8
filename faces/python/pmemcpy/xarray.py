"""Pools in xarray: `xarray.open_dataset("run.pmem", engine="pmemcpy")`, and `ds.pmemcpy.to_pool(path)`.

A group is a dataset, an array in it a variable. The names of its dimensions are the attribute `_ARRAY_DIMENSIONS`, as
Zarr had it; which variables are coordinates, the attribute `coordinates`; the rest is decoded by CF. Dimensions without
a name get one by their length, `phony_dim_0` and so on.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import closing, nullcontext
from typing import Any

import numpy as np
import xarray as xr
from xarray import conventions
from xarray.backends import BackendEntrypoint
from xarray.backends.common import AbstractDataStore, BackendArray
from xarray.backends.store import StoreBackendEntrypoint
from xarray.core import indexing

from . import nested
from .arrays import Array
from .attributes import Attributes
from .datasets import store_in_boxes
from .errors import UnsupportedError
from .groups import Group
from .pool import Path, Pool
from .pool import open as open_pool
from .variable import Value
from .xarray_encoding import Storage, encoded

DIMENSIONS = "_ARRAY_DIMENSIONS"
OURS = {"_exchange", nested.ATTRIBUTE}  # what `pmemcpy import` and store_tree() keep; nothing for an analysis


class _Lazy(BackendArray):
    """An array that is read when somebody asks for its values: as a copy, or `in_place` if it lies in one piece."""

    def __init__(self, array: Array, in_place: bool) -> None:
        self._array = array
        self._in_place = in_place
        self.shape = array.shape
        self.dtype = array.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        if self._in_place and self.dtype.kind != "U":
            try:
                return self._array.view(key)
            except UnsupportedError:  # in several blocks, or in a compressed one
                pass
        return np.asarray(self._array[key])


class _GroupStore(AbstractDataStore):
    """What xarray asks of a file, of one group."""

    def __init__(self, pool: Pool, group: Group, in_place: bool) -> None:
        self._pool = pool
        self._group = group
        self._in_place = in_place
        self._unnamed = _Unnamed()

    def get_variables(self) -> dict[str, xr.Variable]:
        variables = {}
        for name in self._group:
            found = self._group[name]
            if isinstance(found, Array):
                variables[name] = self._variable(name, found)
            elif (
                isinstance(found, Value) and np.ndim(value := found.value) == 0 and not isinstance(value, (dict, bytes))
            ):
                variables[name] = xr.Variable((), value, _shown(found.attrs))
        return variables

    def get_attrs(self) -> dict[str, Any]:
        return _shown(self._group.attrs)

    def get_dimensions(self) -> dict[str, int]:
        return {}

    def get_encoding(self) -> dict[str, Any]:
        arrays = (found for found in self._group.values() if isinstance(found, Array) and found.is_unlimited)
        return {
            "unlimited_dims": {
                self._dims(array.name.rpartition("/")[2], array, dict(array.attrs))[0] for array in arrays
            }
        }

    def close(self) -> None:
        self._pool.close()

    def _dims(self, name: str, array: Array, attrs: dict[str, Any]) -> tuple[str, ...]:
        named = attrs.pop(DIMENSIONS, None)
        if isinstance(named, str):
            named = [named]
        if named is not None and len(named) == array.ndim:
            return tuple(map(str, named))
        return (name,) if array.ndim == 1 and named is None and _is_axis(attrs) else self._unnamed.names(array.shape)

    def _variable(self, name: str, array: Array) -> xr.Variable:
        attrs = _shown(array.attrs)
        dims = self._dims(name, array, attrs)
        encoding = {"preferred_chunks": dict(zip(dims, array.chunks, strict=True)), "codec": array.info.codec}
        return xr.Variable(dims, indexing.LazilyIndexedArray(_Lazy(array, self._in_place)), attrs, encoding)


def _shown(attrs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attrs.items() if name not in OURS}


class _FoundStore(_GroupStore):
    """The same of variables from anywhere in a pool, each by its whole id; the pool stays open."""

    def __init__(self, found: Iterable[Array | Value | Group]) -> None:
        self._group = {one.name: one for one in found}  # type: ignore[assignment]
        self._in_place = False
        self._unnamed = _Unnamed()

    def get_attrs(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        pass


def dataset_of(found: Iterable[Array | Value | Group]) -> xr.Dataset:
    """The arrays and plain values among these, lazily, decoded by CF. Errors: ValueError for clashing dimensions."""
    return StoreBackendEntrypoint().open_dataset(_FoundStore(found))


class _Unnamed:
    """Names for dimensions without one: the same for the same length, as h5netcdf does it."""

    def __init__(self) -> None:
        self._of: dict[tuple[int, int], str] = {}

    def names(self, shape: tuple[int, ...]) -> tuple[str, ...]:
        names = []
        for i, extent in enumerate(shape):
            which = (extent, shape[:i].count(extent))
            names.append(self._of.setdefault(which, f"phony_dim_{len(self._of)}"))
        return tuple(names)


def _is_axis(attrs: Mapping[str, Any]) -> bool:
    """Whether CF's attributes say that a variable of one dimension is that dimension's coordinate."""
    return "axis" in attrs or attrs.get("standard_name") in {"time", "latitude", "longitude", "height", "depth"}


class PoolBackend(BackendEntrypoint):
    """xarray's engine "pmemcpy"."""

    description = "Open pMEMCPY's pools (.pmem)"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        return isinstance(filename_or_obj, (str, os.PathLike)) and str(filename_or_obj).rstrip("/").endswith(".pmem")

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        group: str = "/",
        mask_and_scale: bool = True,
        decode_times: bool = True,
        concat_characters: bool = True,
        decode_coords: bool = True,
        use_cftime: bool | None = None,
        decode_timedelta: bool | None = None,
        in_place: bool = False,
    ) -> xr.Dataset:
        """Opens a group of a pool as a dataset.

        `in_place`: values in one uncompressed block are read without a copy. They are read-only then, and unusable in a
        forked child.
        """
        pool = filename_or_obj if isinstance(filename_or_obj, Pool) else open_pool(filename_or_obj, "r")
        store = _GroupStore(pool, pool if group.strip("/") == "" else pool[group.strip("/")], in_place)
        return StoreBackendEntrypoint().open_dataset(
            store,
            drop_variables=drop_variables,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    def open_groups_as_dict(
        self, filename_or_obj: Any, *, drop_variables: str | Iterable[str] | None = None, **options: Any
    ) -> dict[str, xr.Dataset]:
        with closing(open_pool(filename_or_obj, "r")) as pool:
            names = ["/", *(f"/{name}" for name in pool.groups())]
        return {
            name: self.open_dataset(filename_or_obj, drop_variables=drop_variables, group=name, **options)
            for name in names
        }

    def open_datatree(
        self, filename_or_obj: Any, *, drop_variables: str | Iterable[str] | None = None, **options: Any
    ) -> xr.DataTree:
        groups = self.open_groups_as_dict(filename_or_obj, drop_variables=drop_variables, **options)
        tree: xr.DataTree = xr.DataTree.from_dict(groups)
        return tree


@xr.register_dataset_accessor("pmemcpy")  # type: ignore[no-untyped-call]
class PoolAccessor:
    """The accessor `ds.pmemcpy`, available after `import pmemcpy.xarray`."""

    def __init__(self, dataset: xr.Dataset) -> None:
        self._dataset = dataset

    def to_pool(
        self,
        pool: Pool | Path,
        group: str = "",
        *,
        mode: str = "a",
        step: int | None = None,
        encoding: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Stores every variable, coordinate and attribute, into a group of a pool.

        Variables of dask are stored chunk by chunk. What a pool has no type for is encoded by CF, such as dates of
        other calendars; text that is missing is "". Of a variable that is there already the attributes are replaced.
        `encoding`, such as {"u": {"codec": "zstd:5"}}, takes what CF knows (dtype, scale_factor, add_offset,
        _FillValue, units, calendar), netCDF's zlib, complevel, shuffle and chunksizes, chunks, and what Group.create()
        takes.
        Crash: with `step` all of it appears at once, or nothing after an error; without, each variable for itself.
        Errors: AlreadyExistsError where a variable has another shape there; UnsupportedError for odd objects;
            ValueError for a name with "/", and for an encoding that a pool does not have.
        """
        if isinstance(pool, Pool):
            self._into(pool, group, step, encoding or {})
            return
        with open_pool(pool, mode) as opened:
            self._into(opened, group, step, encoding or {})

    def _into(self, pool: Pool, group: str, step: int | None, encoding: Mapping[str, Mapping[str, Any]]) -> None:
        unknown = set(encoding) - set(self._dataset.variables)
        if unknown:
            raise ValueError(f"encoding names what is no variable: {sorted(map(str, unknown))}")
        for name in self._dataset.variables:
            if not isinstance(name, str) or "/" in name:
                raise ValueError(f"the variable {name!r} needs another name: text without '/', which is for groups")
        group = group.strip("/")
        unlimited = set(self._dataset.encoding.get("unlimited_dims", ()))
        variables, attrs = conventions.encode_dataset_coordinates(self._dataset)
        planned = {str(name): encoded(str(name), one, encoding.get(name, {})) for name, one in variables.items()}
        with nullcontext() if step is None else pool.step(step):
            into: Group = pool.create_group(group) if group else pool
            for name, (variable, how) in planned.items():
                self._store(into, name, variable, unlimited, how)
            _replace(into.attrs, attrs)

    def _store(self, group: Group, name: str, variable: xr.Variable, unlimited: set[Any], how: Storage) -> None:
        shape: tuple[int | None, ...] = variable.shape
        if variable.dims and variable.dims[0] in unlimited:
            shape = (None, *variable.shape[1:])
        array = group.create(name, shape, variable.dtype, **how.options)
        if variable.chunks is not None and not how.is_in_chunks:
            import dask.array

            dask.array.store(variable.data, array, lock=False)
        elif variable.size:
            store_in_boxes(array, np.asarray(variable.data), how.boxes)
        _replace(array.attrs, {**variable.attrs, DIMENSIONS: [str(dim) for dim in variable.dims]})


def _replace(attrs: Attributes, new: Mapping[Any, Any]) -> None:
    """As netCDF and Zarr have it: what was stored earlier and is not there any more goes."""
    attrs.update(new)
    for name in set(attrs) - set(new) - OURS:
        del attrs[name]


__all__ = ["PoolAccessor", "PoolBackend"]
