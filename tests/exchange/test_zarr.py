"""Zarr directories into a pool and out of it, compared with zarr-python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pmemcpy
import pytest
import xarray as xr
import zarr
import zarr.codecs as zc
from conftest import COMMAND, Command
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
warnings.filterwarnings("ignore", module="zarr")


def documents(store: Path) -> dict[str, Any]:
    """Every zarr.json, by the path of its group or array."""
    return {
        str(path.parent.relative_to(store)): json.loads(path.read_text()) for path in sorted(store.rglob("zarr.json"))
    }


def plain(array: np.ndarray[Any, Any]) -> Any:
    """Something that == compares, with NaN equal to itself."""
    kind = array.dtype.kind
    return array.tolist() if kind in "OT" else (str(array.dtype), array.shape, array.tobytes())


def values(store: Path) -> dict[str, Any]:
    node = zarr.open(store, mode="r")
    arrays = {"": node} if isinstance(node, zarr.Array) else dict(node.members(max_depth=None))
    return {name: plain(np.asarray(item[...])) for name, item in arrays.items() if isinstance(item, zarr.Array)}


def chunks(store: Path) -> list[str]:
    return sorted(str(p.relative_to(store)) for p in store.rglob("*") if p.is_file() and p.name != "zarr.json")


def assert_same(first: Path, second: Path) -> None:
    left, right = documents(first), documents(second)
    assert left.keys() == right.keys()
    for name, document in left.items():
        assert repr(sorted_keys(document)) == repr(sorted_keys(right[name])), name
        assert list(document.get("attributes", {})) == list(right[name].get("attributes", {})), name
    left_values, right_values = values(first), values(second)
    assert left_values.keys() == right_values.keys()
    for name, value in left_values.items():
        assert value == right_values[name], name
    assert chunks(first) == chunks(second)


def sorted_keys(item: Any) -> Any:
    """For repr, in which NaN is equal to itself, and 1 is not 1.0."""
    if isinstance(item, dict):
        return {key: sorted_keys(item[key]) for key in sorted(item)}
    return [sorted_keys(part) for part in item] if isinstance(item, list) else item


def mixed(seed: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Elements of any bits, except where not all are elements."""
    rng = np.random.default_rng(seed)
    size = int(np.prod(shape))
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "U":
        letters = np.array(["", "a", "ß", "日本", "😀x"])
        return letters[rng.integers(0, 5, shape)].astype(dtype)
    if dtype.kind == "S":
        return np.array([b"", b"a", b"\xff\x01", b"abc"])[rng.integers(0, 4, shape)].astype(dtype)
    if dtype.names:
        made = np.zeros(shape, dtype)
        for i, name in enumerate(dtype.names):
            made[name] = mixed(seed + i, dtype[name], shape)
        return made
    if dtype.kind in "fc":
        return rng.normal(size=shape).astype(dtype)
    return np.frombuffer(rng.bytes(size * dtype.itemsize), dtype).reshape(shape)


TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "V3", "S3", "U5", "M8[us]"]
STRUCT = np.dtype([("id", "<i4"), ("x", "<f8"), ("name", "<U2"), ("inner", [("a", "u1"), ("t", "<M8[s]")])])


