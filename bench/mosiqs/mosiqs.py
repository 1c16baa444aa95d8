#!/usr/bin/env python3
"""The experiments of the MOSIQS paper: `./run bench mosiqs` builds what it needs and calls this.

Every repetition takes all contenders, each time in another order; what is told is the median. What is stored is read
again, and what is found is compared, outside of what is timed. Prints tables
(Markdown), our figures beside the paper's; --json has all numbers.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
from pathlib import Path

import experiments
import rows
from experiments import MIB, Sizes
from neighbours import as_json, machine
from runs import Runs, contenders

DEFAULT_SCALES, LONG_SCALES = "0.01,0.1", "0.01,0.1,1"
DEFAULT_RECORDS, LONG_RECORDS = 100_000, 1_000_000


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mosiqs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=Path, help="the folder of a release build in which the target `mosiqs` was built")
    parser.add_argument("--json", type=Path, help="all rows, as {name, ratio, target, ...}, and all runs")
    parser.add_argument("--long", action="store_true", help="Table I whole, and 10^6 variables to look up")
    parser.add_argument("--only", help=f"of {', '.join(rows.SECTIONS)}, with commas between")
    parser.add_argument("--repeat", type=int, default=3, help="how many times; the median counts (3)")
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"), help="the medium that is measured (/dev/shm)")
    parser.add_argument("--mib", type=int, default=512, help="of data in one run of Figures 6 to 8 (512)")
    parser.add_argument("--most-objects", type=int, default=20_000, help="in one of them (20,000)")
    parser.add_argument("--scales", help=f"of Table I ({DEFAULT_SCALES}; --long: {LONG_SCALES})")
    parser.add_argument("--object-bytes", type=int, default=1024, help="of an object there (1024)")
    parser.add_argument("--records", type=int, help=f"of the look-ups ({DEFAULT_RECORDS:,}; --long: {LONG_RECORDS:,})")
    parser.add_argument("--seconds", type=float, default=1.0, help="to ask each kind of question (1)")
    parser.add_argument("--limit-seconds", type=float, default=1800, help="of one run; past it there is a dash (1800)")
    parser.add_argument("--seed", type=int, default=1, help="of the order (1)")
    arguments = parser.parse_args()
    arguments.scales = arguments.scales or (LONG_SCALES if arguments.long else DEFAULT_SCALES)
    arguments.records = arguments.records or (LONG_RECORDS if arguments.long else DEFAULT_RECORDS)
    arguments.only = arguments.only.split(",") if arguments.only else list(rows.SECTIONS)
    if unknown := set(arguments.only) - set(rows.SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(rows.SECTIONS)}")
    return arguments


def sizes_of(arguments: argparse.Namespace) -> Sizes:
    cores = os.cpu_count() or 1
    return Sizes(
        budget=arguments.mib * MIB,
        most_objects=arguments.most_objects,
        processes=tuple(n for n in (1, 2, 8, 16) if n <= max(2, cores)),  # 4 are those of Figure 6
        scales=tuple(float(scale) for scale in arguments.scales.split(",")),
        object_bytes=arguments.object_bytes,
        records=arguments.records,
        seconds=arguments.seconds,
    )


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def save(arguments: argparse.Namespace, runs: Runs) -> None:
    """After each section, for a run takes long and a machine may be taken away."""
    if arguments.json is None:
        return
    by_section = rows.all_rows(runs.done)
    content = {
        "machine": machine(),
        "arguments": {key: str(value) for key, value in vars(arguments).items()},
        "contenders": {contender.name: contender.what for contender in runs.by_name.values()},
        "rows": [as_json(row) | {"section": name} for name, of_it in by_section.items() for row in of_it],
        "runs": runs.done,
        "failures": runs.failures,
    }
    arguments.json.write_text(json.dumps(content, indent=1))


def measure(arguments: argparse.Namespace, runs: Runs) -> None:
    sizes = sizes_of(arguments)
    for name in arguments.only:
        if name == "real":
            experiments.real(runs, sizes, arguments.build.resolve() / "faces/cli/pmemcpy", experiments.demo_files())
        else:
            getattr(experiments, name)(runs, sizes)
        save(arguments, runs)
    runs.failures += rows.disagreements(runs.done)


def main() -> int:
    arguments = parse_arguments()
    # Whoever ends this leaves no files in memory.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    by_name = contenders(arguments.build, tell)
    if "pmemcpy-none" not in by_name:
        tell(f"mosiqs: nothing to measure in {arguments.build}; build the target `mosiqs`")
        return 3
    for contender in by_name.values():
        if contender.unsupported:
            tell(f"without {contender.name}: {contender.unsupported}")
    with tempfile.TemporaryDirectory(prefix="pmemcpy-mosiqs-", dir=arguments.folder) as folder:
        order = random.Random(arguments.seed)
        runs = Runs(
            by_name, arguments.repeat, arguments.limit_seconds, tell, order,
            memory_bytes=2 * arguments.mib * MIB, folder=Path(folder),
        )  # fmt: skip
        measure(arguments, runs)
    save(arguments, runs)
    print(rows.markdown(rows.all_rows(runs.done)))
    for failure in runs.failures:
        tell(f"failed: {failure}")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main())
