"""What the tests of import and export share: the command, and folders in memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SHM = Path("/dev/shm")
COMMAND = os.environ["PMEMCPY_COMMAND"]
LONG = "PMEMCPY_LONG" in os.environ
ROWS = 4096 if LONG else 512  # of a MiB each, in what is large
MOST_OWN_KIB = (256 if LONG else 128) << 10


class Command:
    """`pmemcpy`, run in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, check=False
        )

    def __call__(self, *arguments: object, warnings: list[str] | None = None) -> dict[str, Any]:
        """What it prints as JSON, of several lines the last.

        `warnings`: each is a part of one that it gives, and there are no others.
        """
        done = self.run(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        reports: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
        given = [warning for report in reports for warning in report.get("warnings", [])]
        expected = warnings or []
        assert len(given) == len(expected), given
        for part in expected:
            assert any(part in warning for warning in given), (part, given)
        return reports[-1]

    def in_little_memory(self, *arguments: object) -> None:
        """It does so, and what the process has for itself stays below MOST_OWN_KIB."""
        running = subprocess.Popen([COMMAND, *map(str, arguments)], cwd=self.folder, stdout=subprocess.DEVNULL)
        most = 0
        while running.poll() is None:
            try:
                status = Path(f"/proc/{running.pid}/status").read_text()
            except (FileNotFoundError, ProcessLookupError):
                break
            own = [line for line in status.splitlines() if line.startswith("RssAnon")]
            most = max(most, int(own[0].split()[1]) if own else 0)
            time.sleep(0.002)
        assert running.wait() == 0
        assert 0 < most < MOST_OWN_KIB, f"{most} KiB"

    def fails(self, *arguments: object, code: str, words: list[str]) -> None:
        """It says an error of that code with these words, and nothing else happens."""
        done = self.run(*arguments, "--json")
        assert done.returncode not in (0, -6, -11), done
        error = json.loads(done.stderr.splitlines()[-1])["error"]
        assert error["code"] == code, error
        for word in words:
            assert word in error["message"], (word, error["message"])

    def there_and_back(self, file: Path, back: str, warnings: list[str] | None = None) -> Path:
        """A file into a new pool and out of it again."""
        pool = self.folder / f"{file.name}.pmem"
        self("import", file, pool, "--max-size", "1GiB", warnings=warnings)
        self("export", pool, self.folder / back)
        assert self("verify", pool)["damage"] == []
        return self.folder / back


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="pmemcpy-exchange-", dir=SHM if SHM.is_dir() else None))
    yield made
    shutil.rmtree(made)


@pytest.fixture
def command(folder: Path) -> Command:
    return Command(folder)
