"""How many instructions one call of each verb takes, as valgrind counts them, against those in instructions.json.

usage: instructions.py CALL_VERB [--update]

Times are noise on a shared machine, instructions are not: two runs differ by less than a thousandth. A verb that takes
5 % more than the file says is an error. Somebody who means it calls this with --update, and says why in CHANGELOG.md.
The counts are of the preset dev, by GCC 12 for x86-64; the system calls themselves are not in them.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = Path(__file__).with_suffix(".json")
CALLS = 2000
MORE = 0.05


def count(program: str, verb: str) -> int:
    """Instructions of one call, among CALLS."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--toggle-collect=calls", f"--callgrind-out-file={folder}/out"]
        run = subprocess.run([*command, program, verb, str(CALLS)], check=False, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or found is None:
        sys.exit(f"valgrind could not count {verb}:\n{run.stderr}")
    return round(int(found[1]) / CALLS)


def compare(counted: dict[str, int], expected: dict[str, int]) -> list[str]:
    """What is wrong, line by line."""
    wrong = [f"{verb} is not in {FILE.name}" for verb in counted if verb not in expected]
    wrong += [f"{FILE.name} has {verb}, which is no verb" for verb in expected if verb not in counted]
    for verb, instructions in counted.items():
        limit = expected.get(verb, instructions) * (1 + MORE)
        if instructions > limit:
            wrong.append(f"{verb} takes {instructions} instructions, {instructions / expected[verb] - 1:+.0%}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the path of call_verb")
    parser.add_argument("--update", action="store_true", help="write what is counted into instructions.json")
    arguments = parser.parse_args()
    verbs = subprocess.run([arguments.program], check=True, capture_output=True, text=True).stdout.split()
    counted = {verb: count(arguments.program, verb) for verb in verbs}
    if arguments.update:
        FILE.write_text(json.dumps(counted, indent=4) + "\n")
    expected = json.loads(FILE.read_text())
    for verb, instructions in counted.items():
        print(f"{verb:12} {instructions:8} instructions, {expected.get(verb, 0):8} in {FILE.name}")
    wrong = compare(counted, expected)
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong:
        print("who means it calls this with --update, and says why in CHANGELOG.md", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