@pytest.mark.parametrize("endian", ["little", "big"])
def test_every_type_comes_back(command: Command, folder: Path, endian: str) -> None:
    store = zarr.open_group(folder / "a.zarr", mode="w")
    for i, name in enumerate(TYPES):
        dtype = np.dtype(name)
        codec = zc.BytesCodec(endian=endian)  # type: ignore[arg-type]
        array = store.create_array(f"t{i}", shape=(5, 7), chunks=(2, 3), dtype=dtype, serializer=codec)
        array[...] = mixed(i, dtype, (5, 7))
    store.create_array("struct", shape=(5,), chunks=(2,), dtype=STRUCT)[:] = mixed(9, STRUCT, (5,))
    assert_same(folder / "a.zarr", command.there_and_back(folder / "a.zarr", "b.zarr"))
    expected = zarr.open_group(folder / "a.zarr", mode="r")
    with pmemcpy.open(folder / "a.zarr.pmem", "r") as pool:
        for i, name in enumerate(TYPES):
            found = pool[f"t{i}"][...]
            if name[0] != "V":
                assert found.dtype.newbyteorder("=").kind == np.dtype(name).kind
            assert found.tolist() == np.asarray(expected[f"t{i}"][...]).tolist(), name
            if np.dtype(name).itemsize > 1 and np.dtype(name).kind in "iufcM":
                assert pool[f"t{i}"].dtype.byteorder in ("=" if endian == "little" else ">")
        assert pool["struct"].dtype.names == STRUCT.names
        np.testing.assert_array_equal(pool["struct"]["x"][...] if False else pool["struct"][...]["x"], expected["struct"][...]["x"])


CHAINS: dict[str, dict[str, Any]] = {
    "none": {"compressors": None},
    "gzip": {"compressors": zc.GzipCodec(level=3)},
    "zstd": {"compressors": zc.ZstdCodec(level=-3)},
    "zstd with checksum": {"compressors": zc.ZstdCodec(level=7, checksum=True)},
    "crc32c": {"compressors": zc.Crc32cCodec()},
    "all": {"compressors": [zc.Crc32cCodec(), zc.GzipCodec(level=1), zc.BloscCodec(), zc.ZstdCodec(), zc.Crc32cCodec()]},
    "transpose": {"filters": zc.TransposeCodec(order=(2, 0, 1))},
    "transpose twice": {"filters": [zc.TransposeCodec(order=(2, 0, 1)), zc.TransposeCodec(order=(1, 0, 2))]},
    "shards": {"shards": (6, 4, 9)},
    "shards of gzip": {"shards": (6, 4, 9), "compressors": [zc.GzipCodec(), zc.Crc32cCodec()]},
    "keys with points": {"chunk_key_encoding": {"name": "default", "separator": "."}},
    "keys of v2": {"chunk_key_encoding": {"name": "v2", "separator": "."}},
    "nested keys of v2": {"chunk_key_encoding": {"name": "v2", "separator": "/"}},
} | {
    f"blosc {cname} {shuffle}": {"compressors": zc.BloscCodec(cname=cname, shuffle=shuffle, clevel=5)}  # type: ignore[arg-type]
    for cname in ("lz4", "lz4hc", "blosclz", "zstd", "zlib")
    for shuffle in ("noshuffle", "shuffle", "bitshuffle")
}


@pytest.mark.parametrize("chain", CHAINS)
def test_every_codec_comes_back(command: Command, folder: Path, chain: str) -> None:
    data = np.random.default_rng(1).integers(0, 9, (11, 6, 8)).astype("i4")
    data[:4] = 0  # chunks that zarr-python leaves out
    array = zarr.create_array(folder / "a.zarr", shape=data.shape, chunks=(3, 2, 3), dtype="i4", **CHAINS[chain])
    array[...] = data
    assert_same(folder / "a.zarr", command.there_and_back(folder / "a.zarr", "b.zarr"))
    with pmemcpy.open(folder / "a.zarr.pmem", "r") as pool:
        np.testing.assert_array_equal(pool["a"][...], data)


