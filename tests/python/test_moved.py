"""The directory of an open pool is renamed, and another pool is made under the old name: no call goes to that one."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pmemcpy
import pytest


def content(pool: pmemcpy.Pool) -> dict[str, Any]:
    return {name: (np.asarray(pool[name].value).tolist(), dict(pool[name].attrs)) for name in pool}


@pytest.mark.parametrize("layout", ["file", "directory"])
def test_no_call_goes_to_another_pool_of_the_old_name(path: str, layout: str) -> None:
    here, there = Path(path), Path(path + ".there")
    here.mkdir()
    pool = pmemcpy.open(here / "p", "w", layout=layout, max_bytes=1 << 26)
    pool["a"] = np.arange(10.0)
    pool["x"] = 100
    pool["v"] = 1
    element = pool["x"]
    mine = content(pool)
    here.rename(there)
    here.mkdir()
    with pmemcpy.open(here / "p", "w", layout=layout, max_bytes=1 << 26) as other:
        other["a"] = np.full(10, 777.0)
        other["x"] = 5
        others = content(other)
    beside = sorted(one.name for one in here.iterdir())
    moved = pytest.raises(pmemcpy.BusyError, match="moved or removed while it was open")
    with moved:
        pool.operate("a", "max")
    with moved:
        pool.hint("a", "sum")
        pool.wait_for_operations()
    pool.hint("a")
    with moved:
        pool.set_scope("x", "private")
    with moved:
        pool.extract("e", "", lambda u: {"seen": 1})
    with moved:
        pool.set_index("sync")
    with pytest.raises(pmemcpy.NotFoundError, match="another pool is there"):
        pickle.loads(pickle.dumps(element))
    pool["v"] = 2
    assert pool["x"].value == 100
    assert pool.find("kind = 'value' and value = 2").ids == ["v"]
    mine["v"] = (2, {})
    assert content(pool) == mine
    pool.close()
    assert sorted(one.name for one in here.iterdir()) == beside
    with pmemcpy.open(here / "p", "r+") as other:
        assert content(other) == others
        assert other.verify() == []
    with pmemcpy.open(there / "p", "r+") as pool:
        assert content(pool) == mine
        assert pool.verify() == []


def test_what_is_pickled_comes_back_from_its_pool(path: str) -> None:
    with pmemcpy.open(path, "w", max_bytes=1 << 26) as pool:
        pool["x"] = 1
        pickled = pickle.dumps(pool["x"])
        assert pickle.loads(pickled).value == 1
    Path(path).rename(path + ".kept")
    with pytest.raises(pmemcpy.NotFoundError):
        pickle.loads(pickled)
    with pmemcpy.open(path, "w", max_bytes=1 << 26) as pool:
        pool["x"] = 2
    with pytest.raises(pmemcpy.PoolNotFoundError, match="another pool is there"):
        pickle.loads(pickled)
    Path(path + ".kept").rename(path)
    assert pickle.loads(pickled).value == 1


@pytest.mark.parametrize("mode", ["async", "sync"])
@pytest.mark.parametrize("what", ["index", "directory"])
def test_flushing_an_index_that_was_moved_comes_to_an_end(path: str, mode: str, what: str) -> None:
    here = Path(path)
    here.mkdir()
    with pmemcpy.open(here / "p", "w", max_bytes=1 << 26, index=mode) as pool:
        for i in range(60):
            pool[f"n{i}"] = i
        pool.flush_index()
        if what == "index":
            (here / "p.idx").rename(here / "old")
            pool["x"] = 100
            pool.flush_index()
        else:
            here.rename(path + ".there")
            pool["x"] = 100
            with pytest.raises(pmemcpy.BusyError, match="moved"):
                pool.flush_index()
            assert "moved" in pool.index.trouble
        assert pool.find("value > 58").ids == ["n59", "x"]


def test_private_objects_are_none_of_a_new_pool(path: str) -> None:
    with pmemcpy.open(path, "w", max_bytes=1 << 26) as pool:
        pool["x"] = 1
        pool.set_scope("x", "private")
    with pmemcpy.open(path, "w", max_bytes=1 << 26) as pool:
        assert list(pool) == []
        pool["x"] = 50
        assert pool.find("scope = 'shared'").ids == ["x"]
    Path(path).unlink()
    with pmemcpy.open(path, "a", max_bytes=1 << 26) as pool:
        assert list(pool) == []
