"""Ten tasks by pMEMCPY. The pages in docs/coming-from quote them by their tags, test_tasks.py runs them."""

from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pmemcpy
from fields import rounded, u, v

SWITCH = (pmemcpy.Pool, "commit")


def prepare() -> None:
    with pmemcpy.open("run.pmem", "w") as pool:
        pool["u"] = u
        pool["v"] = v


def held(name: str) -> Any:
    with pmemcpy.open("run.pmem", "a") as pool:  # after a kill the first to come has to be one that may write
        return pool[name][...]


def store() -> None:
    # [store]
    with pmemcpy.open("run.pmem", "w") as pool:
        pool["u"] = u
    # [/store]


def read_a_part() -> Any:
    # [read]
    with pmemcpy.open("run.pmem", "r") as pool:
        part = pool["u"][10:20, ::2]
        view = pool["u"].view()[10:20, ::2]  # not copied; later stores do not change it
    # [/read]
    np.testing.assert_array_equal(part, view)
    assert part.flags.owndata and not view.flags.owndata
    return view


def write_a_part() -> None:
    # [write]
    with pmemcpy.open("run.pmem", "r+") as pool:
        pool["u"][10:20, ::2] = 0
    # [/write]


def append() -> None:
    # [append]
    with pmemcpy.open("run.pmem", "a") as pool:
        series = pool.create("series", (None, 200), "f8")
        for row in u[:20]:
            series.append(row)
    # [/append]


def attributes() -> Any:
    # [attributes]
    with pmemcpy.open("run.pmem", "a") as pool:
        pool["u"].attrs["units"] = "m/s"
        pool["u"].attrs["origin"] = [52.5, 13.4]
        attributes = dict(pool["u"].attrs)
    # [/attributes]
    return attributes


def groups() -> list[str]:
    # [groups]
    with pmemcpy.open("run.pmem", "a") as pool:
        pool["fields/wind/east"] = u
        pool["fields/wind/north"] = v
        names = list(pool["fields/wind"])
        print(pool.tree())
    # [/groups]
    return names


def compress() -> tuple[Any, int]:
    # [compress]
    with pmemcpy.open("run.pmem", "a") as pool:
        pool.store("packed", rounded, codec="zstd:5:shuffle")
        packed = pool["packed"][...]
        size = pool["packed"].info.stored_bytes
    # [/compress]
    return packed, size


# [processes]
def store_a_part(rank):
    with pmemcpy.open("run.pmem", "r+") as pool:
        pool["u"][rank] = np.full(1000, float(rank))


# [/processes]
def several_processes_write() -> Any:
    # [processes]
    with pmemcpy.open("run.pmem", "w") as pool:
        pool.create("u", (4, 1000))
    with ProcessPoolExecutor(4) as processes:
        list(processes.map(store_a_part, range(4)))
    # [/processes]
    return held("u")


# [follow]
def simulate():
    with pmemcpy.open("run.pmem", "a") as pool:
        series = pool.create("series", (None, 100))
        for step in range(20):
            series.append(np.full(100, float(step)))


# [/follow]
def follow() -> Any:
    pmemcpy.open("run.pmem", "a").close()
    with ProcessPoolExecutor(1) as processes:
        running = processes.submit(simulate)
        # [follow]
        with pmemcpy.open("run.pmem", "r") as pool:
            news = pool.watch("series")  # nothing that comes after this line is missed
            series = pool.get("series")
            while series is None or len(series) < 20:
                series = next(news)  # asleep until something is stored
            last = series[-1]
        # [/follow]
        running.result()
    return last


def replace() -> None:
    # [replace]
    with pmemcpy.open("run.pmem", "a") as pool, pool.step(1):
        pool["u"] = u + 1
        pool["v"] = v + 1
    # [/replace]