@pytest.mark.parametrize("where", ["start", "end"])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("wrapped", [False, True])
def test_shards_of_all_kinds(command: Command, folder: Path, where: str, nested: bool, wrapped: bool) -> None:
    data = np.random.default_rng(2).integers(0, 2**31, (20, 30)).astype("i4")
    data[8:16, :12] = 7
    inner: list[Any] = [zc.TransposeCodec(order=(1, 0)), zc.BytesCodec(endian="big"), zc.ZstdCodec()]
    if nested:
        inner = [zc.ShardingCodec(chunk_shape=(2, 3), codecs=inner)]
    shard = zc.ShardingCodec(
        chunk_shape=(4, 6), codecs=inner, index_location=where, index_codecs=[zc.BytesCodec(endian="big"), zc.Crc32cCodec()]
    )
    codecs = [shard, zc.GzipCodec()] if wrapped else [shard]
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": data.shape,
        "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [8, 12]}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 7,
        "codecs": [codec.to_dict() for codec in codecs],
    }
    (folder / "a.zarr").mkdir()
    (folder / "a.zarr/zarr.json").write_text(json.dumps(document))
    zarr.open_array(folder / "a.zarr")[...] = data
    (folder / "a.zarr/zarr.json").write_text(json.dumps(document))  # as it was written, not as zarr-python completes it
    assert_same(folder / "a.zarr", command.there_and_back(folder / "a.zarr", "b.zarr"))
    with pmemcpy.open(folder / "a.zarr.pmem", "r") as pool:
        np.testing.assert_array_equal(pool["a"][...], data)


def awkward(store: Path) -> None:
    """What is rarely tried."""
    root = zarr.open_group(store, mode="w", attributes={"zeta": 1, "alpha": "ä😀", "title": ""})
    root.attrs["numbers"] = [1, 2, 3]
    root.attrs["floats"] = [0.5, float("nan"), float("-inf"), 1e300, -0.0]
    root.attrs["one"] = 2.0
    root.attrs["large"] = 2**64 - 1
    root.attrs["small"] = -(2**63)
    root.attrs["both"] = [2**64 - 1, -1]
    root.attrs["flags"] = [True, False]
    root.attrs["flag"] = True
    root.attrs["nothing"] = None
    root.attrs["mixed"] = [1, 2.5, "x", None, {"a": [], "b": {}}]
    root.attrs["empty"] = []
    root.attrs["texts"] = ["a", "β"]
    root.attrs["NaN, Infinity"] = 'a "NaN" in \\ text'
    root.attrs["größe/日本"] = {"deep": [[1, 2], [3]]}
    root.create_group("empty group")
    root.create_group("größe/日本語", attributes={"why": "kept"})
    array = root.create_array("größe/日本語/x y", shape=(3,), chunks=(2,), dtype="f4", dimension_names=["x"])
    array[:] = [1, 2, 3]
    array.attrs.update({"units": "m", "valid_range": [0, 5]})
    root.create_array("scalar", shape=(), dtype="f8", fill_value=float("nan"))[()] = 3.5
    root.create_array("scalar that is missing", shape=(), dtype="i4", fill_value=4)
    root.create_array("text", shape=(), dtype=str)[()] = "a line"
    root.create_array("none", shape=(0, 4), chunks=(1, 4), dtype="i2")
    root.create_array("missing", shape=(1 << 20, 1 << 20), chunks=(1024, 1024), dtype="f8", fill_value=7)
    most = root.create_array("mostly missing", shape=(1 << 30, 1 << 30), chunks=(4, 4), dtype="i4", fill_value=-1)
    most[12345, 6789] = 5
    root.create_array("deep", shape=(2,) * 10, chunks=(1, 2) * 5, dtype="i2")[...] = np.arange(1024).reshape((2,) * 10)
    for name, dtype, fill in [
        ("nan", "f4", float("nan")),
        ("infinity", "f8", float("-inf")),
        ("half", "f2", 1.5),
        ("complex", "c8", 1 - 2j),
        ("complex nan", "c16", complex(float("nan"), float("inf"))),
        ("bool", "?", True),
        ("u8", "u8", 2**64 - 1),
        ("i8", "i8", -(2**63)),
        ("bytes", "S4", b"ab"),
        ("raw", "V2", np.void(b"\x01\xff")),
        ("utf32", "U4", "ß日"),
        ("time", "M8[s]", np.datetime64(77, "s")),
    ]:
        root.create_array(f"fill/{name}", shape=(4,), chunks=(2,), dtype=dtype, fill_value=fill)
    names = root.create_array("names", shape=(2, 3, 4), dtype="i1", dimension_names=["x", None, "z"])
    names[...] = 1
    root.create_array("no names", shape=(2,), dtype="i1", dimension_names=[None])[...] = 1
    words = root.create_array("words", shape=(5,), chunks=(2,), dtype=str, fill_value="fill")
    words[:3] = ["", "ß", "much longer than the others"]
    root.create_array("byte strings", shape=(2,), dtype="bytes")[:] = [b"\xff", b"abc"]
    shutil.move(store / "größe/日本語", store / "implicit")
    (store / "implicit/zarr.json").unlink()


