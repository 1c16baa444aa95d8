"""A pool: opened, listed, stepped through, closed; and what is told when something is wrong."""

import errno
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pmemcpy
import pytest


def test_the_ten_lines(path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        pool["u"] = np.arange(1200.0).reshape(30, 40)
        pool["u"][10:20, ::2] = np.zeros((10, 20))
        a = pool["u"][...]
        pool["w"] = np.arange(10)
        v = pool["w"].view()
        pool["u"].attrs["units"] = "m/s"
        pool["cfg"] = {"dt": 0.1}
        assert "u  float64 (30, 40), 9.4 KiB" in str(pool.tree())
        assert pool["u"].info.blocks == 2
        pool.sync()
        assert pool.durability in {"none", "page", "line", "byte"}
    assert a[10, 0] == 0
    assert v.sum() == 45


def test_is_a_mapping_of_names_and_groups(pool: pmemcpy.Pool) -> None:
    pool["u"] = np.zeros(3)
    pool["g/v"] = 1
    pool["g/h/w"] = "text"
    assert list(pool) == ["g", "u"]
    assert len(pool) == 2
    assert "u" in pool and "g/v" in pool and "g" in pool and "nothing" not in pool and 3 not in pool
    group = pool["g"]
    assert isinstance(group, pmemcpy.Group)
    assert list(group) == ["h", "v"]
    assert group["h"]["w"][()] == "text"
    assert group["h/w"].name == "g/h/w"
    group["x"] = np.arange(4)
    assert pool["g/x"][2] == 2
    assert pool.ids() == ["g/h/w", "g/v", "g/x", "u"]
    assert group.ids() == ["h/w", "v", "x"]
    assert dict(pool["g/h"].items())["w"].value == "text"
    pool.rename("u", "g/u")
    assert "u" not in pool
    del group["u"]
    assert sorted(group) == ["h", "v", "x"]
    assert str(pool.tree()).splitlines() == [
        "/",
        "└── g/",
        "    ├── h/",
        "    │   └── w  string, 4 B",
        "    ├── v  int64, 8 B",
        "    └── x  int64 (4), 32 B",
    ]
    with pytest.raises(pmemcpy.BusyError):
        del pool["g"]
    assert pool.get("nothing") is None
    assert pool.pop("g/v").name == "g/v"


def test_an_array_of_the_same_shape_is_overwritten_and_no_other(pool: pmemcpy.Pool) -> None:
    pool["u"] = np.zeros((2, 3))
    pool["u"] = np.ones((2, 3))
    assert pool["u"][...].sum() == 6
    pool["u"] = np.ones((2, 3), np.float32)
    assert pool["u"].dtype == np.float64
    for other in (np.zeros((3, 2)), 1, {"a": 1}):
        with pytest.raises(pmemcpy.AlreadyExistsError):
            pool["u"] = other
    pool["n"] = 1
    with pytest.raises(pmemcpy.AlreadyExistsError, match="delete it"):
        pool["n"] = np.zeros(3)
    assert pool["u"][...].sum() == 6


def test_create_finds_the_same_array(pool: pmemcpy.Pool) -> None:
    pool.create("u", (2, 3), "f4", fill_value=7)
    assert pool.create("u", (2, 3), "f4", fill_value=7)[...].tolist() == [[7.0] * 3] * 2
    with pytest.raises(pmemcpy.AlreadyExistsError):
        pool.create("u", (2, 4), "f4")
    with pytest.raises(pmemcpy.NotFoundError):
        pool.create("empty", 3)[...]
    for shape in (-1, (2, None), (2, 2.5), "ab"):
        with pytest.raises((ValueError, TypeError)):
            pool.create("bad", shape)  # type: ignore[arg-type]
    for options in ({"codec": "nothing"}, {"order": "A"}, {"fill_value": "text"}):
        with pytest.raises((ValueError, TypeError)):
            pool.create("bad", 3, "f8", **options)  # type: ignore[arg-type]
    assert "bad" not in pool


def test_compressed_arrays_and_stores(pool: pmemcpy.Pool) -> None:
    data = np.tile(np.arange(100.0), 100)
    pool.store("packed", data, codec="zstd:5")
    info = pool["packed"].info
    assert info.codec.startswith("zstd")
    assert info.stored_bytes < info.size_bytes / 4
    np.testing.assert_array_equal(pool["packed"][::7], data[::7])
    with pytest.raises(pmemcpy.UnsupportedError):
        pool["packed"].view()


def test_an_unlimited_array_grows(pool: pmemcpy.Pool) -> None:
    series = pool.create("t", (None, 3), "f8")
    assert series.shape == (0, 3)
    assert series.is_unlimited
    series[0] = [1, 2, 3]
    series[1:3] = [[4, 5, 6], [7, 8, 9]]
    series.append([10, 11, 12])
    series.append(np.zeros((2, 3)))
    assert series.shape == (6, 3)
    assert series[-3].tolist() == [10, 11, 12]
    assert len(pool["t"]) == 6
    assert str(pool.tree()).endswith("(6+, 3), 144 B")
    with pytest.raises(ValueError, match="fixed length"):
        pool.create("fixed", 3).append([1])


def test_steps_appear_whole_and_stay_readable(path: str) -> None:
    with pmemcpy.open(path, "a") as pool, pmemcpy.open(path, "r") as reader:
        for step in (1, 2, 3):
            with pool.step(step):
                pool["u"] = np.full(4, float(step))
                pool["v"] = step
                assert reader.get("v") is None if step == 1 else reader["v"].value == step - 1
            assert reader["v"].value == step
        assert reader.info.committed_step == 3
        newest = reader.at(3)
        assert newest["u"][...].tolist() == [3.0] * 4
        assert newest["v"].value == 3
        with pytest.raises(pmemcpy.NotFoundError):
            reader.at(1)["v"]
        with pytest.raises(pmemcpy.UnsupportedError):
            newest["u"] = np.zeros(4)
        with pytest.raises(pmemcpy.UnsupportedError):
            newest["u"][0] = 1
        with pytest.raises(ValueError, match="2"), pool.step(2):
            pass


def test_a_step_that_fails_is_not_seen(path: str) -> None:
    with pmemcpy.open(path, "a") as pool, pmemcpy.open(path, "r") as reader:
        with pytest.raises(RuntimeError, match="failed"), pool.step(1):
            pool["v"] = 1
            raise RuntimeError("failed")
        assert "v" not in reader


@pytest.mark.parametrize(
    ("mode", "exists", "kind"),
    [
        ("r", False, FileNotFoundError),
        ("r+", False, FileNotFoundError),
        ("x", True, FileExistsError),
        ("rw", True, ValueError),
        ("w", "in use", pmemcpy.BusyError),
    ],
)
def test_opening_fails_with_pythons_exceptions(path: str, mode: str, exists: Any, kind: type[Exception]) -> None:
    if exists:
        held = pmemcpy.open(path, "a")
        if exists != "in use":
            held.close()
    with pytest.raises(kind) as raised:
        pmemcpy.open(path, mode)
    assert isinstance(raised.value, pmemcpy.Error)
    assert str(raised.value).strip('"')
    assert "\\" not in str(raised.value)


def test_a_mistyped_path_makes_nothing_and_is_told_what_is_there(path: str) -> None:
    """open() made a new, empty pool of a mistyped name, by its mode "a"; now it reads, as h5py does."""
    with pmemcpy.open(path, "a") as pool:
        pool["n"] = 1
    with pmemcpy.open(path) as reader:
        assert reader["n"].value == 1
        with pytest.raises(PermissionError):
            reader["n"] = 2
    folder, name = Path(path).parent, Path(path).name
    before = sorted(folder.iterdir())
    with pytest.raises(FileNotFoundError, match='mode="a"') as raised:
        pmemcpy.open(folder / name.replace(".pmem", ".pmen"))
    assert f"Did you mean {path!r}" in str(raised.value)
    for nothing in (folder / "quite different", folder / "no folder" / "run.pmem"):
        with pytest.raises(FileNotFoundError, match='mode="a"') as raised:
            pmemcpy.open(nothing)
        assert "mean" not in str(raised.value)
    assert sorted(folder.iterdir()) == before


def test_no_pool_is_told_from_a_damaged_one(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no pool " * 1000)
    with pytest.raises(pmemcpy.CorruptError, match="no pMEMCPY pool"):
        pmemcpy.open(text)
    with pytest.raises(TypeError):
        pmemcpy.open(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        pmemcpy.open(text, colour="red")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may do anything")
def test_without_permission(path: str) -> None:
    pmemcpy.open(path, "a").close()
    Path(path).chmod(0o400)
    with pytest.raises(PermissionError):
        pmemcpy.open(path, "r+")


def test_a_reader_cannot_write(path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        pool["u"] = np.zeros(3)
    with pmemcpy.open(path, "r") as pool:
        for change in (lambda: pool["u"].store(0, 1), lambda: pool.store("n", 1), lambda: pool.pop("u")):
            with pytest.raises(PermissionError):
                change()
        assert pool["u"][...].sum() == 0


def test_after_close_every_call_says_so(path: str) -> None:
    pool = pmemcpy.open(path, "a")
    pool["u"] = np.arange(3)
    array = pool["u"]
    view = array.view()
    pool.close()
    pool.close()
    assert not pool
    assert "closed" in repr(pool)
    for call in (
        lambda: pool["u"],
        lambda: array[...],
        lambda: array.store(0, 1),
        lambda: pool.info,
        lambda: list(pool),
    ):
        with pytest.raises(pmemcpy.InvalidArgumentError, match="open"):
            call()
    assert view.tolist() == [0, 1, 2]


def test_what_is_pickled_opens_the_pool_anew(pool: pmemcpy.Pool) -> None:
    pool["g/u"] = np.arange(5)
    pool["n"] = 3
    for thing in (pool, pool["g"], pool["g/u"], pool["n"]):
        again = pickle.loads(pickle.dumps(thing))
        assert type(again) is type(thing)
        assert again.name == thing.name
    assert pickle.loads(pickle.dumps(pool["g/u"]))[...].tolist() == [0, 1, 2, 3, 4]


def test_verify_compact_trim_prepare_repair(path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        pool["u"] = np.zeros(100_000)
        pool["u"][:] = 1
        calls: list[tuple[int, int]] = []
        assert pool.verify(lambda done, all: calls.append((done, all))) == []
        assert calls and calls[-1][0] == calls[-1][1]
        pool.prepare(1 << 24)
        pool.compact()
        del pool["u"]
        assert pool.trim() > 0
        pool["v"] = np.arange(10)

        def interrupt(done: int, all: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            pool.verify(interrupt)
        with pytest.raises(pmemcpy.BusyError):
            pool.verify(lambda done, all: pool.close())
        assert pool.load("v")[3] == 3
    report = pmemcpy.repair(path, path + ".new")
    assert report.variables == 1
    with pmemcpy.open(path + ".new", "r") as saved:
        assert saved["v"][...].tolist() == list(range(10))


def test_every_code_has_its_exception() -> None:
    assert issubclass(pmemcpy.NotFoundError, KeyError)
    assert issubclass(pmemcpy.OutOfRangeError, IndexError)
    assert issubclass(pmemcpy.TypeMismatchError, TypeError)
    assert issubclass(pmemcpy.PermissionDeniedError, PermissionError)
    assert issubclass(pmemcpy.NoSpaceError, OSError)


# `except OSError as error: if error.errno == errno.ENOSPC` is how a program asks whether its disk is full.
def test_an_error_of_the_system_has_its_number(path: str) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        pmemcpy.open(path, "r")
    assert missing.value.errno == errno.ENOENT
    with pmemcpy.open(path, "a", max_bytes=16 << 20) as pool, pytest.raises(pmemcpy.NoSpaceError) as full:
        pool["large"] = np.zeros(4 << 20)
    assert full.value.errno == errno.ENOSPC


def test_a_closed_pool_says_so_in_words_of_python(path: str) -> None:
    pool = pmemcpy.open(path, "a")
    pool.close()
    with pytest.raises(pmemcpy.Error, match="no pool is open here: it was closed"):
        pool["x"] = 1


def test_a_full_pool_says_so_and_goes_on(path: str) -> None:
    with pmemcpy.open(path, "a", max_bytes=16 << 20) as pool:
        pool["kept"] = np.arange(1000)
        with pytest.raises(pmemcpy.NoSpaceError):
            pool["large"] = np.zeros(4 << 20)
        assert pool["kept"][999] == 999
        assert "large" not in pool, "an array without a first element was left"
        with pytest.raises(pmemcpy.NoSpaceError), pool.step(1):  # and not the error of cleaning up in a step
            pool["large"] = np.zeros(4 << 20)
        assert "large" not in pool
        pool["small"] = 1


def test_a_group_is_listed_as_it_is_now(pool: pmemcpy.Pool) -> None:
    group = pool.create_group("g")
    assert (len(group), list(group)) == (0, [])
    for k in range(30):
        group[f"{k:02}"] = k
        assert len(group) == k + 1
    group["sub/v"] = 1
    assert list(group) == [*(f"{k:02}" for k in range(30)), "sub"]
    del group["05"]
    pool.rename("g/06", "g/a")
    assert list(group)[4:7] == ["04", "07", "08"]
    assert (len(group), list(group)[-2:]) == (30, ["a", "sub"])
    assert list(pool) == ["g"]


def test_the_newest_members_of_a_group_are_kept(pool: pmemcpy.Pool) -> None:
    for step in range(1, 6):
        with pool.step(step):
            pool[f"out/{step}/T"] = np.full(3, step)
        pool["out"].keep_newest(2) if step > 1 else None
    assert list(pool["out"]) == ["4", "5"]
    assert pool.erase_all("out") == 5
    assert list(pool) == []
    with pytest.raises(pmemcpy.NotFoundError):
        pool.erase_all("out")


def test_a_step_does_not_begin_inside_another(pool: pmemcpy.Pool) -> None:
    pool.begin(5)
    with pytest.raises(pmemcpy.InvalidArgumentError, match=r"inside step 5.*commit\(5\)"):
        pool.begin(6)
    pool.commit(5)
    with pool.step(6):
        pass
