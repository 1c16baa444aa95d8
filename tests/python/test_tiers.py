"""The targets below a pool, from Python."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pmemcpy
import pytest

HIERARCHY = """
targets:
  - {{name: pool, kind: tmpfs, write: {{bandwidth: 8 GB/s, latency: 1 us}}, read: {{bandwidth: 9 GB/s, latency: 1 us}}}}
  - name: pfs
    kind: shared
    path: {below}
    write: {{bandwidth: 1 GB/s, latency: 100 us}}
    read: {{bandwidth: 1 GB/s, latency: 100 us}}
mode: none
promotion: never
"""


def comes_true(what: Callable[[], bool]) -> bool:
    for _ in range(1000):
        if what():
            return True
        time.sleep(0.01)
    return what()


@pytest.fixture
def below(tmp_path: Path) -> Path:
    folder = tmp_path / "pfs"
    folder.mkdir()
    return folder


@pytest.fixture
def pool(path: str, below: Path) -> pmemcpy.Pool:
    pool = pmemcpy.open(path, "a", max_bytes=1 << 24, chunk_bytes=1 << 16)
    pool.set_hierarchy(HIERARCHY.format(below=below))
    pool["u"] = np.arange(20_000.0)
    return pool


def test_what_was_flushed_has_a_receipt(pool: pmemcpy.Pool) -> None:
    seen = []
    assert not any(receipt.is_flushed for receipt in pool.receipts("u"))
    assert pool.flush("u", lambda done, of: seen.append((done, of))) == 160_000
    assert seen[-1] == (160_000, 160_000)
    assert all(receipt.is_flushed and receipt.target == "pool" for receipt in pool.receipts("u"))
    assert pool.flush() == 0
    assert {each.name: each.kind for each in pool.targets} == {"pool": "tmpfs", "pfs": "shared"}
    assert pool.targets[1].used_bytes > 160_000
    with pytest.raises(pmemcpy.NotFoundError):
        pool.flush("v")


def test_flushing_stops_where_it_is_told_to(pool: pmemcpy.Pool) -> None:
    pool["w"] = np.arange(20_000.0)

    def fail(done: int, of: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        pool.flush(progress=fail)
    assert pool.flush(progress=lambda done, of: False) <= 160_000
    pool.flush()


def test_what_a_mode_wants_flushed_is_told(pool: pmemcpy.Pool) -> None:
    assert pool.unflushed.blocks == 0
    pool.set_mode("/", "write-back")
    assert comes_true(lambda: pool.unflushed.blocks == 0)
    with pytest.raises(pmemcpy.InvalidArgumentError):
        pool.set_mode("u", "sometimes")


def test_somebody_is_asked(pool: pmemcpy.Pool) -> None:
    pool.request("flush", "u")
    assert comes_true(lambda: pool.receipts("u")[0].is_flushed)
    pool.move("u", "pfs")
    assert pool.receipts("u")[0].target == "pfs"
    pool.request("bring up", "u", urgency=3)
    assert comes_true(lambda: pool.receipts("u")[0].target == "pool")
    assert comes_true(lambda: pool.requests == 0)
    with pytest.raises(pmemcpy.InvalidArgumentError, match="'flush' and 'bring up'"):
        pool.request("burn", "u")


def test_room_is_reserved(pool: pmemcpy.Pool) -> None:
    pool.reserve(1 << 20)
    assert pool.reserved() >= 1 << 20
    pool.reserve(0)
    assert pool.reserved() == 0


def test_a_pool_that_is_lost_is_made_again(path: str, below: Path, pool: pmemcpy.Pool, tmp_path: Path) -> None:
    pool["u"].attrs["units"] = "K"
    pool.flush()
    pool["u"][0] = 7.0
    pool.close()
    with pytest.raises(pmemcpy.BusyError):
        pmemcpy.rebuild(below, tmp_path / "again")
    Path(path).unlink()
    made = pmemcpy.rebuild(below, tmp_path / "again")
    assert (made.variables, made.size_bytes, made.damages) == (1, 160_000, [])
    with pmemcpy.open(tmp_path / "again", "r") as again:
        assert again["u"][0] == 0.0 and again["u"][-1] == 19_999.0
        assert again["u"].attrs["units"] == "K"
