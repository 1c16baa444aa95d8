"""The pool as a cache of what lies below it: hints, a function that says what comes up, heat, counters and advice."""

import time
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pmemcpy
import pytest

SPEEDS = "write: {{bandwidth: 1 GB/s, latency: 1 us}}, read: {{bandwidth: 1 GB/s, latency: 1 us}}"
HIERARCHY = f"""
targets:
  - {{{{name: pool, kind: tmpfs, {SPEEDS}}}}}
  - {{{{name: disk, kind: file, path: {{below}}, {SPEEDS}}}}}
mode: none
promotion: {{promotion}}
rules: [{{{{match: "**", prefer: [disk]}}}}]
"""


def wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(3000):
        if is_so():
            return
        time.sleep(0.01)
    pytest.fail("in half a minute it did not come about")


def filled(path: str, promotion: str) -> pmemcpy.Pool:
    """Four arrays of one block, below."""
    below = Path(path + ".below")
    below.mkdir()
    pool = pmemcpy.open(path, "a", max_bytes=1 << 26)
    try:
        pool.set_hierarchy(HIERARCHY.format(below=below, promotion=promotion))
    except pmemcpy.UnsupportedError as error:
        pool.close()
        pytest.skip(str(error))
    for i in range(4):
        pool[f"u/{i}"] = np.full(100_000, float(i))
    return pool


def below(pool: pmemcpy.Pool) -> list[str]:
    return sorted(each.id for each in pool.heat() if each.below_bytes > 0)


def test_hints_bring_up_and_refuse_what_makes_no_sense(path: str) -> None:
    with filled(path, "never") as pool:
        assert "promotion: never" in (pool.hierarchy or "")
        assert pool.will_need("u/1", (0,), (10,)) == 1
        assert pool.will_need("u/3") == 1 and pool.wont_need("u") == 4
        wait_until(lambda: below(pool) == ["u/0", "u/2"])
        with pytest.raises(pmemcpy.NotFoundError):
            pool.will_need("v")
        with pytest.raises(pmemcpy.InvalidArgumentError, match="an offset and a count"):
            pool.will_need("u/1", (0,))
        with pytest.raises(pmemcpy.InvalidArgumentError, match="promotion: never"):
            pool.prefetch(lambda read: [])


def test_a_function_says_what_comes_up(path: str) -> None:
    reads = []

    def next_ones(read: pmemcpy.Read) -> list[pmemcpy.Ahead]:
        reads.append(read)
        return ["u/2", ("u/3", (0,), (1,))] if read.id == "u/0" else []

    with filled(path, "on-read") as pool:
        pool.prefetch(next_ones)
        assert float(pool["u/0"][5]) == 0.0
        wait_until(lambda: below(pool) == ["u/1"])
        assert reads[0] == pmemcpy.Read("u/0", (0,), (100_000,), False)
        counters = pool.counters
        assert counters is not None and (
            counters.brought_up,
            counters.read_ahead,
            counters.misses,
        ) == (1, 2, 1)
        assert [each.id for each in pool.heat() if each.reads > 0.5] == ["u/0"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_function_that_raises_or_uses_the_pool_harms_nobody(path: str) -> None:
    calls = []
    pool = filled(path, "on-read")

    class Odd:
        def __call__(self, read: pmemcpy.Read) -> list[pmemcpy.Ahead]:
            calls.append(read.id)
            if read.id == "u/0":
                pool.close()
            if read.id == "u/1":
                return [str(pool["u/2"][0])]
            return [("u/3",)]  # type: ignore[list-item]

    pool.prefetch(Odd())
    for i in range(3):
        assert float(pool[f"u/{i}"][5]) == float(i)
    wait_until(lambda: len(calls) == 3 and below(pool) == ["u/3"])
    assert pool  # it was not closed
    pool.close()


def test_a_function_is_forgotten_when_another_takes_its_place_or_the_pool_is_closed(
    path: str,
) -> None:
    class Says:
        def __call__(self, read: pmemcpy.Read) -> list[pmemcpy.Ahead]:
            return []

    with filled(path, "on-read") as pool:
        says, other = Says(), Says()
        gone, other_gone = weakref.ref(says), weakref.ref(other)
        pool.prefetch(says)
        pool.prefetch(other)
        del says, other
        assert float(pool["u/0"][5]) == 0.0
        wait_until(lambda: gone() is None)
        assert other_gone() is not None
    wait_until(lambda: other_gone() is None)


def test_advice_comes_with_reasons(path: str) -> None:
    with filled(path, "never") as pool:
        assert pool.advise().proposals == [] and "0 blocks were read" in pool.advise().unknown[0]
        for _ in range(5):
            for i in range(4):
                assert float(pool[f"u/{i}"][5]) == float(i)
        advice = pool.advise()
        assert ("promotion", "never", "read-ahead") in [(p.key, p.now, p.proposed) for p in advice.proposals]
        assert "20 of 20 blocks" in " ".join(p.reason for p in advice.proposals)
        pool.set_hierarchy(advice.hierarchy)
        assert "promotion: read-ahead" in (pool.hierarchy or "")
        for i in range(4):
            assert pool.move(f"u/{i}", "pool") == 800_000
        pool.set_hierarchy(None)
        assert pool.hierarchy is None and pool.counters is None and pool.heat() == []
