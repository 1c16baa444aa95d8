#!/usr/bin/env python3
"""Measures pMEMCPY beside other libraries, in one run: `./run bench compare` builds what it needs and calls this.

Every repetition takes all contenders, each time in another order; what is told is the median. What is written is read
again and compared bit for bit, outside of what is timed. Results are tables (Markdown), figures (PNG, SVG) and all
numbers (JSON).
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import arrays
import figures
import programs
import tables

MIB = 1 << 20


def sections(arguments: argparse.Namespace) -> dict[str, list[arrays.Work]]:
    """The works on arrays, by the name that --only takes."""
    size = int(arguments.gib * 1024) * MIB
    part = size // 4
    by_name: dict[str, list[arrays.Work]] = {"domain": [], "regrid": [], "selections": [], "particles": [], "bt": []}
    for ranks in arguments.ranks:
        by_name["domain"].append(arrays.Work("domain3d", "domain", size, ranks))
        for row in (4096, 512):
            by_name["regrid"].append(
                arrays.Work(f"another decomposition, rows of {row} B", "rows", part, ranks, ("--row-bytes", str(row)))
            )
        for pattern, name in (
            ("boxes", "read in cubes of 16³"),
            ("strided", "every second element of each dimension"),
            ("across", "planes across the fastest dimension"),
        ):
            by_name["selections"].append(arrays.Work(name, pattern, part, ranks))
        steps = ("--steps", "5")
        for pattern, name in (
            ("particles", "VPIC-IO and BDCATS-IO, whole"),
            ("particles-slice", "BDCATS-IO, a tenth in one piece"),
            ("particles-random", "BDCATS-IO, a random tenth"),
        ):
            by_name["particles"].append(arrays.Work(name, pattern, size, ranks, steps))
    by_name["bt"].append(arrays.Work("BT-IO", "bt", size, 4, ("--steps", "20")))
    return by_name


def phases_of(section: str) -> set[str]:
    if section == "domain":
        return set(arrays.PHASES)
    if section in ("particles", "bt"):
        return {"create", "overwrite", "read", "overwrite-prepared", "read-prepared"}
    return {"create", "read", "read-prepared", "read-open"}


def machine() -> dict:
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        "?",
    )
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release(),
        "huge_pages": Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text().strip(),
        "commit": subprocess.run(
            ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False,
            cwd=Path(__file__).parent,
        ).stdout.strip(),
    }  # fmt: skip


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "build", type=Path, help="the folder of a release build in which the target `compare` was built"
    )
    parser.add_argument(
        "--gib", type=float, default=1.0, help="of the main job; the others take as much or a quarter (1)"
    )
    parser.add_argument(
        "--ranks",
        type=lambda text: [int(n) for n in text.split(",")],
        help="such as 1,2,4,8; else 1 and as many as there are cores, up to 8",
    )
    parser.add_argument("--repeat", type=int, default=3, help="how many times; the median counts (3)")
    parser.add_argument("--only", help="names of sections, with commas between")
    parser.add_argument(
        "--contenders", help="beginnings of names of contenders, with commas between; the limit is always there"
    )
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"), help="the medium that is measured (/dev/shm)")
    parser.add_argument("--out", type=Path, default=Path("compare"), help="where the results go (./compare)")
    parser.add_argument("--seed", type=int, default=1, help="of the order, and of what is read at random (1)")
    arguments = parser.parse_args()
    if arguments.ranks is None:
        most = min(os.cpu_count() or 1, 8)
        arguments.ranks = sorted({1, 2 if most > 1 else 1, most})
    names = list(sections(arguments))
    arguments.only = arguments.only.split(",") if arguments.only else names
    if unknown := set(arguments.only) - set(names):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    needed = 3.5 * arguments.gib * 2**30
    if shutil.disk_usage(arguments.folder).free < needed:
        parser.error(f"{arguments.folder} needs {needed / 2**30:.1f} GiB of room; take a smaller --gib")
    return arguments


def chosen(all_contenders: list[programs.Contender], names: str | None) -> list[programs.Contender]:
    if names is None:
        return all_contenders
    return [c for c in all_contenders if c.program[0].endswith("_memory") or c.name.startswith(tuple(names.split(",")))]


def main() -> int:
    arguments = parse_arguments()
    all_contenders = chosen(
        programs.contenders(arguments.build / "bench/compare/arrays", "compare_arrays_"), arguments.contenders
    )
    if not all_contenders:
        print(f"compare: nothing to compare in {arguments.build}; build the target `compare`", file=sys.stderr)
        return 3
    runs: list[dict] = []
    failures: list[str] = []
    with tempfile.TemporaryDirectory(prefix="pmemcpy-compare-", dir=arguments.folder) as folder:
        for section in arguments.only:
            results, failed = arrays.measure(
                sections(arguments)[section], all_contenders, Path(folder), arguments.repeat, arguments.seed,
                phases_of(section), lambda line: print(line, file=sys.stderr),
            )  # fmt: skip
            runs += results.runs
            failures += failed
    arguments.out.mkdir(parents=True, exist_ok=True)
    text = tables.arrays(runs, arrays.PHASES)
    (arguments.out / "results.json").write_text(
        json.dumps(
            {
                "machine": machine(),
                "contenders": {c.name: c.what for c in all_contenders},
                "phases": arrays.PHASES,
                "arrays": runs,
                "failures": failures,
            },
            indent=1,
        )
    )
    (arguments.out / "results.md").write_text(text)
    figures.all_of(runs, arguments.out)
    print(text)
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
