#!/usr/bin/env python3
"""Judge every text file of the project by the rules that no formatter enforces.

usage: check_files.py [ROOT]

* no source file over 400 lines without a line `Length: reason` in its first 30;
* no trailing white space, a newline at the end, no tab in C++ and Python;
* no note of work that is left undone: an issue is the place for it;
* no path of the machine it was written on.

Prints one line FILE:LINE: RULE for each breach and exits 1; exits 0 when all hold.
"""

import re
import subprocess
import sys
from pathlib import Path

LONGEST = 400
SOURCES = {".hpp", ".h", ".cpp", ".c", ".ipp", ".py", ".sh", ".cmake", ".f90"}
TEXTS = SOURCES | {".md", ".txt", ".json", ".in", ".supp", ""}
UNDONE = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
MACHINE = re.compile(r"(?<![\w.])/(work|root|home)/\w")


def files_of(root: Path) -> list[Path]:
    """What git tracks or would track; in a tree without git, everything outside build/."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, text=True
    )
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
    else:
        names = [path.relative_to(root).as_posix() for path in root.rglob("*")]
    paths = [root / name for name in names if not name.startswith(("build/", ".git/"))]
    return sorted(path for path in paths if path.is_file() and path.suffix in TEXTS)


def judge(path: Path) -> list[tuple[int, str]]:
    """The lines of one file that break a rule, each with the rule."""
    raw = path.read_bytes()
    if b"\0" in raw:
        return []
    text = raw.decode(errors="replace")
    lines = text.splitlines()
    broken = []
    if path.suffix in SOURCES and len(lines) > LONGEST and not any("Length:" in line for line in lines[:30]):
        broken.append((1, f"{len(lines)} lines; over {LONGEST} the head says why, in a line `Length: reason`"))
    if text and not text.endswith("\n"):
        broken.append((len(lines), "the last line has no newline"))
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            broken.append((number, "white space at the end of the line"))
        if "\t" in line and path.suffix in {".hpp", ".h", ".cpp", ".py"}:
            broken.append((number, "a tab; write spaces, or \\t in a string"))
        if UNDONE.search(line):
            broken.append((number, "a note of work undone; open an issue instead"))
        if MACHINE.search(line):
            broken.append((number, "a path of somebody's machine"))
    return broken


def check(root: Path) -> list[str]:
    return [f"{path.relative_to(root)}:{line}: {rule}" for path in files_of(root) for line, rule in judge(path)]


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    broken = check(root)
    print("\n".join(broken) if broken else "every file keeps the rules")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
