"""Arrays in a pool, indexed as numpy's are: a load gives a copy, a view shows the elements in the pool."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from . import _core, casts, html, masked, selections
from .blocks import Block
from .dtypes import Element, stored_element
from .errors import InvalidArgumentError, NotFoundError, UnsupportedError
from .operators import Operators
from .scatter import MOST_BOXES, Scattered, gathered
from .selections import Hyperslab, Shape
from .variable import Variable

NDArray = np.ndarray[Any, Any]

_LARGE_BYTES = 4 << 20
_LONGEST = 2**64 - 1


class Array(Operators, Variable):
    """A named array. `a[...]` loads a copy, `a[10:20, ::2] = block` stores a hyperslab, `a.view()` copies nothing.

    Indices are numpy's: numbers, slices with any step, `...`, None, arrays of indices and masks. What arrays of indices
    and masks ask for is loaded in up to 256 boxes, or in the smallest one that has it all, whichever is less work.
    Crash: a store appears whole or not at all; see store() of arrays of indices.
    Sharing: threads and processes may load, and store into different boxes; of the same box the last store counts.
    """

    def __init__(self, pool: _core.Pool, id: str, step: int | None = None, info: _core.Info | None = None) -> None:
        super().__init__(pool, id)
        self._step = step
        if info is not None:
            self._info = info

    # ---- what it is ----

    @cached_property
    def _info(self) -> _core.Info:
        return self._pool.info(self._id)

    @cached_property
    def _element(self) -> Element:
        return stored_element(self._info.type)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a load; text is decoded from UTF-8."""
        return self._element.dtype.base

    @property
    def shape(self) -> Shape:
        """The present shape: an unlimited array grows."""
        return self._extents + self._element.stored.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements, before any compression."""
        return self.size * self._element.stored.base.itemsize

    @property
    def order(self) -> str:
        """The index that varies fastest: the last (C) or the first (F)."""
        return self._info.order

    @property
    def is_unlimited(self) -> bool:
        """True if stores past the end of the first dimension extend it."""
        return self._info.is_unlimited

    @property
    def value(self) -> Any:
        """All elements, as a load gives them; every stored object has a `value`."""
        return self.load()

    @property
    def fill_value(self) -> Any:
        """The value that a load gives for elements that no store has covered; None: a NotFoundError."""
        fill = self._info.fill_value
        return self._element.decoded(np.frombuffer(fill, self._element.stored))[0] if fill else None

    # ---- elements ----

    def __getitem__(self, key: Any) -> Any:
        return self.load(key)

    def load(self, key: Any = ..., out: NDArray | None = None) -> Any:
        """Loads a copy of `self[key]`; with `out`, into that array, which must have its shape and dtype.

        Errors: NotFoundError for elements that no store has covered, unless there is a fill value; OutOfRangeError.
        """
        slab = selections.select(key, self._extents)
        if out is not None and slab.then is None and self._is_as_stored(out, slab):
            self._load(slab, out)
            return out
        found = gathered(slab, self._element.stored, self._loaded)
        loaded = self._element.decoded(self._loaded(slab) if found is None else found)
        wanted = loaded if slab.then is None or found is not None else loaded[slab.then]
        if out is None:
            return wanted
        if out.shape != np.shape(wanted):
            raise InvalidArgumentError(f"out has shape {out.shape}, what is to be loaded has {np.shape(wanted)}")
        np.copyto(out, wanted, casting="same_kind")
        return out

    def __setitem__(self, key: Any, data: Any) -> None:
        self.store(key, data)

    def store(self, key: Any, data: Any, codec: str | None = None) -> None:
        """Stores as `self[key] = data`, with another codec for this store if `codec` names one.

        Smaller data is broadcast. Numbers are cast within their kind, as in numpy, if that changes none. Masked
        elements get the array's attribute `_FillValue`, else its fill value.
        Crash: whole or not at all, also for arrays of indices and masks that mean an evenly spaced box. Other ones
            become several stores, each of them whole. Above 256 stores, the smallest box around them is loaded, changed
            and stored; stores of other processes into that box meanwhile may be lost.
        Errors: TypeError (float into int, text that is too long), OverflowError (70000 into int16), ValueError (shape),
            OutOfRangeError, NoSpaceError.
        """
        if self._step is not None:
            raise UnsupportedError(f"{self._id}: what a step held is only read; store into the pool's present one")
        slab = selections.select(key, self._growing(key, data))
        if not slab.is_regular:
            self._scatter(slab, data, codec)
            return
        self._store(slab, self._dense(slab, data), codec)

    def resize(self, size: int | Shape, axis: int | None = None) -> None:
        """Makes the first dimension longer, as h5py does; what nobody has stored there has the fill value.

        A store behind the end, and append(), do that by themselves.
        Errors: UnsupportedError for another dimension, or one that becomes shorter; InvalidArgumentError without a
            fill value.
        """
        shape = self.shape
        wanted = tuple(size) if isinstance(size, Iterable) else (size,)
        if axis is not None:
            wanted = (*shape[:axis], *wanted, *shape[axis:][1:])
        if wanted == shape:
            return
        if len(wanted) != len(shape) or wanted[1:] != shape[1:] or wanted[0] < shape[0] or not self.is_unlimited:
            raise UnsupportedError(
                f"{self._id}: only the first dimension grows, of an array created with None there, and none becomes "
                f"shorter, so {shape} cannot become {wanted}; create another array, and store this one's elements in it"
            )
        if self.fill_value is None:
            raise InvalidArgumentError(
                f"{self._id} has no fill value for new elements; append() or store them, which makes it longer"
            )
        self.store(slice(wanted[0] - 1, wanted[0]), self.fill_value)

    def append(self, data: Any) -> None:
        """Stores `data` behind the last element of an unlimited array, along its first dimension.

        Shape: that of the array except along the first dimension; one dimension less for a single row.
        Sharing: two processes that append at the same time may choose the same place: let one append at a time.
        """
        if not self.is_unlimited:
            raise InvalidArgumentError(f"{self._id} has a fixed length; create it with None as its first dimension")
        data = np.asarray(data)
        if data.ndim == self.ndim - 1:
            data = data[np.newaxis]
        end = self._extents[0]
        self.store(slice(end, end + len(data)), data)

    # ---- memory ----

    def view(self, key: Any = ...) -> NDArray:
        """Shows the elements in the pool as a read-only array. It does not change when others store or erase.

        Errors: UnsupportedError when they lie in several blocks (see blocks()), or in a compressed one.
        Cost: microseconds, whatever the size. Text is given as bytes, in UTF-8.
        """
        return self._mapped(key, writable=False)

    def update(self, key: Any = ...) -> NDArray:
        """Shows the elements of a contiguous array for writing in place, shared by all processes, until freeze().

        Crash: before freeze() no promise covers what is written so.
        """
        return self._mapped(key, writable=True)

    def freeze(self) -> None:
        """Brings a contiguous array under the promise; no updates are possible afterwards."""
        self._pool.freeze(self._id)

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of the blocks along each dimension, in dask's form."""
        extents = self._extents
        cuts = [{0, extent} for extent in extents]
        for block in self._pool.blocks(self._id):
            for d, (first, count, stride) in enumerate(zip(block.offset, block.count, block.stride, strict=True)):
                cuts[d] |= {first, min(first + count, extents[d])} if stride == 1 else set()
        within = tuple((extent,) for extent in self._element.stored.shape)
        return tuple(_lengths(sorted(edges)) for edges in cuts) + within

    def blocks(self) -> list[Block]:
        """The blocks of the array: the result of each store, except where newer ones cover it."""
        return [Block(self, block) for block in self._pool.blocks(self._id)]

    # ---- numpy's, Python's ----

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        if copy is False:
            view = self.view()
            if dtype is not None and np.dtype(dtype) != view.dtype:
                raise ValueError(f"{self._id} as {np.dtype(dtype)} is a copy")
            return view
        loaded: NDArray = self.load()
        return loaded if dtype is None else loaded.astype(dtype, copy=False)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{self._id} has no dimensions, so no length")
        return self.shape[0]

    def __repr__(self) -> str:
        at = "" if self._step is None else f" at step {self._step}"
        return f"<pmemcpy array {self._id!r}{at}: shape {self.shape}, {self.dtype}>"

    def _repr_html_(self) -> str:
        return html.of_array(self)

    def __reduce__(self) -> Any:
        return Array, (self._pool, self._id, self._step)

    # ---- inside ----

    @property
    def _order(self) -> Any:
        return self._info.order

    @property
    def _extents(self) -> Shape:
        """The shape without the dimensions that each element has in itself."""
        if not self._info.is_unlimited:
            return self._info.dims
        return self._pool.info(self._id).dims

    def _growing(self, key: Any, data: Any) -> Shape:
        """The shape that a store may reach: past the end of an unlimited array as far as the key says, or the data."""
        extents = self._extents
        if not self.is_unlimited:
            return extents
        first = key[0] if isinstance(key, tuple) and key else key
        end = extents[0]
        if isinstance(first, slice) and first.stop is not None:
            end = max(end, int(first.stop))
        elif isinstance(first, slice) and np.ndim(data) == len(self.shape):
            end = max(end, int(first.start or 0) + len(data))
        elif isinstance(first, (int, np.integer)):
            end = max(end, int(first) + 1)
        elif first is Ellipsis and np.ndim(data) == len(self.shape):
            end = max(end, len(data))
        return (min(end, _LONGEST), *extents[1:])

    def _is_as_stored(self, array: NDArray, slab: Hyperslab) -> bool:
        """Whether its bytes are what lies in the pool for that slab."""
        stored = self._element.stored
        lies_so = array.flags.f_contiguous if self._order == "F" else array.flags.c_contiguous
        return array.dtype == stored.base and array.shape == slab.count + stored.shape and lies_so

    def _room(self, slab: Hyperslab) -> NDArray:
        """An array for what is loaded. A large one has memory of earlier ones that were dropped, for new pages cost
        more than the copy."""
        stored = self._element.stored
        size_bytes = stored.itemsize * math.prod(slab.count)
        if size_bytes < _LARGE_BYTES:
            return np.empty(slab.count, stored, order=self._order)
        lies = memoryview(_core.recycled(size_bytes))  # type: ignore[arg-type]
        return np.ndarray(slab.count, stored, lies, order=self._order)

    def _loaded(self, slab: Hyperslab) -> NDArray:
        loaded = self._room(slab)
        self._load(slab, loaded)
        return loaded

    def _load(self, slab: Hyperslab, into: NDArray) -> None:
        self._pool.load(self._id, self._element.type, _raw(into), slab.offset, slab.count, slab.stride, self._step)

    def _store(self, slab: Hyperslab, dense: NDArray, codec: str | None) -> None:
        self._pool.store(self._id, self._element.type, _raw(dense), slab.offset, slab.count, slab.stride, codec)

    def _scatter(self, slab: Hyperslab, data: Any, codec: str | None) -> None:
        try:
            scattered = Scattered(slab, source := self._source(data), self._element.stored)
        except ValueError as error:
            raise InvalidArgumentError(f"{self._id}: {error}") from None
        if scattered.boxes > MOST_BOXES:
            around = self._room(slab)
            with suppress(NotFoundError):  # where not all of the box around has been stored
                self._load(slab, around)
                around[slab.then] = source
                self._store(slab, around, codec)
                return
        for box, elements in scattered.each():
            self._store(box, np.asarray(elements, order=self._order), codec)

    def _source(self, data: Any) -> NDArray:
        """What the user gives as elements of this array."""
        if isinstance(data, Array):
            data = data.load()
        if isinstance(data, np.ma.MaskedArray):
            data = masked.filled(data, self._id, self.attrs.get(masked.FILL, self.fill_value))[0]
        return casts.given(self._element, data, self._id)

    def _dense(self, slab: Hyperslab, data: Any) -> NDArray:
        """The bytes of a store: the data themselves when they lie so, else a copy that does."""
        stored = self._element.stored
        if type(data) is np.ndarray and slab.then is None and self._is_as_stored(data, slab):
            return data
        source = self._source(data)
        if slab.then is None and self._is_as_stored(source, slab):  # such as that of a masked array
            return source
        dense = np.empty(slab.count, stored, order=self._order)
        try:
            dense[... if slab.then is None else slab.then] = source
        except ValueError as error:
            wanted = slab.shape + stored.shape
            raise InvalidArgumentError(
                f"{self._id}: cannot store shape {source.shape} into {wanted}: {error}"
            ) from None
        return dense

    def _mapped(self, key: Any, writable: bool) -> NDArray:
        if self._step is not None:
            raise UnsupportedError(f"{self._id}: what a step held has no view; load it")
        slab = selections.select(key, self._extents)
        if not slab.is_regular:
            raise UnsupportedError(f"{self._id}: arrays of indices make copies; load instead")
        stored = self._element.stored
        memory, strides = self._pool.view(
            self._id, self._element.type, slab.offset, slab.count, slab.stride, writable=writable
        )
        in_bytes = tuple(stride * stored.itemsize for stride in strides)
        if stored.shape:  # each element is an array in itself
            in_bytes += np.empty((), stored).strides
        lies = memoryview(memory)  # type: ignore[arg-type]  # the types of buffers came with Python 3.12
        array: NDArray = np.ndarray(slab.count + stored.shape, stored.base, lies, strides=in_bytes)
        array.flags.writeable = writable  # numpy gives memory of its own to what is empty
        if slab.then is None:
            return array
        part: NDArray = array[slab.then if Ellipsis in slab.then else (*slab.then, ...)]
        return part


def _lengths(edges: list[int]) -> tuple[int, ...]:
    return tuple(end - begin for begin, end in itertools.pairwise(edges)) or (0,)


def _raw(array: NDArray) -> NDArray:
    """The bytes of an array that lies in one piece, in the order in which they lie."""
    flat = array.reshape(-1, order="C" if array.flags.c_contiguous else "F")
    return flat.view(np.uint8) if flat.size else np.empty(0, np.uint8)
