"""Ten tasks by h5py. docs/coming-from/h5py.md quotes them by their tags, test_tasks.py runs them."""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from fields import rounded, u, v

SWITCH = (Path, "replace")


def prepare() -> None:
    with h5py.File("run.h5", "w") as file:
        file["u"] = u
        file["v"] = v


def held(name: str) -> Any:
    with h5py.File("run.h5") as file:
        return file[name][...]


def store() -> None:
    # [store]
    with h5py.File("run.h5", "w") as file:
        file["u"] = u
    # [/store]


def read_a_part() -> Any:
    # [read]
    with h5py.File("run.h5") as file:
        part = file["u"][10:20, ::2]
    # [/read]
    return part


def write_a_part() -> None:
    # [write]
    with h5py.File("run.h5", "r+") as file:
        file["u"][10:20, ::2] = 0
    # [/write]


def append() -> None:
    # [append]
    with h5py.File("run.h5", "a") as file:
        series = file.create_dataset("series", (0, 200), "f8", maxshape=(None, 200))
        for row in u[:20]:
            series.resize(len(series) + 1, axis=0)
            series[-1] = row
    # [/append]


def attributes() -> Any:
    # [attributes]
    with h5py.File("run.h5", "r+") as file:
        file["u"].attrs["units"] = "m/s"
        file["u"].attrs["origin"] = [52.5, 13.4]
        attributes = dict(file["u"].attrs)
    # [/attributes]
    return attributes


def groups() -> list[str]:
    # [groups]
    with h5py.File("run.h5", "r+") as file:
        file["fields/wind/east"] = u
        file["fields/wind/north"] = v
        names = list(file["fields/wind"])
        file.visit(print)
    # [/groups]
    return names


def compress() -> tuple[Any, int]:
    # [compress]
    with h5py.File("run.h5", "a") as file:
        file.create_dataset("packed", data=rounded, compression="gzip", shuffle=True)
        packed = file["packed"][...]
        size = file["packed"].id.get_storage_size()
    # [/compress]
    return packed, size


# [processes]
def store_a_part(rank):
    with h5py.File(f"run.{rank}.h5", "w") as file:
        file["u"] = np.full(1000, float(rank))


# [/processes]
def several_processes_write() -> Any:
    # [processes]
    with ProcessPoolExecutor(4) as processes:
        list(processes.map(store_a_part, range(4)))
    layout = h5py.VirtualLayout((4, 1000), "f8")
    for rank in range(4):
        layout[rank] = h5py.VirtualSource(f"run.{rank}.h5", "u", (1000,))
    with h5py.File("run.h5", "w") as file:
        file.create_virtual_dataset("u", layout)
    # [/processes]
    return held("u")


# [follow]
def simulate():
    with h5py.File("run.h5", "w", libver="latest") as file:
        series = file.create_dataset("series", (0, 100), "f8", maxshape=(None, 100))
        file.swmr_mode = True  # from here on others may open it
        for step in range(20):
            series.resize(step + 1, axis=0)
            series[step] = np.full(100, float(step))
            series.flush()


# [/follow]
def follow() -> Any:
    with ProcessPoolExecutor(1) as processes:
        running = processes.submit(simulate)
        # [follow]
        while True:
            try:
                file = h5py.File("run.h5", "r", swmr=True)
                break
            except OSError:  # not there, or not yet in that mode
                time.sleep(0.01)
        series = file["series"]
        while len(series) < 20:
            time.sleep(0.01)
            series.refresh()
        last = series[-1]
        file.close()
        # [/follow]
        running.result()
    return last


def replace() -> None:
    # [replace]
    with h5py.File("next.h5", "w") as file:
        file["u"] = u + 1
        file["v"] = v + 1
    with Path("next.h5").open() as file:
        os.fsync(file.fileno())
    Path("next.h5").replace("run.h5")
    # [/replace]
