"""Zarr 3.1, by Python, at the same work, with the arguments and the line of JSON of compare_series_<library>.

An array in a directory store, a chunk for each step, made longer by append(). The reader opens it anew until it is
longer, for an array that is open does not look at its metadata again.
"""

import argparse
import json
import multiprocessing
import sys
import time
from multiprocessing.synchronize import Barrier

import numpy as np
import zarr

VARIANTS = [{"name": "zarr", "what": "an array in a directory store, a chunk for each step; the reader opens it anew"}]


def write(task: argparse.Namespace, barrier: Barrier, times: multiprocessing.Queue) -> None:
    row = np.ones((1, task.size // 8))
    shape = (0, row.shape[1])
    array = zarr.create_array(task.path, shape=shape, chunks=row.shape, dtype="float64", compressors=None)
    barrier.wait()
    barrier.wait()  # the reader has it open
    begin = time.monotonic_ns()
    for step in range(task.count):
        row[0, 1] = row[0, -1] = step
        row[0, 0] = time.monotonic_ns()
        array.append(row)
        if task.pause_us:
            time.sleep(task.pause_us * 1e-6)
    times.put((begin, time.monotonic_ns()))


def read(task: argparse.Namespace, barrier: Barrier) -> tuple[int, list[int]]:
    """When it had the last one, and how long each was under way that was there when Zarr said so."""
    barrier.wait()
    array = zarr.open_array(task.path, mode="r")
    barrier.wait()
    delays = []
    for step in range(task.count):
        while array.shape[0] <= step:
            time.sleep(50e-6)
            array = zarr.open_array(task.path, mode="r")
        row = array[step]
        now = time.monotonic_ns()
        if row[0] > 0 and row[1] == step and row[-1] == step and np.all(row[2:-1:256] == 1):
            delays.append(now - int(row[0]))
    return time.monotonic_ns(), sorted(delays)


def follow(task: argparse.Namespace) -> dict:
    context = multiprocessing.get_context("fork")
    barrier, times = context.Barrier(2), context.Queue()
    writer = context.Process(target=write, args=(task, barrier, times))
    writer.start()
    end, delays = read(task, barrier)
    begin, written = times.get()
    writer.join()
    last = len(delays) - 1
    return {
        "seconds": (written - begin) * 1e-9,
        "followed_seconds": (end - begin) * 1e-9,
        "delay_seconds": [delays[int(part * last)] * 1e-9 if delays else 0 for part in (0.5, 0.9, 1)],
        "not_there": task.count - len(delays),
    }


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("work", choices=["follow", "variants"])
    parser.add_argument("--path")
    parser.add_argument("--size", type=int, default=65536)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--pause-us", type=int, default=0)
    task = parser.parse_args()
    if task.work == "variants":
        print(json.dumps(VARIANTS))
        return 0
    print(json.dumps(follow(task)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
