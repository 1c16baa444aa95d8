#!/usr/bin/env python3
"""The experiments of the Hermes paper: `./run bench hermes` builds what it needs and calls this.

Every repetition takes all contenders, each time in another order; what is told is the median. Slow devices are targets
below a pool that are limited in the ratio of the paper's. Prints tables (Markdown), our figures beside the paper's;
--json has all numbers.
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
from experiments import MIB, Runs, Sizes
from neighbours import as_json, machine


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="hermes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=Path, help="the folder of a release build in which the target `hermes` was built")
    parser.add_argument("--json", type=Path, help="all rows, as {name, ratio, target, ...}, and all runs")
    parser.add_argument("--only", help=f"of {', '.join(experiments.ALL)}, with commas between")
    parser.add_argument("--long", action="store_true", help="more processes, and all repetitions of all contenders")
    parser.add_argument("--repeat", type=int, default=10, help="how many times; the median counts (10)")
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"), help="the memory that it works in (/dev/shm)")
    parser.add_argument("--operations", type=int, default=1_000_000, help="in a run of Figures 4 to 6 (1,000,000)")
    parser.add_argument("--copied-mib", type=int, default=4096, help="in a run of Figure 4 at most (4096)")
    parser.add_argument("--processes", help="that ask at a time in Figures 5 and 6 (1,2; --long: 1,2,4)")
    parser.add_argument("--mib", type=int, default=64, help="that a run of Figures 8 to 11 stores (64)")
    parser.add_argument(
        "--pfs-mib-per-second", type=float, default=32, help="of the parallel file system; others in ratio to it (32)"
    )
    parser.add_argument(
        "--budget-seconds", type=float, default=60,
        help="of Figures 5 and 6: what has used so much at one piece of work is not repeated again (60)",
    )  # fmt: skip
    parser.add_argument("--limit-seconds", type=float, default=600, help="of one run; past it there is a dash (600)")
    parser.add_argument("--seed", type=int, default=1, help="of the order (1)")
    arguments = parser.parse_args()
    arguments.processes = arguments.processes or ("1,2,4" if arguments.long else "1,2")
    if arguments.long:
        arguments.budget_seconds = float("inf")
    arguments.only = arguments.only.split(",") if arguments.only else list(experiments.ALL)
    if unknown := set(arguments.only) - set(experiments.ALL):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(experiments.ALL)}")
    for name in ("repeat", "operations", "copied_mib", "mib", "pfs_mib_per_second", "limit_seconds"):
        if getattr(arguments, name) <= 0:
            parser.error(f"--{name.replace('_', '-')} has to be more than 0")
    return arguments


def sizes_of(arguments: argparse.Namespace) -> Sizes:
    return Sizes(
        operations=arguments.operations,
        processes=tuple(int(number) for number in arguments.processes.split(",")),
        bytes_copied=arguments.copied_mib * MIB,
        bytes_stored=arguments.mib * MIB,
        pfs_bytes_per_second=arguments.pfs_mib_per_second * MIB,
    )


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def save(arguments: argparse.Namespace, runs: Runs, sizes: Sizes) -> None:
    """After each section, for a run takes long and a machine may be taken away."""
    if arguments.json is None:
        return
    by_section = rows.all_rows(runs.done, sizes)
    content = {
        "machine": machine(),
        "load": os.getloadavg(),
        "arguments": {key: str(value) for key, value in vars(arguments).items()},
        "rows": [as_json(row) | {"section": name} for name, of_it in by_section.items() for row in of_it],
        "runs": runs.done,
        "failures": runs.failures,
    }
    arguments.json.write_text(json.dumps(content, indent=1))


def main() -> int:
    arguments = parse_arguments()
    # Whoever ends this leaves no server, and no files in memory.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    built = arguments.build.resolve() / "bench/hermes"
    if not any(built.glob("hermes_*")):
        tell(f"hermes: nothing to measure in {arguments.build}; build the target `hermes`")
        return 3
    sizes = sizes_of(arguments)
    with tempfile.TemporaryDirectory(prefix="pmemcpy-hermes-", dir=arguments.folder) as folder:
        runs = Runs(
            {}, arguments.repeat, arguments.limit_seconds, tell, random.Random(arguments.seed),
            folder=Path(folder), programs_folder=built, budget_seconds=arguments.budget_seconds,
        )  # fmt: skip
        for name in arguments.only:
            runs.memory_bytes = sizes.memory_bytes(name)
            experiments.ALL[name](runs, sizes)
            save(arguments, runs, sizes)
    print(rows.markdown(runs.done, sizes))
    for failure in runs.failures:
        tell(f"failed: {failure}")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
