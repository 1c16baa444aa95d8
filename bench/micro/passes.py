"""How often a store passes over memory, as valgrind counts it: the source is read once, the pool written once.

usage: passes.py STORE_ONCE

With checksum, least and greatest element, which are found on the way. What is counted are the misses of a cache that is
a sixteenth of the array, in lines of 64 bytes: so what is read a second time while a cache holds it is no pass.
Valgrind has no AVX-512, so on processors with it this looks at the kernels for AVX2.
"""

import re
import subprocess
import sys
import tempfile

BYTES = 16 << 20
CACHE = f"{BYTES // 16},16,64"
LINE = 64
MORE = 0.02  # records, the catalog, the ends of the block


def misses(program: str) -> tuple[int, int]:
    """Lines that were read into the last cache, and written."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind", "--tool=callgrind", "--toggle-collect=store", "--cache-sim=yes", f"--LL={CACHE}",
            f"--callgrind-out-file={folder}/out", program, str(BYTES),
        ]  # fmt: skip
        run = subprocess.run(command, check=False, capture_output=True, text=True)
    events = re.search(r"Events *: (.*)", run.stderr)
    counts = re.search(r"Collected : (.*)", run.stderr)
    if run.returncode != 0 or events is None or counts is None:
        sys.exit(f"valgrind could not count:\n{run.stderr}")
    by_event = dict(zip(events[1].split(), map(int, counts[1].split()), strict=True))
    return by_event["DLmr"], by_event["DLmw"]


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    lines = BYTES // LINE
    wrong = 0
    for what, missed in zip(("read", "written"), misses(sys.argv[1]), strict=True):
        print(f"{what}: {missed} lines, {missed / lines:.3f} of the array's {lines}")
        # Less than once would mean that this counts something else.
        if not 1 - MORE <= missed / lines <= 1 + MORE:
            print(f"memory is {what} {missed / lines:.2f} times", file=sys.stderr)
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
