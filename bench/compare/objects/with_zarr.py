"""Zarr 3.1, by Python, at the same work, with the arguments and the line of JSON of compare_objects_<library>.

A group in a directory store with an array per object, as a zarr user keeps many results; `zarr-consolidated` collects
the arrays' metadata in one file when all are stored, and opens by it. Every run is a process of its own, and only what
the library does is timed, not the start of Python.
"""

import argparse
import json
import random
import resource
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import zarr

VARIANTS = [
    {
        "name": "zarr",
        "what": "an array per object in a directory store",
        "most_processes": 1,  # as this program does it; a store of Zarr's may have many
        "most_readers": 1,
        "enough_objects": 2000,
    },
    {
        "name": "zarr-consolidated",
        "what": "the same with consolidated metadata",
        "most_processes": 1,
        "most_readers": 1,
        "enough_objects": 2000,
    },
]
WORKS = ["store", "load", "open", "list", "remove"]


class Unsupported(Exception):
    pass


def name_of(seed: int, number: int) -> str:
    return f"object-{seed % 10_000:04d}-{number:012d}"


class Values:
    """What belongs under each name: random bytes from the seed, the object's number in the first and the last 8."""

    def __init__(self, seed: int, size: int) -> None:
        self.bytes = np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)

    def of(self, number: int) -> np.ndarray:
        stamp = np.frombuffer(number.to_bytes(8, "little"), dtype=np.uint8)
        self.bytes[:8] = stamp
        self.bytes[-8:] = stamp
        return self.bytes


def open_group(path: str, variant: str) -> zarr.Group:
    """As open_consolidated has it: "a single key contains all of the metadata for everything"."""
    return zarr.open_consolidated(path, mode="r") if variant == "zarr-consolidated" else zarr.open_group(path, mode="r")


def store(task: argparse.Namespace, numbers: list[int]) -> None:
    values = Values(task.seed, task.size)
    group = zarr.open_group(task.path, mode="a")
    for number in numbers:
        # One chunk, because the object is read and written as one; random bytes do not compress.
        data = values.of(number)
        group.create_array(name_of(task.seed, number), data=data, chunks=data.shape, compressors=None)
    if task.variant == "zarr-consolidated":
        zarr.consolidate_metadata(task.path)


def load(task: argparse.Namespace, numbers: list[int]) -> bool:
    values = Values(task.seed, task.size)
    group = open_group(task.path, task.variant)
    return all(np.array_equal(group[name_of(task.seed, number)][:], values.of(number)) for number in numbers)


def list_names(task: argparse.Namespace) -> int:
    return sum(1 for name in open_group(task.path, task.variant) if name)


def timed(task: argparse.Namespace, work: Callable[[], object]) -> tuple[float, int, object]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    start = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, result


def run(task: argparse.Namespace) -> dict[str, object]:
    if task.processes != 1:
        raise Unsupported("this program is one process")
    if task.work not in ("store", "remove") and not Path(task.path).exists():
        raise FileNotFoundError(f"nothing is at {task.path}")
    numbers = list(range(task.count))
    random.Random(task.seed).shuffle(numbers)
    seconds, faults, operations, verified = 0.0, 0, 1, True
    if task.work == "store":
        operations = task.count
        seconds, faults, _ = timed(task, lambda: store(task, numbers))
        verified = load(task, numbers[:1000])
    elif task.work == "load":
        operations = task.count
        seconds, faults, verified = timed(task, lambda: load(task, numbers))
    elif task.work == "open":
        seconds, faults, verified = timed(task, lambda: load(task, [random.SystemRandom().randrange(task.count)]))
    elif task.work == "list":
        seconds, faults, names = timed(task, lambda: list_names(task))
        verified = names == task.count
    else:
        operations = 0
        shutil.rmtree(task.path, ignore_errors=True)
    return {
        "library": "zarr",
        "variant": task.variant,
        "work": task.work,
        "size": task.size,
        "count": task.count,
        "processes": task.processes,
        "seconds": seconds,
        "per_second": operations / seconds if seconds > 0 else 0.0,
        "faults": faults,
        "verified": verified,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Times zarr with many small objects.")
    parser.add_argument("work", choices=[*WORKS, "overwrite", "erase", "variants"])
    parser.add_argument("--variant", default="zarr", choices=[variant["name"] for variant in VARIANTS])
    parser.add_argument("--path")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    task = parser.parse_args()
    if task.work == "variants":
        print(json.dumps(VARIANTS))
        return 0
    if task.path is None:
        parser.error("--path is needed")
    if task.size < 16:
        parser.error("an object has at least 16 bytes")
    try:
        if task.work not in WORKS:
            raise Unsupported(f"{task.work} is not measured with zarr")
        result = run(task)
    except Unsupported as reason:
        print(json.dumps({"unsupported": str(reason)}))
        return 0
    except Exception as error:  # whatever zarr throws is its message
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(json.dumps(result))
    return 0 if result["verified"] else 1


if __name__ == "__main__":
    sys.exit(main())
