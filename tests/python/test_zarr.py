"""Zarr's own tests of stores, on a pool and on a group in one; and arrays of Zarr on it."""

from pathlib import Path
from typing import Any

import numpy as np
import pmemcpy
import pytest

zarr = pytest.importorskip("zarr")
from pmemcpy.zarr import ZarrStore  # noqa: E402
from zarr.core.buffer import Buffer, cpu  # noqa: E402
from zarr.testing.store import StoreTests  # noqa: E402


class TestPool(StoreTests[ZarrStore, cpu.Buffer]):
    store_cls = ZarrStore
    buffer_cls = cpu.Buffer
    group = ""

    async def set(self, store: ZarrStore, key: str, value: Buffer) -> None:
        data = value.to_bytes()
        store.pool[f"{self.group}{key}"] = data

    async def get(self, store: ZarrStore, key: str) -> Buffer:
        return self.buffer_cls.from_bytes(store.pool.load(f"{self.group}{key}"))

    @pytest.fixture
    def store_kwargs(self, path: str) -> dict[str, Any]:
        return {"pool": pmemcpy.open(path, "a"), "group": self.group.rstrip("/")}

    def test_store_repr(self, store: ZarrStore) -> None:
        assert repr(store).startswith("ZarrStore('pmemcpy://")

    def test_store_supports_writes(self, store: ZarrStore) -> None:
        assert store.supports_writes

    def test_store_supports_listing(self, store: ZarrStore) -> None:
        assert store.supports_listing


class TestGroup(TestPool):
    group = "in/here/"


def test_arrays_and_groups_of_zarr(path: str) -> None:
    store = ZarrStore(path, "z")
    root = zarr.create_group(store)
    array = root.create_array("g/u", shape=(100, 80), chunks=(30, 40), dtype="f8", shards=None)
    expected = np.random.default_rng(1).random((100, 80))
    array[:] = expected
    array.attrs["units"] = "m/s"
    array[10:20, ::3] = 7
    expected[10:20, ::3] = 7
    again = zarr.open_group(ZarrStore(path, "z", read_only=True), mode="r")
    np.testing.assert_array_equal(again["g/u"][:], expected)
    assert again["g/u"].attrs["units"] == "m/s"
    assert sorted(again) == ["g"]
    with pytest.raises(ValueError, match="read"):
        again["g/u"][0] = 1


def test_what_is_read_is_not_copied_and_stays(path: str) -> None:
    store = ZarrStore(path)
    data = np.arange(100_000, dtype=np.uint8)
    store.set_sync("c/0", cpu.Buffer.from_bytes(data.tobytes()))
    found = store.get_sync("c/0")
    assert found is not None
    store.set_sync("c/0", cpu.Buffer.from_bytes(b"other"))
    store.delete_sync("c/0")
    np.testing.assert_array_equal(found.as_numpy_array(), data)


def test_a_damaged_or_missing_pool_is_an_error(path: str) -> None:
    with pytest.raises(FileNotFoundError):
        ZarrStore(path, read_only=True)
    Path(path).write_bytes(b"no pool" * 1000)
    with pytest.raises(pmemcpy.CorruptError):
        ZarrStore(path)
