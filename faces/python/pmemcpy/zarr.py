"""A pool, or a group in it, as a store of Zarr: `zarr.open(pmemcpy.zarr.ZarrStore("run.pmem"))`."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable
from typing import Any

import numpy as np
from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype

from . import values
from .errors import NotFoundError
from .pool import Path, Pool
from .pool import open as open_pool


class ZarrStore(Store):
    """Each key of Zarr is a value in the pool, of bytes; `group` is put before it.

    What is read is not copied: a chunk lies in the pool, pinned, until Zarr drops it.
    Crash: each key is set or deleted whole.
    """

    supports_writes = True
    supports_deletes = True
    supports_listing = True

    def __init__(self, pool: Pool | Path, group: str = "", *, read_only: bool = False) -> None:
        super().__init__(read_only=read_only)
        self.pool = pool if isinstance(pool, Pool) else open_pool(pool, "r" if read_only else "a")
        self.group = group.strip("/")
        self._prefix = f"{self.group}/" if self.group else ""

    def with_read_only(self, read_only: bool = False) -> ZarrStore:
        return type(self)(self.pool, self.group, read_only=read_only)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and (self.pool.path, self.group, self.read_only) == (
            other.pool.path,
            other.group,
            other.read_only,
        )

    def __str__(self) -> str:
        return f"pmemcpy://{self.pool.path}" + (f":{self.group}" if self.group else "")

    def __repr__(self) -> str:
        return f"ZarrStore('{self}')"

    def __reduce__(self) -> Any:
        return _again, (self.pool, self.group, self.read_only)

    # ---- one key ----

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        self._is_open = True
        try:
            memory = self.pool._pool.view_value(self._prefix + key)
        except NotFoundError:
            return None
        data = np.frombuffer(memoryview(memory), np.uint8)  # type: ignore[arg-type]
        wanted = data[_slice(byte_range, len(data))]
        buffer: Buffer = (prototype or default_buffer_prototype()).buffer.from_array_like(wanted)
        return buffer

    def set_sync(self, key: str, value: Buffer) -> None:
        self._check_writable()
        self._is_open = True
        if not isinstance(value, Buffer):
            raise TypeError(f"a store of Zarr holds Buffers, not {type(value).__name__}")
        type_, serializer, _ = values.encode(b"")
        self.pool._pool.store_value(self._prefix + key, type_, serializer, value.as_numpy_array())

    def delete_sync(self, key: str) -> None:
        self._check_writable()
        self._is_open = True
        with contextlib.suppress(NotFoundError):
            self.pool._pool.erase(self._prefix + key)

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        return self.get_sync(key, prototype=prototype, byte_range=byte_range)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        return [self.get_sync(key, prototype=prototype, byte_range=wanted) for key, wanted in key_ranges]

    async def set(self, key: str, value: Buffer) -> None:
        self.set_sync(key, value)

    async def delete(self, key: str) -> None:
        self.delete_sync(key)

    async def exists(self, key: str) -> bool:
        return self._prefix + key in self.pool

    async def getsize(self, key: str) -> int:
        try:
            return self.pool._pool.info(self._prefix + key).size_bytes
        except NotFoundError:
            raise FileNotFoundError(key) from None

    # ---- keys ----

    async def list(self) -> AsyncIterator[str]:
        async for key in self.list_prefix(""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        for id in self.pool.ids(self._prefix + prefix):
            yield id.removeprefix(self._prefix)

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        below = self._prefix + (f"{prefix.rstrip('/')}/" if prefix.rstrip("/") else "")
        for name in sorted({id.removeprefix(below).split("/", 1)[0] for id in self.pool.ids(below)}):
            yield name


def _again(pool: Pool, group: str, read_only: bool) -> ZarrStore:
    return ZarrStore(pool, group, read_only=read_only)


def _slice(wanted: ByteRequest | None, size: int) -> slice:
    """The bytes that a request means. Errors: ValueError for what is no request."""
    if wanted is None:
        return slice(None)
    if isinstance(wanted, RangeByteRequest):
        return slice(wanted.start, wanted.end)
    if isinstance(wanted, OffsetByteRequest):
        return slice(wanted.offset, None)
    if isinstance(wanted, SuffixByteRequest):
        return slice(max(0, size - wanted.suffix), None)
    raise ValueError(f"Unexpected byte_range, got {wanted}.")