def test_awkward_things_come_back(command: Command, folder: Path) -> None:
    awkward(folder / "a.zarr")
    back = command.there_and_back(folder / "a.zarr", "b.zarr")
    left, right = documents(folder / "a.zarr"), documents(back)
    assert repr(sorted_keys(left)) == repr(sorted_keys(right))
    assert list(left["."]["attributes"]) == list(right["."]["attributes"])
    written, found = chunks(folder / "a.zarr"), chunks(back)
    assert written == found
    first, second = zarr.open_group(folder / "a.zarr", mode="r"), zarr.open_group(back, mode="r")
    with pmemcpy.open(folder / "a.zarr.pmem", "r") as pool:
        assert pool.groups() == ["empty group", "fill", "größe", "implicit"]
        for name in [n for n in left if left[n]["node_type"] == "array" and "missing" not in n]:
            expected = np.asarray(first[name][...])
            assert plain(expected) == plain(np.asarray(second[name][...])), name
            seen = pool[name]
            seen = np.asarray(seen[...] if hasattr(seen, "shape") and seen.shape != () else seen.value)
            assert repr(seen.tolist()) == repr(expected.tolist()), name
        assert pool["missing"][12345, 678] == 7, "what was never written takes no space"
        assert pool["mostly missing"][12345, 6789] == 5
        assert pool["mostly missing"][2**30 - 1, 0] == -1
        assert pool["scalar that is missing"].value == 4
        assert second["mostly missing"][12345, 6789] == 5
        assert pool.attrs["numbers"].tolist() == [1, 2, 3]
        assert pool.attrs["alpha"] == "ä😀"
        assert pool.attrs["mixed"] == [1, 2.5, "x", None, {"a": [], "b": {}}]
        assert pool.attrs["NaN, Infinity"] == 'a "NaN" in \\ text'
        assert np.isnan(pool.attrs["floats"][1])
        assert list(pool["names"].attrs["_ARRAY_DIMENSIONS"]) == ["x", "dim_1", "z"]


