"""Ten tasks by Zarr. docs/coming-from/zarr.md quotes them by their tags, test_tasks.py runs them."""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from fields import rounded, u, v

SWITCH = (Path, "symlink_to")


def prepare() -> None:
    root = zarr.open_group("run-1.zarr", mode="w")
    root.create_array("u", data=u)
    root.create_array("v", data=v)
    Path("run.zarr").symlink_to("run-1.zarr")


def held(name: str) -> Any:
    return zarr.open_group("run.zarr", mode="r")[name][...]


def store() -> None:
    # [store]
    root = zarr.open_group("run.zarr", mode="w")
    root.create_array("u", data=u)
    # [/store]


def read_a_part() -> Any:
    # [read]
    root = zarr.open_group("run.zarr", mode="r")
    part = root["u"][10:20, ::2]
    # [/read]
    return part


def write_a_part() -> None:
    # [write]
    root = zarr.open_group("run.zarr", mode="r+")
    root["u"][10:20, ::2] = 0
    # [/write]


def append() -> None:
    # [append]
    root = zarr.open_group("run.zarr")
    series = root.create_array("series", shape=(0, 200), dtype="f8", chunks=(10, 200))
    for row in u[:20]:
        series.append(row[np.newaxis])
    # [/append]


def attributes() -> Any:
    # [attributes]
    root = zarr.open_group("run.zarr")
    root["u"].attrs["units"] = "m/s"
    root["u"].attrs["origin"] = [52.5, 13.4]
    attributes = dict(root["u"].attrs)
    # [/attributes]
    return attributes


def groups() -> list[str]:
    # [groups]
    root = zarr.open_group("run.zarr")
    root.create_array("fields/wind/east", data=u)
    root.create_array("fields/wind/north", data=v)
    names = sorted(root["fields/wind"])
    for name, _ in root.members(max_depth=None):
        print(name)
    # [/groups]
    return names


def compress() -> tuple[Any, int]:
    # [compress]
    root = zarr.open_group("run.zarr")
    codec = zarr.codecs.BloscCodec(cname="zstd", clevel=5, shuffle="shuffle")
    root.create_array("packed", data=rounded, compressors=codec)
    packed = root["packed"][...]
    size = root["packed"].nbytes_stored()
    # [/compress]
    return packed, size


# [processes]
def store_a_part(rank):
    root = zarr.open_group("run.zarr", mode="r+")
    root["u"][rank] = np.full(1000, float(rank))


# [/processes]
def several_processes_write() -> Any:
    # [processes]
    root = zarr.open_group("run.zarr", mode="w")
    root.create_array("u", shape=(4, 1000), dtype="f8", chunks=(1, 1000))  # one each
    with ProcessPoolExecutor(4) as processes:
        list(processes.map(store_a_part, range(4)))
    # [/processes]
    return held("u")


# [follow]
def simulate():
    root = zarr.open_group("run.zarr")
    series = root.create_array("series", shape=(0, 100), dtype="f8", chunks=(1, 100))
    for step in range(20):
        series.append(np.full((1, 100), float(step)))
        series.attrs["complete"] = step + 1  # its length grows before its chunks are there


# [/follow]
def follow() -> Any:
    zarr.open_group("run.zarr", mode="w")
    with ProcessPoolExecutor(1) as processes:
        running = processes.submit(simulate)
        # [follow]
        while True:
            series = zarr.open_group("run.zarr", mode="r").get("series")
            if series is not None and series.attrs.get("complete") == 20:
                break
            time.sleep(0.01)
        last = series[-1]
        # [/follow]
        running.result()
    return last


def replace() -> None:
    # [replace]
    root = zarr.open_group("run-2.zarr", mode="w")
    root.create_array("u", data=u + 1)
    root.create_array("v", data=v + 1)
    for path in filter(Path.is_file, Path("run-2.zarr").rglob("*")):
        with path.open() as file:
            os.fsync(file.fileno())
    Path("next").symlink_to("run-2.zarr")
    Path("next").replace("run.zarr")  # a link too, to run-1.zarr until now
    # [/replace]
