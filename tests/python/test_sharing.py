"""Threads, forked children and other processes use one pool at the same time."""

import multiprocessing
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
