"""Zarr directories into a pool and out of it again, compared with zarr-python."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pmemcpy
import pytest
import zarr
import zarr.codecs as zc
from conftest import Command
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from zarr_stores import assert_same, chunks, documents, mixed, plain, sorted_keys

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")

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
        np.testing.assert_array_equal(pool["struct"][...]["x"], expected["struct"][...]["x"])


CHAINS: dict[str, dict[str, Any]] = {
    "none": {"compressors": None},
    "gzip": {"compressors": zc.GzipCodec(level=3)},
    "zstd": {"compressors": zc.ZstdCodec(level=-3)},
    "zstd with checksum": {"compressors": zc.ZstdCodec(level=7, checksum=True)},
    "crc32c": {"compressors": zc.Crc32cCodec()},
    "all": {
        "compressors": [zc.Crc32cCodec(), zc.GzipCodec(level=1), zc.BloscCodec(), zc.ZstdCodec(), zc.Crc32cCodec()]
    },
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
        chunk_shape=(4, 6),
        codecs=inner,
        index_location=where,
        index_codecs=[zc.BytesCodec(endian="big"), zc.Crc32cCodec()],
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


def test_integers_beyond_64_bits_are_rounded_with_a_word(command: Command, folder: Path) -> None:
    """They were without one, on the way in and on the way out."""
    root = zarr.open_group(folder / "a.zarr", mode="w")
    root.attrs.update({"largest": 2**64 - 1, "beyond": 2**64, "deep": {"x": [-(2**63) - 1]}, "text": str(2**64)})
    array = root.create_array("u", shape=(1,), dtype="f4")
    array.attrs.update({"beyond": 2**70, "float": 1e30})
    word = "an integer beyond 64 bits becomes the nearest float64"
    warned = [f"{name}: {word}" for name in ("@beyond", "@deep", "u@beyond")]
    command("import", folder / "a.zarr", "p.pmem", warnings=warned)
    with pmemcpy.open(folder / "p.pmem", "r+") as pool:
        assert pool.attrs["largest"] == 2**64 - 1
        assert pool.attrs["beyond"] == float(2**64)
        pool.attrs["deep"] = {"x": [2**100]}
    command("export", folder / "p.pmem", "b.zarr", warnings=[f"@deep: {word}"])


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
            {
                "name": "struct",
                "configuration": {"fields": [{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "bool"}]},
            },
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
    chain = data.draw(
        st.lists(st.sampled_from([zc.GzipCodec(), zc.ZstdCodec(), zc.BloscCodec(), zc.Crc32cCodec()]), max_size=2)
    )
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


# JSON has an empty list, and no type or shape of it: a list of three columns came back as one of none.
def test_attributes_without_elements_are_named(command: Command, folder: Path) -> None:
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        pool["n"] = 7
        pool["n"].attrs.update({"rows": np.zeros((0, 3)), "row": np.zeros(0, "i2"), "list": []})
    command("export", "p.pmem", "p.zarr", warnings=["n@row: of an empty list", "n@rows: of an empty list"])
