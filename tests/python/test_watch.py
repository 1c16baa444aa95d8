"""A reader follows what another process stores: it wakes for each new version, and for nothing else."""

import multiprocessing
import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pmemcpy
import pytest

FORK = multiprocessing.get_context("fork")
SPAWN = multiprocessing.get_context("spawn")


def simulate(path: str, steps: int) -> None:
    with pmemcpy.open(path, "r+") as pool:
        for n in range(1, steps + 1):
            while pool.load("seen") != n - 1:  # the reader says so
                time.sleep(0.001)
            with pool.step(n):
                pool["u"] = np.full(1000, float(n))
                pool["other"] = n


def test_a_reader_follows_a_running_simulation(path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        pool["u"] = np.zeros(1000)
        pool["seen"] = 0
        with pmemcpy.open(path, "r") as reader:
            watch = reader.watch("u", timeout=30)
            child = SPAWN.Process(target=simulate, args=(path, 20))
            child.start()
            seen = []
            for u in watch:
                values = u[...]
                assert (values == values[0]).all()
                seen.append(int(values[0]))
                pool["seen"] = seen[-1]
                if seen[-1] == 20:
                    break
            child.join()
            assert child.exitcode == 0
            assert seen == list(range(1, 21))


def test_tells_that_something_came_or_went(pool: pmemcpy.Pool) -> None:
    watch = pool.watch("g/v", timeout=0)
    assert list(watch) == []
    pool["g/v"] = 1
    assert [found.value for found in watch] == [1]
    pool["g/v"] = 2
    pool["g/v"] = 3
    assert [found.value for found in watch] == [3]
    del pool["g/v"]
    assert list(watch) == [None]
    assert list(watch) == []
    with pytest.raises(ValueError, match="makes no sense"):
        pool.watch("v", timeout=-1)


def in_a_child(watch: pmemcpy.Watch, told: Any) -> None:
    try:
        next(watch)
    except pmemcpy.BusyError as error:
        told.put(str(error))


def test_a_forked_child_cannot_wait_by_its_parents_watch(pool: pmemcpy.Pool) -> None:
    watch = pool.watch("v", timeout=10)
    told = FORK.Queue()
    child = FORK.Process(target=in_a_child, args=(watch, told))
    child.start()
    assert "open it again here" in told.get(timeout=30)
    child.join()
    assert child.exitcode == 0
    pool["v"] = 1
    assert next(watch).value == 1


def test_other_threads_run_while_one_waits_and_a_signal_ends_it(pool: pmemcpy.Pool) -> None:
    pool["v"] = 0
    ran = threading.Event()

    def interrupt() -> None:
        time.sleep(0.2)
        ran.set()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        next(pool.watch("v", timeout=60))
    assert ran.is_set()
    assert time.monotonic() - began < 30
