"""The measurements of distributed arrays: which runs there are, in which order, and what comes of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import programs
from machine import bring_memory
from programs import Contender


@dataclass(frozen=True)
class Work:
    """One pattern at one size, for one number of ranks."""

    name: str  # of the section in the tables
    pattern: str
    bytes: int
    ranks: int
    options: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.name}, {self.ranks} ranks"

    def command(self, contender: Contender, verb: str, path: Path) -> list[str]:
        return [
            *contender.on_ranks(self.ranks), verb, "--pattern", self.pattern, "--variant", contender.name,
            "--path", str(path), "--bytes", str(self.bytes), *self.options,
        ]  # fmt: skip


@dataclass(frozen=True)
class Speed:
    """What this machine's memory does with so many ranks, in GB/s; persistent memory is emulated on top of that."""

    write: float
    read: float

    def options(self, verb: str) -> list[str]:
        return ["--emulate-pmem", f"{self.write if verb == 'write' else self.read:.3f}"]


# What is timed, in the order in which it happens to a file. All but the last two: from opening to closing, by fresh
# processes.
PHASES = {
    "create": "nothing is there before; new pages, and whatever the file system does",
    "overwrite": "the values of the file that create has made are overwritten",
    "read": "read by processes that have not written it",
    "overwrite-prepared": "as overwrite, in a file that was prepared once (pMEMCPY: huge pages)",
    "read-prepared": "as read, of that file",
    "overwrite-open": "the file stays open, and all was written once before: only the calls that write",
    "read-open": "the file stays open, and all was read once before: only the calls that read",
}


@dataclass
class Results:
    """Seconds of each repetition, by what was measured."""

    runs: list[dict] = field(default_factory=list)

    def add(self, work: Work, contender: Contender, phase: str, result: dict) -> None:
        keep = {
            key: result[key]
            for key in ("seconds", "bytes", "calls", "page_faults", "verified", "unsupported")
            if key in result
        }
        self.runs.append(
            {
                "work": work.name,
                "pattern": work.pattern,
                "ranks": work.ranks,
                "contender": contender.name,
                "phase": phase,
                **keep,
            }
        )


def runs_of_limit(work: Work, contender: Contender, folder: Path, speed: Speed | None) -> dict[str, dict]:
    """What copies to and from a warm mapping take, by phase."""
    measured = {}
    for phase, verb in (("overwrite-open", "write"), ("read-open", "read")):
        command = [*work.command(contender, verb, folder / "limit"), "--stay", "--repeat", "5"]
        measured[phase] = programs.run(command + (speed.options(verb) if speed else []))
    return measured


def memory_speed(work: Work, all_contenders: list[Contender], folder: Path) -> Speed:
    """The fastest that a limit reaches in the work, each way."""
    write = read = 0.0
    for contender in all_contenders:
        if not contender.is_limit:
            continue
        measured = runs_of_limit(work, contender, folder, None)
        reached = {phase: run["bytes"] / median(run["seconds"]) / 1e9 for phase, run in measured.items()}
        write = max(write, reached["overwrite-open"])
        read = max(read, reached["read-open"])
    return Speed(write, read)


def cycle_of(
    work: Work, contender: Contender, folder: Path, results: Results, phases: set[str], speed: Speed | None
) -> None:
    """Everything that happens to one file of one contender."""
    if contender.most_processes and work.ranks > contender.most_processes:
        reason = f"measured in {contender.most_processes} process only"
        results.add(work, contender, "create", {"unsupported": reason})
        return
    path = folder / contender.name
    programs.remove(path)

    def one(phase: str, verb: str, *options: str) -> bool:
        if phase not in phases and phase != "create":
            return True
        emulated = speed.options(verb) if speed else []
        result = programs.run([*work.command(contender, verb, path), *options, *emulated])
        results.add(work, contender, phase, result)
        return "unsupported" not in result

    bring_memory(work.bytes * 2)
    try:
        if not one("create", "write", "--access", "create", "--verify"):
            return
        one("overwrite", "write", "--access", "overwrite", "--verify")
        one("read", "read", "--verify")
        if contender.name.startswith("pmemcpy"):
            programs.run(work.command(contender, "prepare", path))
            # The first time moves the values into space that is in huge pages.
            programs.run([*work.command(contender, "write", path), "--access", "overwrite"])
            one("overwrite-prepared", "write", "--access", "overwrite", "--verify")
            one("read-prepared", "read", "--verify")
        one("overwrite-open", "write", "--access", "overwrite", "--stay", "--repeat", "3")
        one("read-open", "read", "--stay", "--repeat", "3", "--verify")
    finally:
        programs.remove(path)


def measure(
    works: list[Work],
    all_contenders: list[Contender],
    folder: Path,
    repeat: int,
    seed: int,
    phases: set[str],
    speeds: dict[int, Speed],
    tell: Callable[[str], None],
) -> tuple[Results, list[str]]:
    """Interleaved (programs.interleaved). `speeds`, by number of ranks, if persistent memory is to be emulated."""
    results = Results()

    def one(work: Work, contender: Contender) -> bool:
        speed = speeds.get(work.ranks)
        if contender.is_limit:
            for phase, result in runs_of_limit(work, contender, folder, speed).items():
                results.add(work, contender, phase, result)
        else:
            cycle_of(work, contender, folder, results, phases, speed)
        return True

    failures = programs.interleaved(works, lambda _: all_contenders, one, repeat, seed, tell)
    return results, failures
