"""HDF5 files into a pool and out of it again, compared with h5py and h5diff."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pmemcpy
import pytest
from conftest import Command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst


def contents(file: h5py.File) -> dict[str, Any]:
    """All that a user can see: of each object its type, shape, values and attributes."""
    found: dict[str, Any] = {"/": attributes(file)}

    def visit(name: str, item: Any) -> None:
        seen: dict[str, Any] = {"attributes": attributes(item)}
        if isinstance(item, h5py.Dataset):
            seen |= {
                "type": item.id.get_type().get_class(),
                "dtype": item.dtype,
                "shape": item.shape,
                "maxshape": item.maxshape,
                "chunks": item.chunks,
                "filters": (item.compression, item.compression_opts, item.shuffle, item.fletcher32),
                "scales": [[scale.name for scale in dim.values()] for dim in item.dims],
                "labels": [dim.label for dim in item.dims],
                "fill": plain(item.fillvalue),
                "values": None if item.shape is None or item.size > 1 << 30 else plain(item[()]),
            }
        found[name] = seen

    file.visititems(visit)
    return found


def plain(value: Any) -> Any:
    """Something that == compares: of arrays their bytes, of rows lists."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            return [plain(item) for item in value.ravel()]
        return (str(value.dtype), value.shape, value.tobytes())
    if isinstance(value, np.generic):
        return (str(value.dtype), value.tobytes())
    return value


