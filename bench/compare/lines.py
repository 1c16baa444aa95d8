"""One and the same small program with each library: that it runs, and how long it is."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import programs

FOLDER = Path(__file__).parent / "lines"
RANKS = 2


def load_count():
    """lines/count.py, which is also a program of its own."""
    spec = importlib.util.spec_from_file_location("count", FOLDER / "count.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


count = load_count()
table = count.table


def measure(build: Path, folder: Path, tell: Callable[[str], None]) -> tuple[dict[str, tuple[int, int]], list[str]]:
    """Lines and tokens of all programs, and which of those that were built left no file behind."""
    failures = []
    for program in sorted((build / "bench/compare/lines").glob("compare_lines_*")):
        tell(f"1/1  lines: {program.name}")
        path = folder / program.name
        status, said = programs.end_of([*programs.launcher(RANKS), str(program), str(path)])
        left = list(folder.glob(path.name + "*"))
        if status != 0 or not left:
            failures.append(f"{program.name}: exit status {status}, {len(left)} files\n{said[-2000:]}")
        programs.remove(path)
    return count.counts(FOLDER), failures