@pytest.mark.parametrize(
    ("type", "fill", "bits"),
    [
        ("float32", "0x7fc00001", b"\x01\x00\xc0\x7f"),
        ("float16", "0xfe00", b"\x00\xfe"),
        ("float64", "0x7ff8000000000002", b"\x02\0\0\0\0\0\xf8\x7f"),
        ("bfloat16", 1.5, b"\xc0\x3f"),
        ("complex64", ["NaN", "0xffc00000"], b"\x00\x00\xc0\x7f\x00\x00\xc0\xff"),
        ("r24", [1, 2, 255], b"\x01\x02\xff"),
        ({"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 1}}, "NaT", b"\0" * 7 + b"\x80"),
        (
            {"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "bool"}]}},
            {"a": -2, "b": True},
            b"\xfe\xff\x01",
        ),
    ],
)
def test_fill_values_in_all_their_spellings(command: Command, folder: Path, type: Any, fill: Any, bits: bytes) -> None:
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [3],
        "data_type": type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
        "chunk_key_encoding": "default",
        "fill_value": fill,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    }
    (folder / "a.zarr").mkdir()
    (folder / "a.zarr/zarr.json").write_text(json.dumps(document))
    back = command.there_and_back(folder / "a.zarr", "b.zarr")
    assert json.loads((back / "zarr.json").read_text()) == document
    info = command("info", "a.zarr.pmem:a") if False else None
    assert info is None
    with pmemcpy.open(folder / "a.zarr.pmem", "r") as pool:
        if type != "bfloat16":
            assert pool["a"][...].tobytes() == bits * 3


scalars = st.one_of(
    npst.integer_dtypes(endianness="?"),
    npst.unsigned_integer_dtypes(endianness="?"),
    npst.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    npst.complex_number_dtypes(endianness="?", sizes=(64, 128)),
    npst.boolean_dtypes(),
    npst.byte_string_dtypes(min_len=1, max_len=9),
    npst.unicode_string_dtypes(endianness="?", min_len=1, max_len=9),
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_array(command: Command, folder: Path, data: st.DataObject) -> None:
    dtype = data.draw(scalars)
    shape = data.draw(npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=7))
    elements = {"allow_nan": True} if dtype.kind in "fc" else {}
    array = data.draw(npst.arrays(dtype, shape, elements=npst.from_dtype(dtype, **elements), fill=st.nothing()))
    try:
        [text.encode() for text in array.ravel().tolist() if isinstance(text, str)]
    except UnicodeEncodeError:  # half of a character, which no text has
        assume(False)
    inner = tuple(data.draw(st.integers(1, 4)) for _ in shape)
    shards = tuple(c * data.draw(st.integers(1, 3)) for c in inner) if data.draw(st.booleans()) and shape else None
    order = data.draw(st.permutations(range(len(shape))))
    chain = data.draw(st.lists(st.sampled_from([zc.GzipCodec(), zc.ZstdCodec(), zc.BloscCodec(), zc.Crc32cCodec()]), max_size=2))
    for left in folder.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr.create_array(
            folder / "a.zarr",
            shape=shape,
            dtype=dtype,
            chunks=inner,
            shards=shards,
            filters=[zc.TransposeCodec(order=order)] if shape else None,
            compressors=chain,
            serializer=zc.BytesCodec(endian=data.draw(st.sampled_from(["little", "big"]))),
        )[...] = array
        assert_same(folder / "a.zarr", command.there_and_back(folder / "a.zarr", "b.zarr"))


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


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("separator", [".", "/"])
def test_zarr_2_is_read(command: Command, folder: Path, order: str, separator: str) -> None:
    import numcodecs

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


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zfpy"}]}, ["zfpy"]),
        ({"data_type": "int4"}, ["int4"]),
        ({"storage_transformers": [{"name": "wonder", "configuration": {}}]}, ["wonder"]),
        ({"chunk_grid": {"name": "rectilinear", "configuration": {}}}, ["rectilinear"]),
        ({"chunk_key_encoding": {"name": "fanout"}}, ["fanout"]),
        ({"surprise": {"must_understand": True}}, ["surprise"]),
        ({"shape": [2**40, 2**40], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 1]}}}, ["2^64"]),
    ],
)
def test_what_is_not_known_is_named(command: Command, folder: Path, change: dict[str, Any], words: list[str]) -> None:
    zarr.open_group(folder / "a.zarr", mode="w").create_array("inner/x", shape=(4, 4), dtype="i4")[...] = 1
    file = folder / "a.zarr/inner/x/zarr.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    command.fails("import", "a.zarr", "p.pmem", code="unsupported", words=["inner/x", *words])
    assert not (folder / "p.pmem").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2**40, 2**40]}}},
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2**30, 2**30]}}},
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [0, 1]}}},
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [-1, 1]}}},
        {"shape": [2**31, 2**31], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 1]}}},
        {"shape": [4]},
        {"shape": "four"},
        {"codecs": []},
        {"codecs": [{"name": "transpose", "configuration": {"order": [0, 0]}}, {"name": "bytes"}]},
        {"codecs": [{"name": "bytes"}, {"name": "bytes"}]},
        {"codecs": [{"name": "gzip", "configuration": {"level": "much"}}, {"name": "bytes"}]},
        {"codecs": [{"name": "vlen-utf8"}]},
        {"fill_value": "0x00"},
        {"fill_value": 2**40},
        {"data_type": {"name": "structured", "configuration": {"fields": [["a", "int8"], ["a", "int8"]]}}},
        {"data_type": {"name": "raw_bytes", "configuration": {"length_bytes": 2**62}}},
        {"data_type": "r4611686018427387904"},
        {"dimension_names": ["one"]},
        {"attributes": 7},
        {"node_type": "tree"},
    ],
)
def test_metadata_that_make_no_sense(command: Command, folder: Path, change: dict[str, Any]) -> None:
    zarr.open_group(folder / "a.zarr", mode="w").create_array("inner/x", shape=(4, 4), dtype="i4")[...] = 1
    file = folder / "a.zarr/inner/x/zarr.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    assert_refused(command, folder, "inner/x")


