"""The contenders' programs: where they are, what they can do, and one run of one of them."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

# More ranks than cores, and root, are normal on a small machine; ranks of one node need no network. UCX and
# CMA are left out, for containers forbid what they need.
MPIRUN = [
    "mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "--mca", "plm", "isolated", "--mca", "btl", "vader,self",
    "--mca", "btl_vader_single_copy_mechanism", "none", "--mca", "pml", "ob1",
]  # fmt: skip


class Failed(Exception):
    """A program ended otherwise than with its line of JSON."""


class TookTooLong(Failed):
    """A program was ended because its time was over."""


@dataclass(frozen=True)
class Contender:
    """One way to use one library."""

    name: str
    what: str
    program: tuple[str, ...]
    most_processes: int | None = None  # that may write at the same time
    most_readers: int | None = None  # that may read when none writes
    most_objects: int | None = None  # beyond it a run would take hours
    enough_objects: int | None = None  # with more a run takes minutes, and shows nothing else

    @property
    def is_limit(self) -> bool:
        return self.program[0].endswith("_memory")

    def on_ranks(self, ranks: int) -> list[str]:
        """The beginning of a command that runs the program in so many ranks. One in Python is a single process."""
        return list(self.program) if self.program[0] == sys.executable else [*launcher(ranks), *self.program]


def launcher(ranks: int) -> list[str]:
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [*MPIRUN, *as_root, "-n", str(ranks)]


def output_of(command: list[str], limit_seconds: float = 60) -> str:
    """Runs one program; what it printed. Nothing that it started is left when its time is over or this process is told
    to end. Errors: Failed, with what it said; TookTooLong."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            output, errors = process.communicate(timeout=limit_seconds)
        except subprocess.TimeoutExpired:
            end(process)
            raise TookTooLong(f"did not end within {limit_seconds:g} s") from None
        except BaseException:
            end(process)  # ^C does not reach another session
            raise
    if process.returncode != 0:
        raise Failed(f"exit status {process.returncode}: {' '.join(command)}\n{errors.strip()[-2000:]}")
    return output.strip()


def end(process: subprocess.Popen, patience_seconds: float = 5) -> None:
    """Ends a program that leads a session, and what it has started there. mpirun, asked politely, ends its ranks, which
    are in groups of their own."""
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal_number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_seconds)
    # Pipes that something has inherited which is in no group of this session are not waited for.
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def run(command: list[str], limit_seconds: float = 1800) -> dict:
    """Runs one contender's program; its last line is the result. Errors: as output_of; Failed when it has no line."""
    lines = output_of(command, limit_seconds).splitlines()
    if not lines:
        raise Failed(f"printed no result: {' '.join(command)}")
    return json.loads(lines[-1])


def contenders(build: Path, kind: str, tell: Callable[[str], None]) -> list[Contender]:
    """All variants of all programs for `arrays` or `objects`: those that were built, and those in Python. One whose
    library is not installed is left out, with a word."""
    built = sorted((build / "bench/compare" / kind).glob(f"compare_{kind}_*"))
    commands = [(str(program),) for program in built if os.access(program, os.X_OK) and not program.is_dir()]
    scripts = sorted((Path(__file__).parent / kind).glob("with_*.py"))
    commands += [(sys.executable, str(script)) for script in scripts]
    found = []
    for command in commands:
        try:
            variants = run([*command, "variants"])
        except Failed as failure:
            tell(f"without {Path(command[-1]).name}: {str(failure).splitlines()[-1]}")
            continue
        found += [Contender(variant.pop("name"), variant.pop("what"), command, **variant) for variant in variants]
    return found


class Titled(Protocol):
    @property
    def title(self) -> str: ...


W = TypeVar("W", bound=Titled)


def interleaved(
    works: Sequence[W],
    line_up: Callable[[W], list[Contender]],
    measure: Callable[[W, Contender], bool],
    repeat: int,
    seed: int,
    tell: Callable[[str], None],
) -> list[str]:
    """Each repetition takes all contenders of each work, in another order. What failed is not tried again; nor is that
    of which `measure` says False. Returns what failed."""
    failures: list[str] = []
    given_up: set[tuple[W, str]] = set()
    order = random.Random(seed)
    for repetition in range(repeat):
        for work in works:
            contenders = list(line_up(work))
            order.shuffle(contenders)
            for contender in contenders:
                if (work, contender.name) in given_up:
                    continue
                tell(f"{repetition + 1}/{repeat}  {work.title}: {contender.name}")
                try:
                    goes_on = measure(work, contender)
                except Failed as failure:
                    failures.append(f"{work.title}, {contender.name}: {failure}")
                    goes_on = False
                if not goes_on:
                    given_up.add((work, contender.name))
    return failures


def remove(path: Path) -> None:
    """Whatever a library has left there: a file, a folder, or files whose names begin so."""
    for each in path.parent.glob(path.name + "*"):
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
