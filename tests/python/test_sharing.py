"""Threads, forked children and other processes use one pool at the same time."""

import multiprocessing
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pmemcpy
import pytest

SPAWN = multiprocessing.get_context("spawn")
FORK = multiprocessing.get_context("fork")


def test_a_view_stays_as_it_is(path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        pool["u"] = np.arange(1000)
        view = pool["u"].view()
        part = view[10:20]
        pool["u"] = np.zeros(1000, int)
        del pool["u"]
        pool["v"] = np.ones(1000, int)
        assert view[999] == 999
    del view
    assert part.tolist() == list(range(10, 20))
    with pytest.raises(ValueError, match="read-only"):
        part[0] = 1


def test_blocks_have_a_view_each(path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        array = pool.create("u", (4, 6))
        for i in range(4):
            array[i] = np.arange(6) + 10 * i
        with pytest.raises(pmemcpy.UnsupportedError, match="blocks"):
            array.view()
        blocks = sorted(array.blocks(), key=lambda block: block.key[0].start)
        assert [block.shape for block in blocks] == [(1, 6)] * 4
        for i, block in enumerate(blocks):
            assert block.minimum == 10 * i
            assert block.maximum == 10 * i + 5
            np.testing.assert_array_equal(block.view(), array[block.key])
            np.testing.assert_array_equal(block.load(), array[i : i + 1])


def test_an_update_is_seen_by_others_and_frozen(path: str) -> None:
    with pmemcpy.open(path, "a") as pool, pmemcpy.open(path, "r+") as other:
        array = pool.create("u", (3, 4), contiguous=True)
        memory = array.update()
        memory[...] = np.arange(12).reshape(3, 4)
        assert other["u"].view()[2, 3] == 11
        other["u"].update(1)[:] = 7
        assert memory[1].tolist() == [7] * 4
        array.freeze()
        with pytest.raises(ValueError, match="frozen"):
            array.update()
        pool["plain"] = np.zeros(3)
        with pytest.raises(ValueError, match="contiguous"):
            pool["plain"].update()


def test_dlpack_and_the_buffer_protocol(path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        pool["u"] = np.arange(6.0).reshape(2, 3)
        view = pool["u"].view()
        assert memoryview(view).readonly
        assert memoryview(view).tolist() == [[0, 1, 2], [3, 4, 5]]
        if not np.__version__.startswith("1."):  # which lends no read-only array this way
            np.testing.assert_array_equal(np.from_dlpack(view), view)


def test_threads_store_and_load_at_once(path: str) -> None:
    with pmemcpy.open(path, "a", max_bytes=1 << 28) as pool:
        array = pool.create("u", (8, 50_000))

        def work(row: int) -> bool:
            for turn in range(20):
                array[row] = row * 100 + turn
                if not (array[row] == row * 100 + turn).all():
                    return False
                pool[f"n{row}"] = turn
            return True

        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(work, range(8)))
        assert [pool[f"n{row}"].value for row in range(8)] == [19] * 8


def test_closing_waits_for_other_threads(path: str) -> None:
    pool = pmemcpy.open(path, "a", max_bytes=1 << 28)
    pool["u"] = np.zeros(1_000_000)
    array = pool["u"]
    errors: list[Exception] = []
    began = threading.Event()

    def work() -> None:
        try:
            while True:
                array[...] = array[...] + 1
                began.set()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    began.wait()
    pool.close()
    for thread in threads:
        thread.join()
    assert [type(error) for error in errors] == [pmemcpy.InvalidArgumentError] * 4
    with pmemcpy.open(path, "a") as again:
        assert again.verify() == []


def store_row(array: pmemcpy.Array, row: int) -> None:
    array[row] = row


def test_processes_that_are_spawned_get_handles(path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        array = pool.create("u", (3, 100))
        children = [SPAWN.Process(target=store_row, args=(array, row)) for row in range(3)]
        for child in children:
            child.start()
        for child in children:
            child.join()
        assert [child.exitcode for child in children] == [0] * 3
        assert array[:, 50].tolist() == [0, 1, 2]


def in_a_child(pool: pmemcpy.Pool, path: str, told: Any) -> None:
    try:
        pool["u"][...]
    except pmemcpy.BusyError as error:
        told.put(str(error))
    with pmemcpy.open(path, "a") as own:
        own["from child"] = 1


def test_a_forked_child_opens_its_own(path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        pool["u"] = np.arange(3)
        told = FORK.Queue()
        child = FORK.Process(target=in_a_child, args=(pool, path, told))
        child.start()
        assert "open it again here" in told.get(timeout=30)
        child.join()
        assert child.exitcode == 0
        assert pool["from child"].value == 1
        assert pool["u"][2] == 2


def summed(view: np.ndarray[Any, Any], first: int) -> float:
    return float(view[first : first + 100].sum())


VIEWS: dict[str, np.ndarray[Any, Any]] = {}


def summed_of_parent(first: int) -> float:
    return summed(VIEWS["v"], first)


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_forked_workers_read_a_view_of_their_parent(path: str, mode: str) -> None:
    """It was a SIGSEGV, and a multiprocessing.Pool never came back."""
    with pmemcpy.open(path, "x") as pool:
        pool["v"] = np.arange(1000.0)
    with pmemcpy.open(path, mode) as pool:
        VIEWS["v"] = pool["v"].view()
        with FORK.Pool(2) as workers:
            sums = workers.map_async(summed_of_parent, range(0, 1000, 100)).get(timeout=60)
        assert sum(sums) == np.arange(1000.0).sum()
        with FORK.Pool(1) as workers:
            got = workers.map_async(load_of_parent, [pool]).get(timeout=60)
        assert got == [499500.0], "what is pickled opens its own"
        with FORK.Pool(1, initializer=keep, initargs=(pool,)) as workers, pytest.raises(pmemcpy.BusyError):
            workers.map_async(load_of_kept, [1]).get(timeout=60)
        VIEWS.clear()


def load_of_parent(pool: pmemcpy.Pool) -> float:
    return float(pool["v"][...].sum())


def keep(pool: Any) -> None:
    VIEWS["pool"] = pool


def load_of_kept(_: int) -> float:
    return load_of_parent(VIEWS["pool"])  # type: ignore[arg-type]


READER = """
import sys, pmemcpy
pool = pmemcpy.open(sys.argv[1])
view = pool["u"].view()
print("has it", flush=True)
sys.stdin.read()
assert view.tolist() == [1.0, 1.0]
"""


def test_a_view_that_another_holds_is_no_unclean_end(path: str) -> None:
    """Every notebook with a view made the pool 'not closed cleanly' for readers, once a writer had overwritten that."""
    with pmemcpy.open(path, "x") as pool:
        pool["u"] = np.ones(2)
    with subprocess.Popen(
        [sys.executable, "-c", READER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "has it\n"
        with pmemcpy.open(path, "r+") as pool:
            pool["u"] = np.zeros(2)
        with pmemcpy.open(path) as pool:
            assert pool["u"][...].tolist() == [0.0, 0.0]
        reader.communicate("")
        assert reader.returncode == 0
    for mode in ("r", "r+", "r"):
        with pmemcpy.open(path, mode) as pool:
            assert pool["u"][...].tolist() == [0.0, 0.0]
            assert pool.verify() == []
