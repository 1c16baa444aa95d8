"""Zarr as others know it: what a program stored, xarray, Zarr 2; what is large, and what is there already."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pmemcpy
import pytest
import xarray as xr
import zarr
import zarr.codecs as zc
from conftest import ROWS, Command
from pmemcpy.xarray import PoolBackend
from zarr_stores import assert_same, chunks, documents, mixed

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")


def test_what_a_program_stored_is_read_by_zarr(command: Command, folder: Path) -> None:
    rng = np.random.default_rng(3)
    big = rng.normal(size=(700, 1000))
    records = np.zeros(3, np.dtype([("id", ">i4"), ("x", "<f8", (2,)), ("name", "S3")], align=True))
    records["id"] = [1, 2, 3]
    records["x"][1] = [4, 5]
    records["name"] = [b"a", b"bc", b""]
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        pool["big"] = big
        pool["big"].attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
        pool["g/fortran"] = np.asfortranarray(np.arange(24.0).reshape(2, 3, 4))
        packed = pool.create("packed", (100, 100), "f4", codec="lz4:3:shuffle", fill_value=-1)
        packed[:50] = big[:50, :100].astype("f4")
        pool["network"] = np.arange(5, dtype=">u2")
        pool["words"] = np.array(["", "β", "three words long"])
        pool["ascii"] = np.array([b"ab", b"c"])
        pool["mask"] = np.array([True, False])
        pool["time"] = np.array(["2026-01-01", "NaT"], "M8[D]")
        pool["records"] = records
        holes = pool.create("holes", (4, 6), "i4")
        holes[1:3, ::2] = np.arange(6).reshape(2, 3)
        pool["n"] = 3
        pool["list"] = [1.5, 2.5]
        pool["name"] = "hällo"
        pool["settings"] = {"dt": 0.1}
        pool["__hidden"] = np.arange(3)
        pool["big"].attrs["matrix"] = np.eye(2)
        pool["big"].attrs["units"] = "m/s"
        pool["big"].attrs["count"] = np.int16(7)
        pool.attrs["when"] = np.datetime64(5, "s")
    command(
        "export",
        "p.pmem",
        "p.zarr",
        warnings=[
            "records: Zarr has no arrays inside of elements",
            "holes: some elements were never stored",
            "settings: a structure of JSON",
            "__hidden: Zarr keeps such names for itself; not exported",
            "when: of a datetime64",
        ],
    )
    file = zarr.open_group(folder / "p.zarr", mode="r")
    np.testing.assert_array_equal(file["big"][...], big)
    assert file["big"].metadata.dimension_names == ("y", "x")
    assert file["big"].chunks == (524, 1000), "whole rows, 4 MiB of them"
    assert dict(file["big"].attrs) == {"matrix": [[1, 0], [0, 1]], "units": "m/s", "count": 7}
    np.testing.assert_array_equal(file["g/fortran"][...], np.arange(24.0).reshape(2, 3, 4))
    np.testing.assert_array_equal(file["packed"][:50], big[:50, :100].astype("f4"))
    assert (file["packed"][50:] == -1).all() and file["packed"].fill_value == -1
    assert file["packed"].compressors[0].to_dict()["configuration"]["cname"] == "lz4"
    assert file["network"].metadata.to_dict()["codecs"][0]["configuration"]["endian"] == "big"
    np.testing.assert_array_equal(file["network"][...], np.arange(5))
    assert file["words"][...].tolist() == ["", "β", "three words long"]
    assert file["ascii"][...].tolist() == [b"ab", b"c"]
    assert file["mask"][...].tolist() == [True, False]
    np.testing.assert_array_equal(file["time"][...], np.array(["2026-01-01", "NaT"], "M8[D]"))
    assert file["records"][...]["id"].tolist() == [1, 2, 3]
    assert np.frombuffer(file["records"][...]["x"].tobytes()).tolist() == [0, 0, 4, 5, 0, 0]
    assert file["records"][...]["name"].tolist() == [b"a", b"bc", b""]
    np.testing.assert_array_equal(file["holes"][...], [[0] * 6, [0, 0, 1, 0, 2, 0], [3, 0, 4, 0, 5, 0], [0] * 6])
    assert file["n"][()] == 3 and file["n"].shape == ()
    assert file["list"][...].tolist() == [1.5, 2.5]
    assert file["name"][()] == "hällo"
    assert json.loads(str(file["settings"][()])) == {"dt": 0.1}
    assert "__hidden" not in file
    assert documents(folder / "p.zarr")["g"] == {"zarr_format": 3, "node_type": "group", "attributes": {}}


def test_xarray_opens_it(command: Command, folder: Path) -> None:
    data = xr.Dataset(
        {"u": (("t", "x"), np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]], "f4"), {"units": "m s-1"})},
        coords={"t": np.array(["2026-01-01", "2026-01-02"], "M8[ns]"), "x": [0.5, 1.5, 2.5]},
        attrs={"title": "a dataset"},
    )
    data.u.encoding["_FillValue"] = np.float32(-9)
    data.to_zarr(folder / "a.zarr", zarr_format=3, consolidated=False)
    back = command.there_and_back(folder / "a.zarr", "b.zarr")
    assert_same(folder / "a.zarr", back)
    with xr.open_dataset(back, engine="zarr", consolidated=False) as found:
        xr.testing.assert_identical(found.load(), data)
        assert found.u.dims == ("t", "x")
    with pmemcpy.open(folder / "a.zarr.pmem", "r") as pool:
        assert pool["u"].attrs["_FillValue"] == -9, "in a pool it is a number, as in other formats"
    data.u.encoding.clear()
    data.to_netcdf(folder / "a.nc", encoding={"u": {"_FillValue": -9.0}})
    command("import", "a.nc", "nc.pmem")
    command("export", "nc.pmem", "nc.zarr")
    with xr.open_dataset(folder / "nc.zarr", engine="zarr", consolidated=False) as found:
        xr.testing.assert_equal(found.load(), data)


# There the fill value says what is missing. Without the attribute xarray read -4.5 out of the pool.
def test_what_xarray_has_written_into_zarr_2_is_masked(command: Command, folder: Path) -> None:
    data = xr.Dataset(
        {
            "packed": ("x", [1.0, np.nan, 3.0]),
            "floats": ("x", np.array([1, np.nan, 3], "f4")),
            "plain": ("x", [0, 1, 2]),
        }
    )
    encoding = {"packed": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -9}}
    data.to_zarr(folder / "a.zarr", zarr_format=2, consolidated=False, encoding=encoding)
    command("import", "a.zarr", "p.pmem")
    with pmemcpy.open(folder / "p.pmem", "r") as pool:
        assert pool["packed"].attrs["_FillValue"] == np.int16(-9)
        assert "_FillValue" not in pool["plain"].attrs
    with xr.open_dataset(folder / "p.pmem", engine=PoolBackend) as found:
        xr.testing.assert_equal(found.load(), data)
    command("export", "p.pmem", "b.zarr")
    with xr.open_dataset(folder / "b.zarr", engine="zarr", consolidated=False) as found:
        xr.testing.assert_equal(found.load(), data)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("separator", [".", "/"])
def test_zarr_2_is_read(command: Command, folder: Path, order: str, separator: str) -> None:
    root = zarr.open_group(folder / "a.zarr", mode="w", zarr_format=2, attributes={"title": "old", "n": [1, 2]})
    made: dict[str, Any] = {}
    compressors = [None, numcodecs.Zlib(3), numcodecs.GZip(1), numcodecs.Zstd(1), numcodecs.Blosc("lz4", shuffle=1)]
    for i, name in enumerate(["?", "<i4", ">i2", "u1", ">f8", "<c8", "S3", "<U4", ">U3", "V2", "<M8[ns]", "f2"]):
        dtype = np.dtype(name)
        made[f"a{i}"] = mixed(i, dtype, (5, 4))
        root.create_array(
            f"g/a{i}",
            shape=(5, 4),
            chunks=(2, 3),
            dtype=dtype,
            compressors=compressors[i % 5],
            order=order,
            fill_value=None if i == 1 else made[f"a{i}"][0, 0],
            chunk_key_encoding={"name": "v2", "separator": separator},
        )[...] = made[f"a{i}"]
    root["g/a1"].attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
    root["g/a1"].attrs["units"] = "m"
    root.create_array("words", shape=(3,), dtype=str)[:] = ["a", "", "längere"]
    back = command.there_and_back(folder / "a.zarr", "b.zarr")
    new = zarr.open_group(back, mode="r")
    assert dict(new.attrs) == {"title": "old", "n": [1, 2]}
    with pmemcpy.open(folder / "a.zarr.pmem", "r") as pool:
        for name, expected in made.items():
            assert pool[f"g/{name}"][...].tolist() == expected.tolist(), name
            assert np.asarray(new[f"g/{name}"][...]).tolist() == expected.tolist(), name
        assert list(pool["words"][...]) == ["a", "", "längere"]
        assert list(pool["g/a1"].attrs["_ARRAY_DIMENSIONS"]) == ["y", "x"]
    assert new["g/a1"].metadata.zarr_format == 3
    assert new["g/a1"].metadata.dimension_names == ("y", "x")
    assert dict(new["g/a1"].attrs) == {"units": "m"}


def test_export_over_what_is_there(command: Command, folder: Path) -> None:
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        pool["a"] = np.arange(4)
    command("export", "p.pmem", "p.zarr")
    command.fails("export", "p.pmem", "p.zarr", code="already_exists", words=["p.zarr"])
    (folder / "p.zarr/mark").write_text("of the old one")
    command("export", "p.pmem", "p.zarr", "--overwrite")
    assert not (folder / "p.zarr/mark").exists()
    (folder / "mine").mkdir()
    (folder / "mine/thesis.tex").write_text("irreplaceable")
    command.fails("export", "p.pmem", "mine", "--format", "zarr", "--overwrite", code="already_exists", words=["mine"])
    (folder / "file.zarr").write_text("a file")
    command("export", "p.pmem", "file.zarr", "--overwrite")
    assert zarr.open_group(folder / "file.zarr", mode="r")["a"][...].tolist() == [0, 1, 2, 3]
    left = {p.name for p in folder.iterdir() if not p.name.endswith(".rt")}
    assert left == {"p.pmem", "p.zarr", "mine", "file.zarr"}


@pytest.mark.parametrize("shards", [None, (64, 1 << 17)])
def test_memory_does_not_grow_with_the_store(folder: Path, command: Command, shards: tuple[int, int] | None) -> None:
    """Shards have 64 MiB."""
    array = zarr.create_array(
        folder / "a.zarr",
        shape=(ROWS, 1 << 17),
        chunks=(1, 1 << 17),
        shards=shards,
        dtype="f8",
        compressors=zc.ZstdCodec(level=-5),
    )
    row = np.arange(1 << 17, dtype="f8")
    for i in range(0, ROWS, 64):
        array[i : i + 64] = row + np.arange(i, i + 64)[:, None]
    command.in_little_memory("import", "a.zarr", "p.pmem", "--max-size", f"{2 * ROWS}MiB")
    command.in_little_memory("export", "p.pmem", "b.zarr")
    np.testing.assert_array_equal(zarr.open_array(folder / "b.zarr", mode="r")[ROWS - 1], row + ROWS - 1)
    assert chunks(folder / "a.zarr") == chunks(folder / "b.zarr")
