"""One and the same small program with each library: that it runs, and how long it is."""

from collections.abc import Callable
from pathlib import Path

import count
import programs

RANKS = 2


def measure(build: Path, folder: Path, tell: Callable[[str], None]) -> tuple[dict[str, tuple[int, int]], list[str]]:
    """Lines and tokens of all programs, and which of those that were built left no file behind."""
    failures = []
    for program in sorted((build / "bench/compare/lines").glob("compare_lines_*")):
        tell(f"1/1  lines: {program.name}")
        path = folder / program.name
        try:
            programs.output_of([*programs.launcher(RANKS), str(program), str(path)])
            if not list(folder.glob(path.name + "*")):
                failures.append(f"{program.name}: left no file")
        except programs.Failed as failure:
            failures.append(f"{program.name}: {failure}")
        programs.remove(path)
    return count.counts(count.FOLDER), failures