def assert_refused(command: Command, folder: Path, word: str, may_pass: bool = False) -> bool:
    """Within 10 seconds and a GiB: an Error that names it, and nothing left. `may_pass`: or all is as it should be."""
    import resource

    done = subprocess.run(
        [COMMAND, "import", "a.zarr", "p.pmem", "--max-size", "256MiB"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=10,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30)),
    )
    pool = folder / "p.pmem"
    if may_pass and done.returncode == 0:
        pool.unlink()
        return False
    assert done.returncode in (2, 3, 5, 6, 7, 8, 10), done
    assert "a.zarr" in done.stderr and word in done.stderr, done.stderr
    assert not pool.exists()
    return True


def test_broken_stores_are_errors(command: Command, folder: Path) -> None:
    """Chunks and metadata cut, and with bytes changed, by a seed: never a signal, a wait, or half of it."""
    store = folder / "whole.zarr"
    root = zarr.open_group(store, mode="w")
    data = np.random.default_rng(4).integers(0, 99, (12, 10)).astype("i4")
    for name, chain in [
        ("gzip", [zc.GzipCodec()]),
        ("zstd", [zc.ZstdCodec()]),
        ("blosc", [zc.BloscCodec(cname="lz4")]),
        ("bloscz", [zc.BloscCodec(cname="zstd", shuffle="bitshuffle")]),
        ("crc", [zc.ZstdCodec(checksum=True), zc.Crc32cCodec()]),
    ]:
        root.create_array(f"{name}", data=data, chunks=(12, 10), compressors=chain)
    root.create_array("shards", data=data, chunks=(4, 5), shards=(12, 10))
    root.create_array("plain", data=data, chunks=(12, 10), compressors=None)
    root.create_array("words", shape=(9,), chunks=(9,), dtype=str, compressors=None)[:] = [f"word {i}" for i in range(9)]
    rng = np.random.default_rng(int(os.environ.get("PMEMCPY_SEED", "5")))
    files = sorted(path.relative_to(store) for path in store.rglob("*") if path.is_file())
    refused = 0
    for file in files:
        content = (store / file).read_bytes()
        cuts = [content[: int(n)] for n in rng.integers(0, len(content), 3)]
        changed = []
        for _ in range(5):
            bad = bytearray(content)
            for _ in range(int(rng.integers(1, 4))):
                bad[int(rng.integers(0, len(bad)))] = int(rng.integers(0, 256))
            changed.append(bytes(bad))
        for bad_content in cuts + changed:
            shutil.rmtree(folder / "a.zarr", ignore_errors=True)
            shutil.copytree(store, folder / "a.zarr")
            (folder / "a.zarr" / file).write_bytes(bad_content)
            word = file.parts[0] if len(file.parts) > 1 else "zarr.json"
            is_cut = bad_content in cuts and file.name != "zarr.json"
            refused += assert_refused(command, folder, word if is_cut else "", may_pass=not is_cut)
    assert refused > len(files) * 4


