#!/usr/bin/env python3
"""Measures pMEMCPY beside other libraries, in one run: `./run bench compare` builds what it needs and calls this.

Every repetition takes all contenders, each time in another order; what is told is the median. What is written is read
again and compared bit for bit, outside of what is timed. Results are tables (Markdown), figures (PNG, SVG) and all
numbers (JSON).
"""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import arrays
import count
import figures
import lines
import objects
import programs
import series
import tables
from machine import machine

MIB = 1 << 20
OTHERS = ("objects", "names", "series", "lines")  # sections of other programs than those of arrays


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
        help="such as 1,2,4,8, and as many processes; else 1 and as many as there are cores, up to 8",
    )
    parser.add_argument("--repeat", type=int, default=3, help="how many times; the median counts (3)")
    parser.add_argument("--only", help="names of sections, with commas between")
    parser.add_argument(
        "--contenders", help="beginnings of names of contenders, with commas between; the limit is always there"
    )
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"), help="the medium that is measured (/dev/shm)")
    parser.add_argument("--out", type=Path, default=Path("compare"), help="where the results go (./compare)")
    parser.add_argument("--seed", type=int, default=1, help="of the order, and of what is read at random (1)")
    parser.add_argument(
        "--names", type=int, default=max(objects.NAMES), help="the most variables that are opened and listed (10^6)"
    )
    parser.add_argument(
        "--limit-seconds", type=float, default=300, help="of one run on small objects; past it there is a dash (300)"
    )
    parser.add_argument(
        "--emulate", choices=["pmem"], help="add what the paper's persistent memory costs beyond this machine's memory"
    )
    arguments = parser.parse_args()
    cores = os.cpu_count() or 1
    arguments.processes = arguments.ranks or objects.processes_up_to(cores)
    if arguments.ranks is None:
        most = min(cores, 8)
        arguments.ranks = sorted({1, 2 if most > 1 else 1, most})
    on_arrays = list(sections(arguments))
    names = on_arrays if arguments.emulate else [*on_arrays, *OTHERS]
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
    return [c for c in all_contenders if c.is_limit or c.name.startswith(tuple(names.split(",")))]


def tell(line: str) -> None:
    print(line, file=sys.stderr)


class Run:
    """All sections that were asked for, and what came of them."""

    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self.arguments, self.folder = arguments, folder
        self.runs: dict[str, list[dict]] = {"arrays": [], "objects": [], "names": [], "series": []}
        self.failures: list[str] = []
        self.contenders: dict[str, str] = {}
        self.speeds: dict[int, arrays.Speed] = {}
        self.counts: dict[str, tuple[int, int]] = {}

    def found(self, kind: str) -> list[programs.Contender]:
        found = chosen(programs.contenders(self.arguments.build, kind, tell), self.arguments.contenders)
        self.contenders |= {f"{kind}/{contender.name}": contender.what for contender in found}
        return found

    def on_arrays(self, names: list[str]) -> None:
        contenders = self.found("arrays")
        by_name = sections(self.arguments)
        if self.arguments.emulate:
            for ranks in sorted({work.ranks for name in names for work in by_name[name]}):
                if ranks in self.speeds:
                    continue
                work = arrays.Work("the limit", "domain", by_name["domain"][0].bytes, ranks)
                self.speeds[ranks] = arrays.memory_speed(work, contenders, self.folder)
                tell(f"memory, {ranks} ranks: {self.speeds[ranks]}")
        for name in names:
            results, failed = arrays.measure(
                by_name[name], contenders, self.folder, self.arguments.repeat, self.arguments.seed, phases_of(name),
                self.speeds, tell,
            )  # fmt: skip
            self.runs["arrays"] += results.runs
            self.failures += failed

    def on_objects(self, name: str) -> None:
        if name == "objects":
            loads = objects.objects(int(self.arguments.gib * 1024) * MIB // 2, self.arguments.processes)
        else:
            loads = objects.names(self.arguments.names)
        runs, failed = objects.measure(
            loads, self.found("objects"), self.folder, self.arguments.repeat, self.arguments.seed,
            self.arguments.limit_seconds, tell,
        )  # fmt: skip
        self.runs[name] += runs
        self.failures += failed

    def on_series(self) -> None:
        runs, failed = series.measure(
            self.found("series"), self.folder, self.arguments.repeat, self.arguments.seed,
            self.arguments.limit_seconds, tell,
        )  # fmt: skip
        self.runs["series"] += runs
        self.failures += failed

    def all(self) -> None:
        """Saved after each section, for a run takes hours and a machine may be taken away."""
        for name in self.arguments.only:
            if name not in OTHERS:
                self.on_arrays([name])
            elif name == "lines":
                self.counts, failed = lines.measure(self.arguments.build, self.folder, tell)
                self.failures += failed
            elif name == "series":
                self.on_series()
            else:
                self.on_objects(name)
            self.save()

    def save(self) -> None:
        out = self.arguments.out
        out.mkdir(parents=True, exist_ok=True)
        (out / "results.json").write_text(self.json())
        (out / "results.md").write_text(self.tables())

    def json(self) -> str:
        content = {
            "machine": machine(),
            "arguments": {key: str(value) for key, value in vars(self.arguments).items()},
            "contenders": self.contenders,
            "phases": arrays.PHASES | objects.WORKS | objects.LOOKS,
            "emulated_on": {ranks: vars(speed) for ranks, speed in self.speeds.items()},
            **self.runs,
            "lines_and_tokens": self.counts,
            "failures": self.failures,
        }
        return json.dumps(content, indent=1)

    def tables(self) -> str:
        text = []
        if self.speeds:
            text.append("Persistent memory is emulated: every contender, the limit too, waits as the paper has it.\n")
        if self.runs["arrays"]:
            text.append(tables.arrays(self.runs["arrays"], arrays.PHASES))
        if self.runs["objects"]:
            text.append(tables.objects(self.runs["objects"], objects.WORKS))
        if self.runs["names"]:
            text.append(tables.names(self.runs["names"], objects.LOOKS))
        if self.runs["series"]:
            text.append(tables.series(self.runs["series"]))
        if self.counts:
            text.append(f"### lines and tokens of one program\n\n{count.table(self.counts)}\n")
        return "\n".join(text)


def main() -> int:
    arguments = parse_arguments()
    # Whoever ends this leaves no files in memory, and no server.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="pmemcpy-compare-", dir=arguments.folder) as folder:
        run = Run(arguments, Path(folder))
        run.all()
    if not any(run.runs.values()) and not run.counts:
        tell(f"compare: nothing to compare in {arguments.build}; build the target `compare`")
        return 3
    run.save()
    figures.all_of(run.runs["arrays"], arguments.out)
    print(run.tables())
    for failure in run.failures:
        tell(f"failed: {failure}")
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main())
