"""Ten tasks by netCDF4. docs/coming-from/netcdf4.md quotes them by their tags, test_tasks.py runs them."""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
from fields import rounded, u, v

SWITCH = (Path, "replace")


def prepare() -> None:
    store()
    with netCDF4.Dataset("run.nc", "r+") as file:
        file.createVariable("v", "f8", ("y", "x"))[:] = v


def held(name: str) -> Any:
    with netCDF4.Dataset("run.nc") as file:
        return file[name][...]


def store() -> None:
    # [store]
    with netCDF4.Dataset("run.nc", "w") as file:
        file.createDimension("y", 100)
        file.createDimension("x", 200)
        file.createVariable("u", "f8", ("y", "x"))[:] = u
    # [/store]


def read_a_part() -> Any:
    # [read]
    with netCDF4.Dataset("run.nc") as file:
        part = file["u"][10:20, ::2]
    # [/read]
    assert isinstance(part, np.ma.MaskedArray)  # of which the page warns
    return part


def write_a_part() -> None:
    # [write]
    with netCDF4.Dataset("run.nc", "r+") as file:
        file["u"][10:20, ::2] = 0
    # [/write]


def append() -> None:
    # [append]
    with netCDF4.Dataset("run.nc", "r+") as file:
        file.createDimension("time", None)
        series = file.createVariable("series", "f8", ("time", "x"))
        for row in u[:20]:
            series[len(series)] = row
    # [/append]


def attributes() -> Any:
    # [attributes]
    with netCDF4.Dataset("run.nc", "r+") as file:
        file["u"].units = "m/s"
        file["u"].origin = [52.5, 13.4]
        attributes = {name: file["u"].getncattr(name) for name in file["u"].ncattrs()}
    # [/attributes]
    return attributes


def groups() -> list[str]:
    # [groups]
    with netCDF4.Dataset("run.nc", "r+") as file:
        wind = file.createGroup("fields/wind")
        wind.createVariable("east", "f8", ("y", "x"))[:] = u
        wind.createVariable("north", "f8", ("y", "x"))[:] = v
        names = list(file["fields/wind"].variables)
        print(file["fields/wind"])
    # [/groups]
    return names


def compress() -> tuple[Any, int]:
    before_bytes = Path("run.nc").stat().st_size
    # [compress]
    with netCDF4.Dataset("run.nc", "r+") as file:
        packed = file.createVariable("packed", "f8", ("y", "x"), compression="zlib")
        packed[:] = rounded
    # [/compress]
    return held("packed"), Path("run.nc").stat().st_size - before_bytes


# [processes]
def store_a_part(rank):
    with netCDF4.Dataset(f"run.{rank}.nc", "w", format="NETCDF4_CLASSIC") as file:
        file.createDimension("rank", None)
        file.createDimension("x", 1000)
        file.createVariable("u", "f8", ("rank", "x"))[0] = np.full(1000, float(rank))


# [/processes]
def several_processes_write() -> Any:
    # [processes]
    with ProcessPoolExecutor(4) as processes:
        list(processes.map(store_a_part, range(4)))
    with netCDF4.MFDataset("run.*.nc") as files:
        whole = files.variables["u"][:]
    # [/processes]
    return whole


# [follow]
def simulate():
    for step in range(20):
        with netCDF4.Dataset("unfinished.nc", "w") as file:
            file.createDimension("x", 100)
            file.createVariable("row", "f8", ("x",))[:] = np.full(100, float(step))
        Path("unfinished.nc").replace(f"step-{step:04}.nc")


# [/follow]
def follow() -> Any:
    with ProcessPoolExecutor(1) as processes:
        running = processes.submit(simulate)
        # [follow]
        while len(files := sorted(Path().glob("step-*.nc"))) < 20:
            time.sleep(0.01)
        with netCDF4.Dataset(files[-1]) as file:
            last = file["row"][:]
        # [/follow]
        running.result()
    return last


def replace() -> None:
    # [replace]
    with netCDF4.Dataset("next.nc", "w") as file:
        file.createDimension("y", 100)
        file.createDimension("x", 200)
        file.createVariable("u", "f8", ("y", "x"))[:] = u + 1
        file.createVariable("v", "f8", ("y", "x"))[:] = v + 1
    with Path("next.nc").open() as file:
        os.fsync(file.fileno())
    Path("next.nc").replace("run.nc")
    # [/replace]
