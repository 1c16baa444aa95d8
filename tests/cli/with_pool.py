"""What the tests of the command stand on: pools, made by programs, and the real command run on them.

usage: ..._test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

import json
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PMEMCPY, FILL, FILL_KINDS = sys.argv[1:4]
SHM = Path("/dev/shm")

# What is in the pool of fill.cpp.
TEMP = [[10.0 * i + j for j in range(6)] for i in range(4)]
IDS = ["answer", "columns", "cube", "hole", "line", "list", "name", "ocean/TEMP", "particle", "settings", "when"]


def run(*arguments: object, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    """The command's exit status and output, as bytes that are text or not."""
    words = [PMEMCPY, *(str(argument) for argument in arguments)]
    return subprocess.run(words, capture_output=True, timeout=60, env={**os.environ, **(environment or {})})


def need_terminals() -> None:
    """Skips the test in a bare root without them."""
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError as error:
        raise unittest.SkipTest(f"this machine has no pseudo-terminals: {error}") from None


def run_on_terminal(*arguments: object, environment: dict[str, str] | None = None) -> str:
    """What the command prints to a terminal."""
    need_terminals()
    screen, inside = pty.openpty()
    words = [PMEMCPY, *(str(argument) for argument in arguments)]
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "", **(environment or {})}
    try:
        process = subprocess.Popen(words, stdout=inside, stderr=inside, env=environment)
    finally:
        os.close(inside)
    output = b""
    try:
        while part := os.read(screen, 4096):
            output += part
    except OSError:  # what Linux says when the last one at the other end has gone
        pass
    os.close(screen)
    process.wait(timeout=60)
    return output.decode()


class WithPool(unittest.TestCase):
    """A folder for pools, and one pool that fill.cpp made."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pmemcpy-cli-", dir=SHM if SHM.is_dir() else None))
        self.addCleanup(shutil.rmtree, self.folder)
        self.pool = self.folder / "pool"
        self.fill()

    def fill(self) -> None:
        subprocess.run([FILL, self.pool], check=True, timeout=60)

    def text(self, *arguments: object, status: int = 0) -> str:
        done = run(*arguments)
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))
        return done.stdout.decode()

    def json(self, *arguments: object, status: int = 0) -> object:
        return json.loads(self.text(*arguments, "--json", status=status))

    def refused(self, status: int, *arguments: object) -> str:
        """What a call that fails says on stderr."""
        done = run(*arguments)
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))
        said = done.stderr.decode()
        self.assertTrue(said.startswith("pmemcpy: "), said)
        return said

    def cut_off(self, *arguments: object) -> None:
        """The command ends quietly when nobody reads on."""
        words = [PMEMCPY, *(str(argument) for argument in arguments)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(10)
        process.stdout.close()
        said = process.stderr.read()
        process.stderr.close()
        self.assertEqual((process.wait(timeout=60), said), (-13, b""))  # by SIGPIPE, as every command


class WithKinds(WithPool):
    """The pool is one of fill_kinds.cpp."""

    def fill(self) -> None:
        subprocess.run([FILL_KINDS, self.pool], check=True, timeout=60)


class WithTwoPools(WithKinds):
    """Another pool is the same, and a third one is changed."""

    def fill(self) -> None:
        super().fill()
        self.same = self.folder / "same"
        self.changed = self.folder / "changed"
        subprocess.run([FILL_KINDS, self.same], check=True, timeout=60)
        subprocess.run([FILL_KINDS, self.changed, "changed"], check=True, timeout=60)


def empty_pool(case: WithPool) -> Path:
    """A pool with nothing in it."""
    path = case.folder / "nothing"
    case.text("create", path, "--size", "16MiB", "--chunk", "64KiB")
    return path


def main() -> None:
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
