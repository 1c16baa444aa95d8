"""Groups, and the pool as the outermost of them: mappings from names to arrays, values and groups."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, MutableMapping
from contextlib import suppress
from html import escape
from typing import Any

import numpy as np

from . import _core, casts, datasets, html, masked, nested, values, whole
from .arrays import Array
from .attributes import Attributes
from .dtypes import element_of
from .errors import AlreadyExistsError, Error, InvalidArgumentError, NotFoundError, UnsupportedError
from .info import Report
from .query import Found, counted
from .selections import Shape
from .tree import Tree
from .variable import Value
from .watch import Watch

_Kind = _core.VariableKind


class Group(MutableMapping[str, Any]):
    """Names within a group; a `/` in a name leads into the groups in it. Storing an object makes its groups."""

    _pool: _core.Pool
    _prefix: str
    _step: int | None = None

    def __init__(self, pool: _core.Pool, id: str, step: int | None = None) -> None:
        self._pool = pool
        self._prefix = id + "/"
        self._step = step

    @property
    def name(self) -> str:
        """Its id; "/" for the pool."""
        return self._prefix.rstrip("/") or "/"

    @property
    def attrs(self) -> Attributes:
        return Attributes(self._pool, self.name)

    @property
    def creation(self) -> Report:
        """The creator and the time, as Variable.creation; for the pool itself see its info. Errors: NotFoundError."""
        return Report(self._pool.creation(self.name))

    # ---- as a mapping ----

    def __getitem__(self, name: str) -> Any:
        """Returns an Array, a Value or a Group. Errors: NotFoundError, a KeyError."""
        id = self._id_of(name)
        info = self._pool.info(id)
        if info.kind == _Kind.array:
            return Array(self._pool, id, self._step, info)
        if info.kind == _Kind.group:
            return Group(self._pool, id, self._step)
        if self._step is not None and info.step > self._step:
            raise NotFoundError(f"{id} at step {self._step}: of a value only the newest is kept, of step {info.step}")
        return Value(self._pool, id)

    def __setitem__(self, name: str, data: Any) -> None:
        """Stores an array, which is made if new, or a value, which replaces an older one.

        Lists of numbers are arrays, as in numpy; other lists, and dicts, are JSON, which can hold no arrays: see
        store_tree(). A masked array is stored as its data, with the attribute `_FillValue` as the value in masked
        places.
        Errors: AlreadyExistsError for an array of another shape; TypeError or OverflowError for another dtype that does
            not hold it, or for longer text: delete the array first.
        """
        self.store(name, data)

    def __delitem__(self, name: str) -> None:
        self._check_present()
        self._pool.erase(self._id_of(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._pool.members(self.name))

    def __len__(self) -> int:
        return self._pool.count_members(self.name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._pool.exists(self._id_of(name))

    # ---- the library's verbs ----

    def load(self, name: str) -> Any:
        """Loads a copy: a numpy array, or the value."""
        found = self[name]
        if isinstance(found, Group):
            raise InvalidArgumentError(f"{found.name} is a group; load what is in it")
        return found[()] if isinstance(found, Value) else found[...]

    def store(self, name: str, data: Any, *, codec: str = "none") -> None:
        """Stores as `self[name] = data`; a new array gets `codec`, such as "zstd:5"."""
        self._check_present()
        id = self._id_of(name)
        if isinstance(data, Array) and data._id == id and data._pool is self._pool and data._step is None:
            return  # pool["u"] += 1 has stored it
        array = whole.as_array(data)
        if array is None:
            self._pool.store_value(id, *values.encode(data))
            return
        if self._pool.exists(id):
            self._overwrite(id, array)
            return
        array, dtype, fill = whole.storable(array, id)
        created = self.create(name, array.shape, dtype, order=whole.order_of(array), codec=codec, fill_value=fill)
        try:
            if fill is not None:
                created.attrs[masked.FILL] = fill
            created[...] = array
        except BaseException:
            with suppress(Error):  # such as in a step, with which the array goes
                if self._pool.info(id).blocks == 0:  # nobody else has found and filled it
                    self._pool.erase(id)
            raise

    def create(
        self,
        name: str,
        shape: int | tuple[int | None, ...],
        dtype: Any = np.float64,
        *,
        codec: str = "none",
        order: str = "C",
        contiguous: bool = False,
        fill_value: Any = None,
        scope: str = "shared",
    ) -> Array:
        """Makes an array, or finds the same one: every process may call this.

        `contiguous` makes one block that update() writes in place. With `scope` "private" only its owner ever sees it;
        see set_scope().
        Shape: the first extent may be None, and grows.
        Errors: AlreadyExistsError (another dtype, shape or kind), InvalidArgumentError, UnsupportedError (dtype).
        """
        self._check_present()
        dims = _extents(name, shape)
        element = element_of(dtype)
        fill = None
        if fill_value is not None:
            one = np.empty((), element.stored)
            one[...] = casts.given(element, fill_value, f"{name}, fill value,")
            fill = one.tobytes()
        id = self._id_of(name)
        self._pool.alloc(
            id, element.type, dims, codec=codec, order=order, contiguous=contiguous, fill_value=fill, scope=scope
        )
        return Array(self._pool, id)

    def create_group(self, name: str) -> Group:
        """Makes an empty group, or finds it. Errors: AlreadyExistsError (a variable)."""
        self._check_present()
        self._pool.make_group(self._id_of(name))
        found = self[name]
        assert isinstance(found, Group)
        return found

    # ---- as h5py calls it ----

    def create_dataset(
        self,
        name: str,
        shape: int | tuple[int, ...] | None = None,
        dtype: Any = None,
        data: Any = None,
        *,
        chunks: Any = None,
        compression: Any = None,
        compression_opts: int | None = None,
        shuffle: bool = False,
        fillvalue: Any = None,
        maxshape: Any = None,
        **others: Any,
    ) -> Any:
        """Makes a new array as h5py does: from `data`, or of a shape, with 0 where no store has been.

        With a shape as `chunks`, `data` is stored chunk by chunk; later stores make blocks of their own. `maxshape` may
        have None in front. `compression`: "gzip", a level of it, or a codec such as "zstd:5".
        Errors: AlreadyExistsError; TypeError for other arguments of h5py; UnsupportedError for `maxshape`.
        """
        datasets.refuse(others, "shape, dtype, data, chunks, compression, shuffle, fillvalue and maxshape")
        codec = datasets.codec_of(compression, compression_opts, shuffle)
        return datasets.create_dataset(self, name, shape, dtype, data, chunks, codec, fillvalue, maxshape)

    def require_dataset(self, name: str, shape: Any, dtype: Any, exact: bool = False, **more: Any) -> Any:
        """Returns the array of this shape and dtype, or one that holds it; made if missing. Errors: TypeError.

        With `exact` the dtype must be the same.
        """
        return datasets.require_dataset(self, name, shape, dtype, exact, more)

    def require_group(self, name: str) -> Group:
        """The same as create_group()."""
        return self.create_group(name)

    # ---- trees of arrays ----

    def store_tree(self, name: str, tree: Any, *, codec: str = "none") -> None:
        """Stores a dict, list or tuple, nested as you like, as a group: an array in it as an array, the rest as values.

        load_tree() gives it back as it was: numbers and scalars of numpy, also bfloat16, float8 and int4 of ml_dtypes,
        keys that are no text, lists, tuples, None. Other mappings come back as dicts, other arrays as numpy's.
        Crash: in the place of an older tree a new one is there as a whole: load_tree() is a BusyError from the first
            change to the last, also when this process dies in between. In a step others see the older until the commit;
            then names, shapes and dtypes must be those of the older. Else store under a new name, and erase_tree().
        Sharing: one process at a time stores a tree under one name.
        Errors: TypeError, before anything is stored, for what would not come back as it was; AlreadyExistsError for a
            group with other things in it; UnsupportedError in a step for a tree with other arrays than the older one.
        Example: pool.store_tree("model", {"layers": [{"w": w, "b": b}], "step": 7})
        """
        self._check_present()
        nested.store(self, name, tree, codec)

    def load_tree(self, name: str) -> Any:
        """Loads what store_tree() stored. Errors: NotFoundError (no tree), BusyError (incomplete, or being stored)."""
        self._check_present()
        return nested.load(self, name)

    def erase_tree(self, name: str) -> None:
        """Erases a tree with everything in its group. Errors: NotFoundError (no tree), UnsupportedError (in a step)."""
        self._check_present()
        nested.erase(self, name)

    def erase_all(self, name: str) -> int:
        """Erases a variable, or a group with all that is in it. Returns how many variables and groups that were.

        Crash: some of it is erased, the rest is whole.
        Errors: NotFoundError; BusyError (others store in it); UnsupportedError (in a step).
        """
        self._check_present()
        return self._pool.erase_all(self._id_of(name))

    def keep_newest(self, count: int) -> list[str]:
        """Erases all that is directly in this group but the `count` members created last; their names are returned.

        For a group of its own for each step, or checkpoint, of which the last few are kept.
        Errors: as erase_all().
        Example: pool["out"].keep_newest(3)
        """
        self._check_present()
        return self._pool.keep_newest(self.name, operator.index(count))

    def rename(self, old: str, new: str) -> None:
        """Renames a variable, atomically."""
        self._check_present()
        self._pool.rename(self._id_of(old), self._id_of(new))

    def ids(self, prefix: str = "") -> list[str]:
        """The names of all variables below, relative to this group, sorted."""
        return [id[self._skipped :] for id in self._pool.ids(self._id_of(prefix))]

    def groups(self, prefix: str = "") -> list[str]:
        """The names of all groups below, relative to this group, sorted."""
        return [id[self._skipped :] for id in self._pool.groups(self._id_of(prefix))]

    def watch(self, name: str, timeout: float | None = None) -> Watch:
        """Yields the Array, Value or Group for each version that any process publishes; None when it is erased.

        Sleeps in the kernel until something comes; the name need not exist yet. Does not notice writes through
        update(). With `timeout` it ends when nothing has come for so many seconds.
        Example: for u in pool.watch("u"): plot(u[...])
        """
        return Watch(self._pool.watch(self._id_of(name)), lambda: self.get(name), timeout)

    def find(self, query: str = "") -> Found:
        """What is below and meets a query, such as 'max > 300 and run.author = "li"': the language is in docs/query.md.

        Errors: InvalidArgumentError for what is no query, with the column; TypeMismatchError when unlike things are
        compared, at once or at the end.
        """
        self._check_present()
        return Found(self._pool, self.name, query, lambda id: self.get(f"/{id}"))

    def count(self, query: str = "") -> int | dict[Any, int]:
        """Counts the objects below that meet a query; for one that ends in `count by KEY`, those of each value.

        Shape: a dict from values to numbers; None is for objects without one.
        """
        self._check_present()
        return counted(self._pool, self.name, query)

    def scope(self, name: str) -> str:
        """The scope of a variable or group: "shared" with all users who may read the pool, or "private". Errors:
        NotFoundError.
        """
        self._check_present()
        return self._pool.scope_of(self._id_of(name))

    def set_scope(self, name: str, scope: str) -> None:
        """Makes a variable, or a group with all its present and future members, private or shared again.

        An object that becomes private is wiped from the pool's files before this returns: see docs/sharing.md.
        Errors: NotFoundError, BusyError, PermissionDeniedError, UnsupportedError.
        """
        self._check_present()
        self._pool.set_scope(self._id_of(name), scope)

    def index_mode(self, name: str) -> str:
        """The index mode of a name: "none", "async" or "sync"; see set_index_mode()."""
        return self._pool.index_mode_of(self._id_of(name))

    def set_index_mode(self, name: str, mode: str | None) -> None:
        """Sets the index mode of a variable, or of a group with all its members, instead of the pool's.

        "none": the index has only the id, and each query looks at the object; for data that is stored often and found
        by name. "sync": the index has the object when the storing call returns. None: as the group above, or the pool.
        Errors: NotFoundError, PermissionDeniedError; ValueError in a pool without an index.
        """
        self._pool.set_index_mode_of(self._id_of(name), mode)

    def share(self, query: str, scope: str = "shared") -> int:
        """Calls set_scope() for each variable below that a query finds. Returns how many were moved."""
        self._check_present()
        return self._pool.share(self.name, query, scope)

    def tree(self) -> Tree:
        """A drawing of everything below."""
        return Tree(self._pool, self.name)

    def __repr__(self) -> str:
        return f"<pmemcpy group {self.name!r}: {html.count(len(self))}>"

    def _repr_html_(self) -> str:
        return html.of_group(self._pool, self.name, escape(repr(self).strip("<>")))

    def __reduce__(self) -> Any:
        return Group, (self._pool, self.name, self._step)

    # ---- inside ----

    @property
    def _skipped(self) -> int:
        return 0 if self._prefix == "/" else len(self._prefix)

    def _id_of(self, name: str) -> str:
        if not isinstance(name, str):
            raise TypeError(f"names are text, not {type(name).__name__}")
        return name.lstrip("/") if self._prefix == "/" or name.startswith("/") else self._prefix + name

    def _check_present(self) -> None:
        if self._step is not None:
            raise UnsupportedError("what a step held is only read; change the pool itself")

    def _overwrite(self, id: str, array: np.ndarray[Any, Any]) -> None:
        there = self._pool.info(id)
        if there.kind != _Kind.array:
            raise AlreadyExistsError(f"{id} is a {there.kind.name}; delete it before an array takes its name")
        stored = Array(self._pool, id, info=there)
        if stored.shape != array.shape:
            raise AlreadyExistsError(
                f"{id} has shape {stored.shape}, not {array.shape}: store into a part of it, or delete it first"
            )
        if isinstance(array, np.ma.MaskedArray) and masked.FILL not in stored.attrs and stored.fill_value is None:
            array, fill = masked.filled(array, id, masked.fill_of(array))
            if fill is not None:
                stored.attrs[masked.FILL] = fill  # before the elements that it says something of
        stored[...] = array


def _extents(name: str, shape: Any) -> tuple[int | None, ...]:
    """The extents of a new array. Errors: TypeError, InvalidArgumentError."""
    extents = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    if len(extents) > _core.max_dimensions:
        raise InvalidArgumentError(
            f"{name}: an array has at most {_core.max_dimensions} dimensions, not {len(extents)}"
        )
    given = tuple(None if extent is None else operator.index(extent) for extent in extents)
    if any(extent is not None and not 0 <= extent < 2**64 - 1 for extent in given):
        raise InvalidArgumentError(
            f"{name}: {given} is no shape: extents are 0 or more, and None in front for one that grows"
        )
    return given


__all__ = ["Array", "Group", "Shape", "Value"]