def attributes(item: Any) -> dict[str, Any]:
    of_scales = {"DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "DIMENSION_LABELS"}
    return {name: plain(value) for name, value in item.attrs.items() if name not in of_scales}


def assert_same(first: Path, second: Path) -> None:
    with h5py.File(first) as one, h5py.File(second) as other:
        left, right = contents(one), contents(other)
    assert left.keys() == right.keys()
    for name, seen in left.items():
        assert seen == right[name], name
    if shutil.which("h5diff"):
        done = subprocess.run(["h5diff", "-r", first, second], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def simulation(path: Path) -> None:
    """What a simulation writes: groups, a growing array in chunks, coordinates, attributes."""
    rng = np.random.default_rng(1)
    with h5py.File(path, "w") as file:
        file.attrs["title"] = "flow past a cylinder"
        file.attrs["version"] = np.int32(3)
        grid = file.create_group("grid")
        for name, n in (("x", 12), ("y", 7)):
            grid[name] = np.linspace(0, 1, n)
            grid[name].make_scale(name)
            grid[name].attrs["units"] = "m"
        u = file.create_dataset(
            "grid/u",
            (5, 12, 7),
            "f4",
            maxshape=(None, 12, 7),
            chunks=(1, 6, 7),
            compression="gzip",
            compression_opts=4,
            shuffle=True,
        )
        u[...] = rng.normal(size=(5, 12, 7))
        u.dims[0].label = "time"
        u.dims[1].attach_scale(grid["x"])
        u.dims[2].attach_scale(grid["y"])
        u.attrs["valid_range"] = np.array([-5.0, 5.0], "f4")
        file.create_dataset("mask", data=rng.random((12, 7)) > 0.5)
        file.create_group("empty/inside").attrs["why"] = "kept"


def test_a_simulations_file_comes_back_as_it_was(command: Command, folder: Path) -> None:
    simulation(folder / "run.h5")
    assert_same(folder / "run.h5", command.there_and_back(folder / "run.h5", "back.h5"))
    with pmemcpy.open(folder / "run.h5.pmem", "r") as pool, h5py.File(folder / "run.h5") as file:
        np.testing.assert_array_equal(pool["grid/u"][...], file["grid/u"][...])
        assert pool["grid/u"].is_unlimited
        assert pool["grid/x"].attrs["units"] == "m"
        assert list(pool["grid/u"].attrs["_ARRAY_DIMENSIONS"]) == ["time", "x", "y"]
        assert pool.attrs["title"] == "flow past a cylinder"
        assert pool.groups() == ["empty", "empty/inside", "grid"]


def awkward(path: Path) -> list[str]:
    """What is rarely tried. Returns what a pool cannot hold as it is."""
    with h5py.File(path, "w", libver=("v108", "v108")) as file:  # for an attribute of more than 64 KiB
        file["scalar"] = np.float64(3.5)
        file["empty"] = np.zeros((0, 4), "i2")
        file["nothing"] = h5py.Empty("f4")
        file["deep"] = np.arange(2**4, dtype="i8").reshape((1,) * 28 + (2, 2, 2, 2))
        file["größe/日本語"] = np.arange(3)
        file["big-endian"] = np.arange(5, dtype=">f8")
        file["complex"] = np.array([1 + 2j, -3j])
        file["half"] = np.array([1.5, -2], "f2")
        file["fixed"] = np.array([b"one", b"three"])
        file.create_dataset("text", data=["ä", "", "much longer than the others"], dtype=h5py.string_dtype())
        file.create_dataset("one text", data="a line", dtype=h5py.string_dtype())
        colours = h5py.enum_dtype({"red": 0, "green": 1, "blue": -7}, basetype="i2")
        file.create_dataset("colours", data=np.array([0, -7, 1], "i2"), dtype=colours)
        file.create_dataset("opaque", data=np.array([b"\x01\x02\x03", b"\xff\x00\x7f"], "V3"))
        file["time"] = np.array(["2026-01-01", "NaT"], "M8[s]").astype(h5py.opaque_dtype("M8[s]"))
        particle = np.dtype(
            [("id", "<i8"), ("x", ">f4", (3,)), ("tag", "S4"), ("inner", [("a", "u1"), ("b", "f8")])], align=True
        )
        file["particles"] = np.zeros(4, particle)
        named = np.dtype([("name", h5py.string_dtype()), ("mass", "f8")])
        file.create_dataset("named", data=np.array([("helium", 4.0), ("h", 1.0)], named), dtype=named)
        rows = file.create_dataset("rows", (3,), h5py.vlen_dtype("i4"))
        for i, row in enumerate(([1, 2, 3], [], [4])):
            rows[i] = row
        filled = file.create_dataset("filled", (6, 6), "f4", chunks=(3, 3), fillvalue=-1)
        filled[0, 0] = 2
        file.create_dataset("unwritten", (1 << 20, 1 << 20), "f8", chunks=(1024, 1024), fillvalue=7)
        file["fixed"].attrs["huge"] = np.arange(30_000, dtype="f8")
        file["fixed"].attrs["texts"] = np.array(["a", "β"], dtype=h5py.string_dtype())
        file["fixed"].attrs["matrix"] = np.eye(3)
        file["fixed"].attrs["none"] = np.zeros(0)
        file["fixed"].attrs["colour"] = np.array(1, colours)
        file["reference"] = np.array([file["fixed"].ref], dtype=h5py.ref_dtype)
        file["soft"] = h5py.SoftLink("/fixed")
        file["copy"] = file["fixed"]
        file["loop/back"] = file["loop"] if "loop" in file else file.create_group("loop")
    return [
        "reference: its elements are a reference",
        "soft: a soft link",
        "another name of copy",
        "loop/back: another name of the group loop",
        "named: text of any length in its structures",
        "rows: rows of any length",
    ]


def test_awkward_things_come_back_or_are_named(command: Command, folder: Path) -> None:
    named = awkward(folder / "a.h5")
    back = command.there_and_back(folder / "a.h5", "b.h5", warnings=named)
    with h5py.File(folder / "a.h5") as file, h5py.File(back) as other:
        left, right = contents(file), contents(other)
    for name in ("reference", "loop/back"):
        left.pop(name, None)
    for name, seen in left.items():
        if name == "named":
            assert [tuple(row) for row in h5py.File(back)["named"][()]] == [(b"helium", 4.0), (b"h", 1.0)]
        else:
            assert seen == right[name], name
    with pmemcpy.open(folder / "a.h5.pmem", "r") as pool:
        assert pool["deep"].ndim == 32
        assert pool["colours"].dtype.metadata["enum"] == {"red": 0, "green": 1, "blue": -7}
        assert list(pool["text"][...]) == ["ä", "", "much longer than the others"]
        assert pool["one text"].value == "a line"
        assert pool["complex"].dtype == np.complex128
        assert pool["mask"].dtype == bool if "mask" in pool else True
        assert pool["time"].dtype == "M8[s]"
        assert pool["unwritten"][12345, 678] == 7, "what was never written takes no space"
        np.testing.assert_array_equal(pool["rows/offsets"][...], [0, 3, 3, 4])
        np.testing.assert_array_equal(pool["rows/values"][...], [1, 2, 3, 4])


# All had the shape (0,) in the pool, and the empty list of text was the text "[]" in the next file.
def test_attributes_without_elements_keep_type_and_shape_or_are_named(command: Command, folder: Path) -> None:
    with h5py.File(folder / "a.h5", "w") as file:
        kept = file.create_group("kept").attrs
        kept["row"] = np.zeros(0, "i2")
        kept["rows"] = np.zeros((0, 3), "f4")
        kept["blocks"] = np.zeros((0, 3, 2), ">f8")
        kept["fixed"] = np.zeros((0, 2), "S5")
        kept.create("texts", np.zeros(0, h5py.string_dtype()), dtype=h5py.string_dtype())
        kept.create("lists", np.zeros((2, 0), h5py.string_dtype()), dtype=h5py.string_dtype())
        lost = file.create_group("lost").attrs
        lost["columns"] = np.zeros((3, 0))
        lost.create("texts", np.zeros((0, 3), h5py.string_dtype()), dtype=h5py.string_dtype())
    warnings = ["lost@columns: no elements in the shape 3 x 0", "lost@texts: no elements in the shape 0 x 3"]
    back = command.there_and_back(folder / "a.h5", "b.h5", warnings=warnings)
    with h5py.File(folder / "a.h5") as file, h5py.File(back) as other:
        assert attributes(other["kept"]) == attributes(file["kept"])
        for name in file["kept"].attrs:
            assert other["kept"].attrs[name].shape == file["kept"].attrs[name].shape, name
        assert other["lost"].attrs["columns"].shape == (0,)
    with pmemcpy.open(folder / "a.h5.pmem", "r") as pool:
        found = dict(pool["kept"].attrs)
        assert (found["rows"].dtype, found["rows"].shape) == (np.dtype("f4"), (0, 3))
        assert found["blocks"].shape == (0, 3, 2)
        assert found["texts"] == [] and found["lists"] == [[], []]


# A structure became text, and only NetCDF told of it.
def test_an_attribute_that_is_a_structure_is_named(command: Command, folder: Path) -> None:
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        pool["n"] = 7
        pool["n"].attrs["settings"] = {"dt": 0.1}
    command("export", "p.pmem", "p.h5", warnings=["n@settings: a structure of JSON"])


def test_what_hdf5_cannot_give_is_an_error_when_asked_for(command: Command, folder: Path) -> None:
    awkward(folder / "a.h5")
    command.fails("import", "a.h5", "a.pmem", "--strict", code="unsupported", words=["fixed: another name of copy"])
    assert not (folder / "a.pmem").exists(), "the pool that was made for it is gone again"


types = st.one_of(
    npst.integer_dtypes(endianness="?"),
    npst.unsigned_integer_dtypes(endianness="?"),
    npst.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    npst.complex_number_dtypes(endianness="<", sizes=(64, 128)),
    npst.boolean_dtypes(),
    npst.byte_string_dtypes(min_len=1),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_array(command: Command, folder: Path, data: st.DataObject) -> None:
    dtype = data.draw(types | npst.array_dtypes(types, max_size=3, allow_subarrays=True))
    array = data.draw(npst.arrays(dtype, npst.array_shapes(max_dims=4, max_side=6)))
    for left in folder.iterdir():
        left.unlink()
    with h5py.File(folder / "a.h5", "w") as file:
        file["a"] = array
    back = command.there_and_back(folder / "a.h5", "b.h5")
    with h5py.File(back) as file, h5py.File(folder / "a.h5") as first:
        assert file["a"].dtype == first["a"].dtype
        assert file["a"][()].tobytes() == first["a"][()].tobytes()


@pytest.mark.parametrize("order", ["C", "F"])
def test_what_a_program_stored_is_read_by_h5py(command: Command, folder: Path, order: str) -> None:
    values = np.arange(24.0).reshape(2, 3, 4)
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        u = pool.create("g/u", (4, 3, 4), "f8", order=order, fill_value=-1.0)
        u[:2] = values
        holes = pool.create("g/holes", (4, 6), "i4", order=order)
        holes[1:3, ::2] = np.arange(6).reshape(2, 3)
        pool["n"] = 7
        pool["name"] = "pmemcpy"
        pool["settings"] = {"dt": 0.1}
        pool["g/u"].attrs["units"] = "m/s"
        pool["g/u"].attrs["range"] = [0.0, 1.0]
    command(
        "export",
        "p.pmem",
        "p.h5",
        warnings=["g/holes: some elements were never stored", "settings: a structure of JSON"],
    )
    with h5py.File(folder / "p.h5") as file:
        np.testing.assert_array_equal(file["g/u"][:2], values)
        assert (file["g/u"][2:] == -1).all()
        np.testing.assert_array_equal(file["g/holes"][()], [[0] * 6, [0, 0, 1, 0, 2, 0], [3, 0, 4, 0, 5, 0], [0] * 6])
        assert file["n"][()] == 7
        assert file["name"][()] == b"pmemcpy"
        assert file["settings"][()] == b'{"dt": 0.1}'
        assert file["g/u"].attrs["units"] == "m/s"
        np.testing.assert_array_equal(file["g/u"].attrs["range"], [0, 1])
    command("export", "p.pmem:g", "g.h5", warnings=["holes"])
    with h5py.File(folder / "g.h5") as file:
        assert sorted(file) == ["holes", "u"]
    command("export", "p.pmem:g/u", "u.h5")
    with h5py.File(folder / "u.h5") as file:
        assert list(file) == ["u"]


def null_terminated(file: h5py.File, name: str, texts: list[bytes], width: int) -> None:
    """Text of HDF5's own kind: it ends with a NUL, if it is shorter than it may be."""
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(width)
    kind.set_strpad(h5py.h5t.STR_NULLTERM)
    dataset = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple((len(texts),)))
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([text.ljust(width, b"\0") for text in texts], f"V{width}"), kind)


# HDF5 ended each with a NUL, which took the last character; of NetCDF-4's characters, which are as wide as one, all.
def test_text_that_fills_its_width_keeps_its_last_character(command: Command, folder: Path) -> None:
    with h5py.File(folder / "a.h5", "w") as file:
        null_terminated(file, "full", [b"hello", b"xy", b"world"], 5)
        null_terminated(file, "letters", [b"a", b"b"], 1)
    back = command.there_and_back(folder / "a.h5", "b.h5")
    with h5py.File(back) as file:
        assert list(file["full"][()]) == [b"hello", b"xy", b"world"]
        assert list(file["letters"][()]) == [b"a", b"b"]
        assert file["full"].id.get_type().get_strpad() == h5py.h5t.STR_NULLTERM
    assert_same(folder / "a.h5", back)


def test_bytes_behind_the_nul_of_a_text_stay(command: Command, folder: Path) -> None:
    with h5py.File(folder / "a.h5", "w") as file:
        null_terminated(file, "t", [b"x\0yz"], 4)
    back = command.there_and_back(folder / "a.h5", "b.h5")
    with h5py.File(back) as file:
        seen = np.zeros(1, "V4")
        file["t"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, seen, file["t"].id.get_type())
        assert seen.tobytes() == b"x\0yz"


# A pool keeps a fill value in the array's record, for which this one is too large: the whole file was refused.
def test_what_was_never_written_may_have_large_elements(command: Command, folder: Path) -> None:
    with h5py.File(folder / "a.h5", "w") as file:
        file.create_dataset("x", (2,), "V1048576")
        file["y"] = np.arange(3)
    back = command.there_and_back(folder / "a.h5", "b.h5")
    with h5py.File(back) as file:
        assert file["x"].dtype == np.dtype("V1048576")
        assert file["x"][()].tobytes() == bytes(2 << 20)


def test_links_may_go_round_in_circles(command: Command, folder: Path) -> None:
    with h5py.File(folder / "a.h5", "w") as file:
        file["a/b/v"] = 1
        file["a/b/up"] = file["a"]
        file["a/root"] = file["/"]
        file["self"] = file["/"]
    warnings = ["a/b/up: another name of the group a", "a/root: another name", "self: another name of the group /"]
    command("import", "a.h5", "p.pmem", warnings=warnings)
    with pmemcpy.open(folder / "p.pmem", "r") as pool:
        assert pool.ids() == ["a/b/v"]


def test_names_that_pools_have_for_themselves_are_left_out(command: Command, folder: Path) -> None:
    with h5py.File(folder / "a.h5", "w") as file:
        for name in ("mine", "labelled", "listed"):
            file[name] = np.zeros((3, 4))
        file["mine"].attrs["_ARRAY_DIMENSIONS"] = "mine"
        file.create_dataset("chunks", (4,), "i4", chunks=(2,)).attrs["_exchange"] = "mine"
        file["labelled"].dims[0].label = "y"
        file["labelled"].dims[1].label = "x"
        for name in ("labelled", "listed"):
            file[name].attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
    words = "a name that pools have for something of their own"
    warnings = [f"{where}: {words}" for where in ("mine@_ARRAY_DIMENSIONS", "chunks@_exchange")]
    back = command.there_and_back(folder / "a.h5", "b.h5", warnings=[*warnings, f"labelled@_ARRAY_DIMENSIONS: {words}"])
    with h5py.File(back) as file:
        assert [dim.label for dim in file["labelled"].dims] == ["y", "x"]
        assert [dim.label for dim in file["listed"].dims] == ["y", "x"], "what names the dimensions is heeded"
        assert file["chunks"].chunks == (2,)


def test_what_a_pool_cannot_hold_is_left_out_by_name(command: Command, folder: Path) -> None:
    def raw(file: h5py.File, name: bytes) -> None:
        h5py.h5d.create(file.id, name, h5py.h5t.NATIVE_INT32, h5py.h5s.create(h5py.h5s.SCALAR))

    with h5py.File(folder / "a.h5", "w", track_order=True) as file:
        file["good"] = 1
        raw(file, b"A#dims")
        raw(file, b"..")
        raw(file, b"L" * 5000)
        file.create_group("B#dims")["inside"] = 2
        file["good"].attrs["pmemcpy:x"] = 1
        file["good"].attrs["n" * 5000] = 1
        many = file.create_dataset("many", data=1, track_order=True)
        for k in range(4097):
            many.attrs[f"a{k:04}"] = k
    named = ["A#dims: ", "..: ", "L" * 80 + "...: ", "B#dims: ", "good@pmemcpy:x: ", "good@nnn", "many@a4096: "]
    report = command("import", "a.h5", "p.pmem", warnings=named)
    assert all(warning.endswith("not imported") for warning in report["warnings"])
    with pmemcpy.open(folder / "p.pmem", "r") as pool:
        assert pool.ids() == ["good", "many"]
        assert pool["many"].attrs["a4095"] == 4095
    done = command.run("import", "a.h5", "q.pmem")
    assert "a.h5: A#dims: " in done.stderr, "the file is named, too"
    command.fails("import", "a.h5", "r.pmem", "--strict", code="unsupported", words=["not imported"])


def test_a_filter_that_is_missing_leaves_out_only_its_dataset(command: Command, folder: Path) -> None:
    with h5py.File(folder / "a.h5", "w") as file:
        file.create_dataset("packed", data=np.zeros(1000), compression="lzf")  # which only h5py has
        file["plain"] = np.arange(3)
    command("import", "a.h5", "p.pmem", warnings=["packed: it is compressed by HDF5's filter 32000"])
    with pmemcpy.open(folder / "p.pmem", "r") as pool:
        assert pool.ids() == ["plain"]