@pytest.mark.parametrize("codec", ["zstd", "gzip", "blosc"])
def test_a_bomb_takes_no_memory(command: Command, folder: Path, codec: str) -> None:
    """A chunk that is small and says that it is large is refused before it is."""
    array = zarr.create_array(
        folder / "a.zarr",
        shape=(1 << 26,),
        chunks=(1 << 26,),
        dtype="u1",
        compressors={"zstd": zc.ZstdCodec(), "gzip": zc.GzipCodec(), "blosc": zc.BloscCodec()}[codec],
        fill_value=1,
    )
    array[:] = 0
    file = folder / "a.zarr/zarr.json"
    document = json.loads(file.read_text())
    document["shape"] = document["chunk_grid"]["configuration"]["chunk_shape"] = [1 << 10]
    file.write_text(json.dumps(document))
    assert_refused(command, folder, "chunk c/0")


def test_links_and_other_things_in_a_store(command: Command, folder: Path) -> None:
    root = zarr.open_group(folder / "a.zarr", mode="w")
    root.create_array("g/x", shape=(3,), dtype="i4")[:] = 1
    (folder / "elsewhere").mkdir()
    shutil.move(folder / "a.zarr/g/x/c", folder / "elsewhere/c")
    (folder / "a.zarr/g/x/c").symlink_to(folder / "elsewhere/c")
    (folder / "a.zarr/g/again").symlink_to("..")
    (folder / "a.zarr/notes.txt").write_text("mine")
    (folder / "a.zarr/images").mkdir()
    warned = ["g/again: another name", "notes.txt: a file that is nothing of Zarr", "images: a folder that is nothing"]
    command("import", "a.zarr", "p.pmem", warnings=warned)
    with pmemcpy.open(folder / "p.pmem", "r") as pool:
        assert pool["g/x"][...].tolist() == [1, 1, 1]
    os.mkfifo(folder / "a.zarr/g/x/c-pipe")
    (folder / "a.zarr/g/x/c").unlink()
    (folder / "a.zarr/g/x/c").mkdir()
    os.mkfifo(folder / "a.zarr/g/x/c/0")
    command.fails("import", "a.zarr", "q.pmem", code="corrupt", words=["g/x", "c/0", "no file"])


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
def test_memory_does_not_grow_with_the_store(folder: Path, shards: tuple[int, int] | None) -> None:
    """Half a GiB in one array, in shards of 64 MiB, with what the process itself has staying below 128 MiB."""
    array = zarr.create_array(
        folder / "a.zarr", shape=(512, 1 << 17), chunks=(1, 1 << 17), shards=shards, dtype="f8", compressors=zc.ZstdCodec(level=-5)
    )
    row = np.arange(1 << 17, dtype="f8")
    for i in range(0, 512, 64):
        array[i : i + 64] = row + np.arange(i, i + 64)[:, None]
    for arguments in (["import", "a.zarr", "p.pmem", "--max-size", "1GiB"], ["export", "p.pmem", "b.zarr"]):
        running = subprocess.Popen([COMMAND, *arguments], cwd=folder, stdout=subprocess.DEVNULL)
        most = 0
        while running.poll() is None:
            try:
                status = Path(f"/proc/{running.pid}/status").read_text()
            except (FileNotFoundError, ProcessLookupError):
                break
            own = [line for line in status.splitlines() if line.startswith("RssAnon")]
            most = max(most, int(own[0].split()[1]) if own else 0)
            time.sleep(0.002)
        assert running.wait() == 0
        assert 0 < most < 128 << 10, f"{most} KiB"
    np.testing.assert_array_equal(zarr.open_array(folder / "b.zarr", mode="r")[511], row + 511)
    assert chunks(folder / "a.zarr") == chunks(folder / "b.zarr")
