"""NumPy's files into a pool and out of it again: what export writes is, to the byte, what numpy.save wrote."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pmemcpy
import pytest
from conftest import ROWS, Command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

NESTED = np.dtype(
    [("id", ">u2"), ("at", [("x", "<f8", (2, 2)), ("β", "<U3")]), ("", "V3"), ("when", "<M8[D]")], align=False
)
ARRAYS: dict[str, Any] = {
    "plain": np.arange(12.0).reshape(3, 4),
    "fortran": np.asfortranarray(np.arange(24, dtype="i2").reshape(2, 3, 4)),
    "fortran big": np.asfortranarray(np.arange(24, dtype=">f4").reshape(2, 3, 4)),
    "no dimensions": np.array(3.5, ">f8"),
    "empty": np.empty((4, 0, 3), "c8"),
    "nothing": np.empty(0, "f2"),
    "many dimensions": np.arange(4, dtype="u1").reshape((1,) * 15 + (2, 2) + (1,) * 15),
    "bool": np.array([True, False, True]),
    "complex": np.array([1 + 2j, 3]),
    "text": np.array(["", "β", "three words", "\U0001f600"]),
    "big text": np.array([["äöü", "b"]], ">U7"),
    "one text": np.array("of no dimensions"),
    "bytes": np.array([b"", b"\xff\x00\x01"]),
    "void": np.array([b"abc", b"def"], "V3"),
    "times": np.array(["2026-01-01", "NaT"], "M8[ns]"),
    "nested": np.ones((2, 3), NESTED),
    "aligned": np.ones(3, np.dtype([("a", "i1"), ("b", "f8"), ("c", "i1")], align=True)),
    "quotes": np.ones(1, [("it's", "i4"), ("a\"'\n\\b", "i4"), ("ÿ", "i4")]),
    "many fields": np.zeros(2, [(f"field{i:06}", "i1") for i in range(2400)]),  # a header of version 2.0
}
EXAMPLES = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)


def assert_same(expected: Any, found: Any, name: str = "") -> None:
    assert expected.dtype == found.dtype, name
    assert expected.shape == found.shape, name
    assert expected.tobytes() == found.tobytes(), name


@pytest.mark.filterwarnings("ignore:Stored array in format")
@pytest.mark.parametrize("name", ARRAYS)
def test_a_file_comes_back_to_the_byte(command: Command, folder: Path, name: str) -> None:
    np.save(folder / "a.npy", ARRAYS[name])
    back = command.there_and_back(folder / "a.npy", "b.npy")
    assert back.read_bytes() == (folder / "a.npy").read_bytes()
    if ARRAYS[name].ndim > 0 and not ARRAYS[name].dtype.hasobject:
        assert_same(ARRAYS[name], np.load(back, mmap_mode="r", max_header_size=100_000))


def has_printable_names(dtype: np.dtype[Any]) -> bool:
    """Others are written as escapes, of which NumPy has more kinds; names with NUL and titles are for other tests."""
    fields = dtype.fields or {}
    return all(name.isprintable() and len(field) == 2 for name, field in fields.items())


DTYPES = st.one_of(
    npst.integer_dtypes(endianness="?"),
    npst.unsigned_integer_dtypes(endianness="?"),
    npst.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    npst.complex_number_dtypes(endianness="?", sizes=(64, 128)),
    npst.boolean_dtypes(),
    st.sampled_from(["M8[Y]", "M8[s]", ">M8[ns]", "S3", "U1", ">U4"]).map(np.dtype),
    npst.array_dtypes(npst.integer_dtypes() | npst.unicode_string_dtypes(min_len=1, max_len=3), max_size=4).filter(
        has_printable_names
    ),
)


@pytest.mark.filterwarnings("ignore:Stored array in format")
@given(data=st.data(), fortran=st.booleans())
@EXAMPLES
def test_every_array_comes_back(command: Command, folder: Path, data: st.DataObject, fortran: bool) -> None:
    dtype = data.draw(DTYPES)
    array = data.draw(npst.arrays(dtype, npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)))
    array = np.asarray(array, order="F" if fortran else "C")
    for file in folder.iterdir():
        file.unlink()
    np.save(folder / "a.npy", array)
    back = command.there_and_back(folder / "a.npy", "b.npy")
    assert back.read_bytes() == (folder / "a.npy").read_bytes()


def test_python_gets_what_numpy_would_give(command: Command, folder: Path) -> None:
    np.savez(folder / "a.npz", **ARRAYS)
    command("import", "a.npz", "p.pmem")
    with pmemcpy.open(folder / "p.pmem", "r") as pool:
        for name in ("plain", "fortran", "fortran big", "bool", "complex", "bytes", "void", "times", "aligned"):
            assert_same(ARRAYS[name], pool[name][...], name)
            assert pool[name].order == ("F" if name.startswith("fortran") else "C")
        for name in ("text", "big text"):
            assert pool[name][...].tolist() == ARRAYS[name].tolist()
        assert pool["no dimensions"].value == 3.5
        assert pool["one text"].value == "of no dimensions"
        assert pool["plain"].view().tolist() == ARRAYS["plain"].tolist()


@pytest.mark.filterwarnings("ignore:Stored array in format")
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_archive_comes_back(command: Command, folder: Path, save: Callable[..., None]) -> None:
    arrays = {("group/inner/" if i % 3 == 0 else "") + name: array for i, (name, array) in enumerate(ARRAYS.items())}
    save(folder / "a.npz", **arrays)
    back = command.there_and_back(folder / "a.npz", "b.npz")
    with zipfile.ZipFile(folder / "a.npz") as one, zipfile.ZipFile(back) as other:
        assert other.testzip() is None
        assert sorted(one.namelist()) == sorted(other.namelist())
        for name in one.namelist():
            assert one.read(name) == other.read(name), name
            assert one.getinfo(name).compress_type == other.getinfo(name).compress_type
    with np.load(back, max_header_size=100_000) as found:
        for name, array in arrays.items():
            assert_same(array, found[name], name)


def test_what_becomes_something_else_is_told_and_comes_back(command: Command, folder: Path) -> None:
    arrays = {
        "spans": np.array([1, -2], "m8[s]"),
        "odd": np.array([1, 2], "M8[25s]"),
        "titled": np.ones(2, [(("a title", "name"), "i4")]),
    }
    np.savez(folder / "a.npz", **arrays)
    told = ["spans: elements of timedelta64[s] become int64", "odd: elements of datetime64[25s]", "title of the field"]
    command("import", "a.npz", "p.pmem", warnings=told)
    command("export", "p.pmem", "b.npz")
    with np.load(folder / "b.npz") as found:
        for name, array in arrays.items():
            assert_same(array, found[name])
    with pmemcpy.open(folder / "p.pmem", "r") as pool:
        assert pool["spans"].attrs["units"] == "seconds"
    command.fails(
        "import", "a.npz", "q.pmem", "--strict", code="unsupported", words=["spans: elements of timedelta64[s]"]
    )


def test_what_numpy_cannot_hold_is_told(command: Command, folder: Path) -> None:
    bfloat16 = pmemcpy._core.Type.scalar(pmemcpy._core.Kind.bfloat16)
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        pool["u"] = np.arange(3.0)
        pool["u"].attrs["units"] = "K"
        pool["u"].attrs["_ARRAY_DIMENSIONS"] = ["x"]
        pool._pool.alloc("brain", bfloat16, (2,))  # numpy itself has none
        pool._pool.store("brain", bfloat16, np.array([0x3FC0, 0xC000], "<u2").view("u1"), (0,), (2,), (1,))
        pool.create("g/grows", (None, 2), "i4", fill_value=7)
    losses = [
        "u: NumPy's files hold elements only; not exported: @units, the names of its dimensions",
        "brain: NumPy has no bfloat16; it becomes float32",
        "g/grows: NumPy's files hold elements only; not exported: its fill value, that it can grow",
    ]
    command("export", "p.pmem", "p.npz", warnings=losses)
    with np.load(folder / "p.npz") as found:
        assert_same(np.array([1.5, -2], "f4"), found["brain"])
        assert found["g/grows"].shape == (0, 2)
    command("export", "p.pmem:u", "u.npy", warnings=losses[:1])
    command.fails("export", "p.pmem:u", "v.npy", "--strict", code="unsupported", words=["@units"])
    assert not (folder / "v.npy").exists()


def test_values_are_arrays_without_dimensions(command: Command, folder: Path) -> None:
    values = {"n": 3, "x": 1.5, "text": "hällo", "none": "", "yes": True, "when": np.datetime64("2026-01-01", "us")}
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        for name, value in values.items():
            pool[name] = value
        pool["settings"] = {"a": [1, None]}
        pool["text of one length"] = np.array(["ab", "c"], "U9")
    command("export", "p.pmem", "p.npz", warnings=["settings: a structure of JSON; it becomes text"])
    with np.load(folder / "p.npz") as found:
        for name, value in values.items():
            assert found[name].shape == ()
            assert found[name][()] == value
        assert found["settings"] == '{"a": [1, null]}'
        assert found["text of one length"].dtype == "U2"
        assert found["text of one length"].tolist() == ["ab", "c"]


def test_text_that_has_grown_in_the_pool_is_not_cut(command: Command, folder: Path) -> None:
    np.save(folder / "a.npy", np.array(["abc"]))
    command("import", "a.npy", "p.pmem")
    with pmemcpy.open(folder / "p.pmem", "r+") as pool:
        pool["a"][...] = np.array(["abcdefgh"])
    command("export", "p.pmem", "b.npy")
    assert np.load(folder / "b.npy").tolist() == ["abcdefgh"]


def test_one_variable_to_a_file(command: Command, folder: Path) -> None:
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        pool["g/a"], pool["g/b"] = np.arange(3), np.arange(4)
    command.fails("export", "p.pmem", "p.npy", code="invalid_argument", words=["one array", "g/a, g/b", ".npz"])
    assert not (folder / "p.npy").exists()
    command("export", "p.pmem:g/b", "p.npy")
    assert_same(np.arange(4), np.load(folder / "p.npy"))
    command("import", "p.npy", "q.pmem", "--into", "g")
    with pmemcpy.open(folder / "q.pmem", "r") as pool:
        assert pool.ids() == ["g/p"]


def test_an_archive_of_nothing(command: Command, folder: Path) -> None:
    np.savez(folder / "a.npz")
    back = command.there_and_back(folder / "a.npz", "b.npz")
    with np.load(back) as found:
        assert found.files == []


def saved(array: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def test_what_is_no_array_in_an_archive_is_left_out(command: Command, folder: Path) -> None:
    with zipfile.ZipFile(folder / "a.npz", "w") as archive:
        archive.writestr("a.npy", saved(np.arange(3)))
        archive.writestr("README.txt", "of this archive")
        archive.writestr("group/", "")
        archive.writestr("objects.npy", saved(np.array([{}, None]), allow_pickle=True))
    command("import", "a.npz", "p.pmem", warnings=["README.txt: no .npy", "objects: a.npz: objects.npy: its elements"])
    with pmemcpy.open(folder / "p.pmem", "r") as pool:
        assert pool.ids() == ["a"]
        assert [group.strip("/") for group in pool.groups() if group.strip("/")] == ["group"]
    np.save(folder / "o.npy", np.array([{}, None]), allow_pickle=True)
    command.fails("import", "o.npy", code="unsupported", words=["o.npy", "Python objects", "allow_pickle"])
    np.save(folder / "l.npy", np.ones(3, np.longdouble))
    command.fails("import", "l.npy", code="unsupported", words=["l.npy", "every machine", "float64"])
    assert not list(folder.glob("[ol].pmem"))


def header(text: str, behind: bytes = b"", version: int = 1) -> bytes:
    raw = text.encode()
    return b"\x93NUMPY" + bytes([version, 0]) + len(raw).to_bytes(2 if version == 1 else 4, "little") + raw + behind


@pytest.mark.parametrize(
    ("content", "code", "word"),
    [
        (b"\x93NUMPY", "corrupt", "ends"),
        (b"\x93NUMPY\x09\x00", "unsupported", "9.0"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "corrupt", "ends"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", bytes(23)), "corrupt", "24"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (2**60,)}"), "corrupt", "header"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551615,)}"), "corrupt", "shape"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}"), "corrupt", "64 bits"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}"), "corrupt", "memory"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4611686018427387904, 8)}"), "corrupt", "memory"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}"), "corrupt", "header"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': 3}", bytes(24)), "corrupt", "tuple"),
        (header("{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}", bytes(24)), "corrupt", "fortran_order"),
        (header("{'descr': '<f8', 'shape': (3,)}", bytes(24)), "corrupt", "fortran_order"),
        (header("{'descr': '<q9', 'fortran_order': False, 'shape': ()}", bytes(24)), "corrupt", "<q9"),
        (header("{'descr': '|S99999999999999', 'fortran_order': False, 'shape': ()}"), "corrupt", "S9999"),
        (header("{'descr': '|S999999999', 'fortran_order': False, 'shape': ()}"), "unsupported", "64 MiB"),
        (header("{'descr': [], 'fortran_order': False, 'shape': ()}"), "unsupported", "without fields"),
        (header("{'descr': [('a','u1'),('a','u1')], 'fortran_order': False, 'shape': ()}"), "unsupported", "twice"),
        (header("{'descr': '|u1', 'fortran_order': False, 'shape': (" + "1," * 33 + ")}", b"1"), "unsupported", "33"),
        (header("{'descr': " + "[('a'," * 999), "corrupt", "deep"),
        (header("{'descr': '<U1', 'fortran_order': False, 'shape': ()}", b"\0\0\x11\0"), "corrupt", "Unicode"),
        (header("{'descr': '\xe9', 'fortran_order': False, 'shape': ()}", version=3), "corrupt", "means nothing"),
    ],
)  # fmt: skip
def test_a_header_that_lies(command: Command, folder: Path, content: bytes, code: str, word: str) -> None:
    (folder / "a.npy").write_bytes(content)
    command.fails("import", "a.npy", code=code, words=["a.npy", word])
    with zipfile.ZipFile(folder / "b.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("good.npy", saved(np.arange(3)))
        archive.writestr("x/a.npy", content)
    if code == "corrupt":
        command.fails("import", "b.npz", code=code, words=["b.npz: x/a.npy", word])
        assert not list(folder.glob("*.pmem"))


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_cut_and_changed_files_are_errors_or_arrays(command: Command, folder: Path, kind: str) -> None:
    if kind == "npy":
        np.save(folder / "a.npy", np.ones((3, 5), NESTED))
    else:
        np.savez_compressed(folder / "a.npz", a=np.arange(300.0), b=np.array(["x", "y"]))
    whole = (folder / f"a.{kind}").read_bytes()
    random = np.random.default_rng(7)
    for n in range(150):
        broken = bytearray(whole)
        if n % 3 == 0:
            del broken[int(random.integers(0, len(whole))) :]
        else:
            for place in random.integers(0, min(len(whole), 400 if kind == "npy" else len(whole)), 1 + n % 4):
                broken[place] = random.integers(0, 256)
        (folder / f"b.{kind}").write_bytes(broken)
        done = command.run("import", f"b.{kind}", "p.pmem", "--format", kind, "--max-size", "64MiB")
        assert done.returncode in range(9), (n, done)
        assert (folder / "p.pmem").exists() == (done.returncode == 0), (n, done)
        for left in folder.glob("p.pmem*"):
            left.unlink()


def test_what_follows_the_elements_is_told(command: Command, folder: Path) -> None:
    (folder / "a.npy").write_bytes(saved(np.arange(3)) + saved(np.arange(4)))
    command("import", "a.npy", "p.pmem", warnings=["a: 160 bytes behind the array's elements"])


def test_an_archive_that_is_broken(command: Command, folder: Path) -> None:
    np.savez(folder / "a.npz", first=np.arange(3), second=np.arange(1000.0))
    whole = bytearray((folder / "a.npz").read_bytes())
    whole[whole.index(saved(np.arange(1000.0))) + 4000] ^= 1
    (folder / "b.npz").write_bytes(whole)
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        pool["mine"] = 1
    command.fails("import", "b.npz", "p.pmem", "--into", "g", code="corrupt", words=["b.npz: second.npy", "CRC"])
    (folder / "c.npz").write_bytes(whole[: len(whole) // 2])
    command.fails("import", "c.npz", "p.pmem", code="corrupt", words=["c.npz", "libzip says"])
    with pmemcpy.open(folder / "p.pmem", "r") as pool:
        assert pool.ids() == ["mine"]
        assert pool.groups() in ([], ["/"])


def test_an_encrypted_archive_is_refused(command: Command, folder: Path) -> None:
    np.savez(folder / "a.npz", first=np.arange(3))
    whole = bytearray((folder / "a.npz").read_bytes())
    for magic, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        whole[whole.index(magic) + flags] |= 1
    (folder / "b.npz").write_bytes(whole)
    command.fails("import", "b.npz", code="unsupported", words=["b.npz: first.npy", "encrypted"])


def test_names_that_a_pool_cannot_have(command: Command, folder: Path) -> None:
    with zipfile.ZipFile(folder / "a.npz", "w") as archive:
        archive.writestr("/etc/x.npy", saved(np.arange(3)))
        archive.writestr("good.npy", saved(np.arange(3)))
    command("import", "a.npz", warnings=["/etc: "])
    with pmemcpy.open(folder / "a.pmem", "r") as pool:
        assert pool.ids() == ["good"]


@pytest.mark.parametrize("file", ["a.npy", "a.npz"])
def test_memory_does_not_grow_with_the_file(folder: Path, command: Command, file: str) -> None:
    big = np.lib.format.open_memmap(folder / "a.npy", "w+", "f8", (ROWS, 1 << 17), fortran_order=True)
    column = np.arange(ROWS, dtype="f8")
    for i in range(0, 1 << 17, 1 << 13):
        big[:, i : i + (1 << 13)] = column[:, np.newaxis] + i
    del big
    if file == "a.npz":
        with zipfile.ZipFile(folder / file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(folder / "a.npy", "a.npy")
        (folder / "a.npy").unlink()
    command.in_little_memory("import", file, "p.pmem", "--max-size", f"{2 * ROWS}MiB")
    command.in_little_memory("export", "p.pmem", f"b{file[1:]}")
    loaded = np.load(folder / f"b{file[1:]}", mmap_mode="r")
    found = loaded if file == "a.npy" else loaded["a"]
    np.testing.assert_array_equal(found[:, -1], column + (1 << 17) - (1 << 13))
