"""The measurements of distributed arrays: which runs there are, in which order, and what comes of them."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import programs
from programs import Contender


@dataclass(frozen=True)
class Work:
    """One pattern at one size, for one number of ranks."""

    name: str  # of the section in the tables
    pattern: str
    bytes: int
    ranks: int
    options: tuple[str, ...] = ()

    def arguments(self, contender: Contender, path: Path) -> list[str]:
        return [
            "--pattern", self.pattern, "--variant", contender.name, "--path", str(path), "--bytes", str(self.bytes),
            *self.options,
        ]  # fmt: skip


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


def limit_of(work: Work, contender: Contender, folder: Path, results: Results) -> None:
    for phase, verb, options in (("overwrite-open", "write", []), ("read-open", "read", [])):
        command = [
            *programs.launcher(work.ranks),
            *contender.program,
            verb,
            *work.arguments(contender, folder / "limit"),
        ]
        results.add(work, contender, phase, programs.run([*command, "--stay", "--repeat", "5", *options]))


def cycle_of(work: Work, contender: Contender, folder: Path, results: Results, phases: set[str]) -> None:
    """Everything that happens to one file of one contender."""
    path = folder / contender.name
    programs.remove(path)

    def one(phase: str, verb: str, *options: str) -> bool:
        if phase not in phases and phase != "create":
            return True
        command = [*programs.launcher(work.ranks), *contender.program, verb, *work.arguments(contender, path), *options]
        result = programs.run(command)
        results.add(work, contender, phase, result)
        return "unsupported" not in result

    try:
        if not one("create", "write", "--access", "create", "--verify"):
            return
        one("overwrite", "write", "--access", "overwrite", "--verify")
        one("read", "read", "--verify")
        if contender.name.startswith("pmemcpy"):
            programs.run(
                [*programs.launcher(work.ranks), *contender.program, "prepare", *work.arguments(contender, path)]
            )
            # The first time moves the values into space that is in huge pages.
            programs.run([
                *programs.launcher(work.ranks), *contender.program, "write", *work.arguments(contender, path),
                "--access", "overwrite",
            ])  # fmt: skip
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
    tell: Callable[[str], None],
) -> tuple[Results, list[str]]:
    """Interleaved: each repetition takes all contenders in another order. A contender that fails is told and left out of the rest."""
    results = Results()
    failures: list[str] = []
    failed: set[tuple[str, str, int]] = set()
    order = random.Random(seed)
    for repetition in range(repeat):
        for work in works:
            line_up = list(all_contenders)
            order.shuffle(line_up)
            for contender in line_up:
                key = (work.name, contender.name, work.ranks)
                if key in failed:
                    continue
                tell(f"{repetition + 1}/{repeat}  {work.name}, {work.ranks} ranks: {contender.name}")
                try:
                    if contender.program[0].endswith("_memory"):
                        limit_of(work, contender, folder, results)
                    else:
                        cycle_of(work, contender, folder, results, phases)
                except programs.Failed as failure:
                    failed.add(key)
                    failures.append(f"{work.name}, {work.ranks} ranks, {contender.name}: {failure}")
    return results, failures
