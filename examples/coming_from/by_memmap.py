"""Ten tasks by numpy.memmap. docs/coming-from/memmap.md quotes them by their tags, test_tasks.py runs them."""

import json
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from fields import rounded, u, v

SWITCH = (Path, "symlink_to")


def prepare() -> None:
    Path("run-1").mkdir()
    u.tofile("run-1/u")
    v.tofile("run-1/v")
    Path("run").symlink_to("run-1")


def held(name: str) -> Any:
    return np.fromfile(f"run/{name}").reshape(-1, 200)


def store() -> None:
    # [store]
    Path("run").mkdir()
    array = np.memmap("run/u", "f8", "w+", shape=(100, 200))
    array[...] = u
    # [/store]


def read_a_part() -> Any:
    # [read]
    array = np.memmap("run/u", "f8", "r", shape=(100, 200))
    part = array[10:20, ::2]  # not copied; later stores change it
    # [/read]
    return part


def write_a_part() -> None:
    # [write]
    array = np.memmap("run/u", "f8", "r+", shape=(100, 200))
    array[10:20, ::2] = 0
    # [/write]


def append() -> None:
    # [append]
    with Path("run/series").open("ab") as file:
        for row in u[:20]:
            row.tofile(file)
    # [/append]


def attributes() -> Any:
    # [attributes]
    path = Path("run/u.json")
    path.write_text(json.dumps({"units": "m/s", "origin": [52.5, 13.4]}))
    attributes = json.loads(path.read_text())
    # [/attributes]
    return attributes


def groups() -> list[str]:
    # [groups]
    Path("run/fields/wind").mkdir(parents=True)
    u.tofile("run/fields/wind/east")
    v.tofile("run/fields/wind/north")
    names = sorted(path.name for path in Path("run/fields/wind").iterdir())
    # [/groups]
    return names


def compress() -> tuple[Any, int]:
    # [compress]
    np.savez_compressed("packed.npz", packed=rounded)  # which cannot be mapped
    packed = np.load("packed.npz")["packed"]
    size = Path("packed.npz").stat().st_size
    # [/compress]
    return packed, size


# [processes]
def store_a_part(rank):
    array = np.memmap("u", "f8", "r+", shape=(4, 1000))
    array[rank] = np.full(1000, float(rank))


# [/processes]
def several_processes_write() -> Any:
    # [processes]
    whole = np.memmap("u", "f8", "w+", shape=(4, 1000))
    with ProcessPoolExecutor(4) as processes:
        list(processes.map(store_a_part, range(4)))
    # [/processes]
    return whole


# [follow]
def simulate():
    series = np.memmap("series", "f8", "r+", shape=(20, 100))
    complete = np.memmap("complete", "i8", "r+", shape=(1,))
    for step in range(20):
        series[step] = np.full(100, float(step))
        complete[0] = step + 1


# [/follow]
def follow() -> Any:
    np.memmap("series", "f8", "w+", shape=(20, 100))
    np.memmap("complete", "i8", "w+", shape=(1,))
    with ProcessPoolExecutor(1) as processes:
        running = processes.submit(simulate)
        # [follow]
        series = np.memmap("series", "f8", "r", shape=(20, 100))
        complete = np.memmap("complete", "i8", "r", shape=(1,))
        while complete[0] < 20:
            time.sleep(0.01)
        last = series[-1]
        # [/follow]
        running.result()
    return last


def replace() -> None:
    # [replace]
    Path("run-2").mkdir(exist_ok=True)
    for name, array in {"u": u + 1, "v": v + 1}.items():
        file = np.memmap(f"run-2/{name}", "f8", "w+", shape=array.shape)
        file[...] = array
        file.flush()
    Path("next").symlink_to("run-2")
    Path("next").replace("run")  # a link too, to run-1 until now
    # [/replace]
