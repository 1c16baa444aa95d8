#!/usr/bin/env python3
"""Lists what the last ctest run of a preset skipped: a test that is skipped for want of something shows nothing.

usage: list_skipped.py PRESET

Prints "skipped: NAME: why" for each, and counts apart what is skipped by design: the parameters that a test does not
concern, and what only the long form or another build runs. An optional library that was not found counts too, in the
preset dev, because its tests are not even there. What QEMU cannot run (cmake/Tests.cmake) is "not emulated", which is
not for want of something. Exit status: 1 when CI=true and something is wanting; else 0.
"""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Of a reason that begins so nothing on the machine is the cause. One more needs a line here.
BY_DESIGN = (
    "only under PMEMCPY_LONG",
    "takes 5 GiB of memory; PMEMCPY_LONG=1 runs it",
    # parameters that a test does not concern
    "about the one file",
    "looks for the bytes in the one file",
    "payloads are files in the directory layout alone",
    "what ada then stores is in files of her own group",
    "the directory of a pool has no sticky bit",
    "nothing lies behind the end of a file",
    "a file that is too short is refused when it is opened",
    # builds
    "not a trace build",
    "left out under sanitizers",
    "a sanitizer's own memory hides what is measured here",
    "sanitizers keep memory of their own",
    "what a sanitizer puts between two stores is a fence",
    # CI is root, and installs one NumPy: `./run test` of a user, and the other NumPy, run these
    "root may do anything",
    "NumPy 1 warns, and takes what is left",
    "NumPy 1 has no such arrays",
)

# What no package gives a machine; each of these runs with memory that is gone instead of poisoned.
NOT_IN_THIS_KERNEL = ("this kernel poisons no memory",)

TEST = re.compile(r"^\d+/\d+ Testing: (?P<name>\S+)$")
GTEST_REASON = re.compile(r"^\S+:\d+: Skipped$")
GTEST_NAME = re.compile(r"^\[  SKIPPED \] (?P<name>[^ ,]+)(?:, where .*)? \(\d+ ms\)$")
PYTEST = re.compile(r"^SKIPPED \[\d+\] (?P<name>[^ ]+?):? (?P<why>.*)$")
UNITTEST = re.compile(r"^(?P<name>\w+ \([\w.]+\)).* skipped ['\"](?P<why>.*)['\"]$")
SAID = re.compile(r"^(?:machines: )?skipped[:,] (?P<why>.*)$", re.IGNORECASE)


def skipped_in(log: str) -> list[tuple[str, str]]:
    """The name and the reason of each, in the order of a ctest log."""
    found = []
    test = reason = ""
    is_reason = False
    for line in log.splitlines():
        if match := TEST.match(line):
            test = match["name"]
        elif GTEST_REASON.match(line):
            is_reason, reason = True, ""
        elif is_reason and line and not line.startswith("["):
            reason += (" " if reason else "") + line
        elif match := GTEST_NAME.match(line):
            found.append((f"{test} {match['name']}", reason or "no reason given"))
            is_reason, reason = False, ""
        elif match := (PYTEST.match(line) or UNITTEST.match(line)):
            found.append((f"{test} {match['name']}", match["why"]))
        elif match := SAID.match(line):
            found.append((test, match["why"]))
    return found


def without_a_library(configured: str) -> list[tuple[str, str]]:
    """Of the optional libraries those that CMake did not find."""
    return re.findall(r"^-- (.+): not found, (.+)$", configured, re.MULTILINE)


def not_emulated(configured: str) -> list[tuple[str, str]]:
    """Of the tests that CMake has drawn those that QEMU cannot run, in the preset aarch64."""
    return re.findall(r"^-- not emulated: (.+?): (.+)$", configured, re.MULTILINE)


def is_by_design(why: str) -> bool:
    return why.startswith(BY_DESIGN)


def main(preset: str) -> int:
    log = (ROOT / "build" / preset / "Testing/Temporary/LastTest.log").read_text(errors="replace")
    found = skipped_in(log)
    log_of_cmake = ROOT / f"build/logs/configure-{preset}.log"
    configured = log_of_cmake.read_text() if log_of_cmake.exists() else ""
    if preset == "dev":
        found += without_a_library(configured)
    wanting = sorted({one for one in found if not is_by_design(one[1])})
    for name, why in wanting:
        print(f"skipped: {name}: {why}")
    for name, why in not_emulated(configured):
        print(f"not emulated: {name}: {why}")
    print(f"skipped by design: {sum(is_by_design(why) for _, why in found)}")
    to_be_had = [one for one in wanting if not one[1].startswith(NOT_IN_THIS_KERNEL)]
    if to_be_had and os.environ.get("CI") == "true":
        print(f"{len(to_be_had)} tests of {preset} are skipped for want of something, which CI has to have")
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
