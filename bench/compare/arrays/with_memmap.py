"""numpy.memmap at the same work, with the arguments and the line of JSON of compare_arrays_<library>.

A file with all arrays of all steps one after the other, as somebody does who needs no library: one process, no names in
the file. Every run is a process of its own, and only what is done with the file is timed, not the start of Python.
"""

import argparse
import json
import math
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

VARIANTS = [{"name": "memmap", "what": "numpy.memmap: one file of plain doubles", "most_processes": 1}]
PATTERNS = ["domain", "rows", "strided", "across"]
PLANES = 16
PANELS = 8

Selection = tuple[slice, ...]
# The paper does not say what its memory's own latency is; as in emulated.cpp.
MEMORY_LATENCY = 90e-9
PMEM = {"read": (300e-9, 30.0), "write": (125e-9, 8.0)}


class Unsupported(Exception):
    pass


def near_cube(gib: float, arrays: int) -> tuple[int, int, int]:
    """As domain3d::near_cube of bench/apps/decomposition.cpp."""
    elements = gib * 2**30 / 8 / arrays
    side = max(round(math.cbrt(elements)), 1)
    return max(round(elements / (side * side)), 1), side, side


def make_pattern(task: argparse.Namespace) -> tuple[tuple[int, int, int], list[Selection], list[Selection]]:
    """The shape of each array, and what the process writes and reads of it; as pattern.cpp has it for one rank."""
    whole = (slice(None),) * 3
    if task.pattern == "rows":
        width = max(task.row_bytes // 8, 1)
        side = max(1, int(math.sqrt(task.bytes / 8 / task.arrays / (width * PANELS))))
        panels = [(slice(None), slice(None), slice(n * width, (n + 1) * width)) for n in range(PANELS)]
        return (side, side, width * PANELS), [whole], panels
    shape = near_cube(task.bytes / 2**30 / task.steps, task.arrays)
    if task.pattern == "strided":
        return shape, [whole], [(slice(None, None, 2),) * 3]
    if task.pattern == "across":
        at = [p * shape[2] // PLANES for p in range(PLANES)]
        return shape, [whole], [(slice(None), slice(None), slice(k, k + 1)) for k in at]
    return shape, [whole], [whole]


def values(array: int, step: int, shape: tuple[int, int, int], where: Selection) -> np.ndarray:
    """As values.cpp: they tell their array, step and place."""
    index = np.arange(math.prod(shape), dtype=np.float64).reshape(shape)[where]
    return index + float((step % 64 << 46) + (array % 64 << 40))


class Job:
    def __init__(self, task: argparse.Namespace) -> None:
        self.task = task
        self.shape, self.written, self.read = make_pattern(task)
        self.seconds = 0.0
        self.faults = 0
        self.file: np.memmap | None = None

    def pieces(self) -> list[Selection]:
        return self.written if self.task.work == "write" else self.read

    def count(self, work: Callable[[], None]) -> None:
        """Adds up what counts, as the Clock of run.cpp."""
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        begin = time.perf_counter()
        work()
        self.seconds += time.perf_counter() - begin
        self.faults += resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults

    def open(self, mode: str | None = None) -> None:
        if mode is None:
            mode = "r" if self.task.work == "read" else "w+" if self.task.access == "create" else "r+"
        shape = (self.task.steps, self.task.arrays, *self.shape)
        self.file = np.memmap(self.task.path, dtype=np.float64, mode=mode, shape=shape)

    def close(self) -> None:
        # The last reference ends the mapping; a sync, which flush() would be, is not asked of any contender.
        self.file = None

    def make_memory(self) -> list[list[np.ndarray]]:
        shape_of = np.empty(self.shape, dtype=np.uint8)
        return [[np.ones(shape_of[where].shape) for where in self.pieces()] for _ in range(self.task.arrays)]

    def emulate(self, data: np.ndarray) -> None:
        """What the paper's persistent memory takes longer; as emulated.cpp."""
        if self.task.emulate_pmem <= 0:
            return
        latency, gbs = PMEM[self.task.work]
        longer = max(0.0, 1 / gbs - 1 / self.task.emulate_pmem) * 1e-9
        end = time.perf_counter() + latency - MEMORY_LATENCY + data.nbytes * longer
        while time.perf_counter() < end:
            pass

    def step(self, step: int, memory: list[list[np.ndarray]]) -> None:
        for array, parts in enumerate(memory):
            for where, data in zip(self.pieces(), parts, strict=True):
                if self.task.work == "write":
                    self.file[step, array][where] = data
                else:
                    data[...] = self.file[step, array][where]
                self.emulate(data)

    def all_steps(self, memory: list[list[np.ndarray]], verifies: bool) -> None:
        for step in range(self.task.steps):
            if self.task.work == "write":
                for array, parts in enumerate(memory):
                    for where, data in zip(self.pieces(), parts, strict=True):
                        data[...] = values(array, step, self.shape, where)
            self.count(lambda step=step: self.step(step, memory))
            if self.task.work == "read" and verifies:
                verify(step, memory, self.shape, self.pieces())

    def verify_written(self) -> None:
        self.open("r")
        for step in range(self.task.steps):
            there = [[self.file[step, array][where] for where in self.written] for array in range(self.task.arrays)]
            verify(step, there, self.shape, self.written)
        self.close()

    def run(self) -> dict[str, object]:
        task = self.task
        if task.work == "write" and task.access == "create" and Path(task.path).exists():
            raise FileExistsError(task.path)
        memory = self.make_memory()
        taken = []
        if task.stay:
            self.open()
            self.all_steps(memory, False)
            self.seconds, self.faults = 0.0, 0
        for _ in range(task.repeat):
            if not task.stay:
                self.count(self.open)
            self.all_steps(memory, task.verify)
            if not task.stay:
                self.count(self.close)
            taken.append(self.seconds)
            self.seconds = 0.0
        self.close()
        if task.verify and task.work == "write":
            self.verify_written()
        return {
            "variant": task.variant,
            "pattern": task.pattern,
            "ranks": 1,
            "seconds": taken,
            "bytes": sum(data.nbytes for parts in memory for data in parts) * task.steps,
            "calls": sum(len(parts) for parts in memory) * task.steps,
            "page_faults": self.faults,
            "verified": task.verify,
        }


def verify(step: int, memory: list[list[np.ndarray]], shape: tuple[int, int, int], pieces: list[Selection]) -> None:
    for array, parts in enumerate(memory):
        for where, data in zip(pieces, parts, strict=True):
            right = np.ascontiguousarray(values(array, step, shape, where)).view(np.uint64)
            if not np.array_equal(np.ascontiguousarray(data).view(np.uint64), right):
                raise RuntimeError(f"what was read is wrong: v{array} in step {step}")


def main() -> int:
    parser = argparse.ArgumentParser(description="numpy.memmap at one pattern of arrays.")
    parser.add_argument("work", choices=["write", "read", "prepare", "variants"])
    parser.add_argument("--pattern")
    parser.add_argument("--variant", choices=["memmap"], default="memmap")
    parser.add_argument("--path")
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--arrays", type=int, default=10)
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--row-bytes", type=int, default=4096)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--access", choices=["create", "overwrite"], default="create")
    parser.add_argument("--stay", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--emulate-pmem", type=float, default=0)
    task = parser.parse_args()
    if task.work == "variants":
        print(json.dumps(VARIANTS))
        return 0
    if task.path is None or task.pattern is None:
        parser.error("--path and --pattern are needed")
    try:
        if task.pattern not in PATTERNS:
            raise Unsupported(f"{task.pattern} is not measured with numpy.memmap")
        result = {} if task.work == "prepare" else Job(task).run()
    except Unsupported as reason:
        result = {"variant": task.variant, "pattern": task.pattern, "unsupported": str(reason)}
    except Exception as error:  # whatever numpy throws is its message
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
