"""The measurements of many small objects: which runs there are, in which order, and what comes of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import programs
from machine import bring_memory
from programs import Contender

SIZES = (64, 256, 4096, 64 << 10, 1 << 20, 4 << 20)
MOST_OBJECTS = 50_000
FEWEST_OBJECTS = 16
NAMES = (100, 10_000, 1_000_000)
NAMES_SIZE = 64
OPENINGS = 3  # of each kind in a repetition

# What is done to the objects, in this order, by fresh processes that have them open when the clock starts.
WORKS = {
    "store": "under names that are not there",
    "load": "by processes that have not stored it",
    "overwrite": "by as many other bytes",
    "erase": "all of them",
}
# What is done to many names: timed with opening and closing, in a fresh process.
LOOKS = {
    "open": "open, load one object, close",
    "list": "open, look at every name, close",
}


@dataclass(frozen=True)
class Load:
    """So many objects of one size, shared out among processes."""

    section: str  # objects or names
    size: int
    count: int
    processes: int

    @property
    def title(self) -> str:
        return f"{self.section}, {self.count} of {self.size} B, {self.processes} processes"


def objects(budget: int, processes: list[int]) -> list[Load]:
    """As many objects of each size as `budget` bytes hold."""
    return [
        Load("objects", size, max(FEWEST_OBJECTS, min(MOST_OBJECTS, budget // size)), n)
        for size in SIZES
        for n in processes
    ]


def names(most: int) -> list[Load]:
    return [Load("names", NAMES_SIZE, count, 1) for count in NAMES if count <= most]


def processes_up_to(cores: int) -> list[int]:
    return [n for n in (1, 2, 4, 8) if n <= max(cores, 1)]


class Cycle:
    """Everything that happens to the objects of one contender; each run becomes an entry of `runs`."""

    def __init__(self, load: Load, contender: Contender, path: Path, limit_seconds: float, runs: list[dict]) -> None:
        self.load, self.contender, self.path, self.limit_seconds, self.runs = (
            load, contender, path, limit_seconds, runs,
        )  # fmt: skip
        self.count = load.count
        if load.section == "objects":
            self.count = min([load.count, *(n for n in (contender.enough_objects, contender.most_objects) if n)])

    def run(self, work: str, processes: int | None = None) -> dict:
        command = [
            *self.contender.program, work, "--variant", self.contender.name, "--path", str(self.path),
            "--size", str(self.load.size), "--count", str(self.count),
            "--processes", str(processes or self.load.processes),
        ]  # fmt: skip
        return programs.run(command, self.limit_seconds)

    def add(self, work: str, result: dict) -> bool:
        """Whether the contender did it."""
        keep = {key: result[key] for key in ("seconds", "faults", "verified", "unsupported") if key in result}
        self.runs.append(
            {
                "section": self.load.section,
                "size": self.load.size,
                "objects": self.load.count,
                "count": self.count,  # fewer, where the contender would take minutes
                "processes": self.load.processes,
                "contender": self.contender.name,
                "work": work,
                **keep,
            }
        )
        return "unsupported" not in result

    def measure(self) -> None:
        bring_memory(2 * self.load.size * self.load.count)
        try:
            self.objects() if self.load.section == "objects" else self.names()
        except programs.TookTooLong as reason:
            # A dash, and no failure: what the table shows is what a user has time for.
            works = WORKS if self.load.section == "objects" else LOOKS
            done = {run["work"] for run in self.runs if self.is_mine(run)}
            for work in works:
                if work not in done:
                    self.add(work, {"unsupported": str(reason)})
        finally:
            self.remove()

    def is_mine(self, run: dict) -> bool:
        mine = (self.load.section, self.load.size, self.load.count, self.load.processes, self.contender.name)
        return (run["section"], run["size"], run["objects"], run["processes"], run["contender"]) == mine

    def objects(self) -> None:
        if not self.add("store", self.run("store")):
            # A library with one writer may still have many readers.
            if self.load.processes <= (self.contender.most_readers or 1) and "unsupported" not in self.run("store", 1):
                self.add("load", self.run("load"))
            return
        for work in ("load", "overwrite", "erase"):
            self.add(work, self.run(work))

    def names(self) -> None:
        if self.contender.most_objects and self.count > self.contender.most_objects:
            reason = {"unsupported": f"more than {self.contender.most_objects:,} take it too long"}
        else:
            reason = self.run("store")
        if "unsupported" in reason:
            for look in LOOKS:
                self.add(look, reason)
            return
        for _ in range(OPENINGS):
            for look in LOOKS:
                self.add(look, self.run(look))

    def remove(self) -> None:
        # The program ends its server, if it has one.
        try:
            programs.run(
                [*self.contender.program, "remove", "--variant", self.contender.name, "--path", str(self.path)]
            )
        finally:
            programs.remove(self.path)


def measure(
    loads: list[Load],
    all_contenders: list[Contender],
    folder: Path,
    repeat: int,
    seed: int,
    limit_seconds: float,
    tell: Callable[[str], None],
) -> tuple[list[dict], list[str]]:
    """Interleaved (programs.interleaved). What took too long is not tried again."""
    runs: list[dict] = []

    def line_up(load: Load) -> list[Contender]:
        return [c for c in all_contenders if load.section == "objects" or not c.is_limit]

    def one(load: Load, contender: Contender) -> bool:
        before = len(runs)
        Cycle(load, contender, folder / contender.name, limit_seconds, runs).measure()
        return any("seconds" in run for run in runs[before:])

    failures = programs.interleaved(loads, line_up, one, repeat, seed, tell)
    return runs, failures
