"""The contenders' programs: where they are, what they can do, and one run of one of them."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

# More ranks than cores, and root, are normal on a small machine; ranks of one node need no network. UCX and
# CMA are left out, for containers forbid what they need.
MPIRUN = [
    "mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "--mca", "plm", "isolated", "--mca", "btl", "vader,self",
    "--mca", "btl_vader_single_copy_mechanism", "none", "--mca", "pml", "ob1",
]  # fmt: skip


class Failed(Exception):
    """A program ended otherwise than with its line of JSON."""


@dataclass(frozen=True)
class Contender:
    """One way to use one library."""

    name: str
    what: str
    program: tuple[str, ...]
    most_processes: int | None = None


def launcher(ranks: int) -> list[str]:
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [*MPIRUN, *as_root, "-n", str(ranks)]


def run(command: list[str], limit_seconds: float = 1800) -> dict:
    """Runs one program; its last line is the result. Errors: Failed, with what it said."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_seconds, check=False)
    except subprocess.TimeoutExpired:
        raise Failed(f"did not end within {limit_seconds:.0f} s: {' '.join(command)}") from None
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        raise Failed(f"exit status {done.returncode}: {' '.join(command)}\n{done.stderr.strip()[-2000:]}")
    return json.loads(lines[-1])


def contenders(folder: Path, prefix: str) -> list[Contender]:
    """All variants of all programs in the folder, sorted by name."""
    found = []
    for program in sorted(folder.glob(f"{prefix}*")):
        if not os.access(program, os.X_OK) or program.is_dir():
            continue
        command = (str(program),)
        for variant in variants_of(command):
            found.append(Contender(variant["name"], variant["what"], command, variant.get("most_processes")))
    return found


def variants_of(command: tuple[str, ...]) -> list[dict]:
    return run([*command, "variants"])


def remove(path: Path) -> None:
    """Whatever a library has left there: a file, a folder, or files whose names begin so."""
    for each in path.parent.glob(path.name + "*"):
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
