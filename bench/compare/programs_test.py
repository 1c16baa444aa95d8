"""Programs are run for a limited time, and leave nothing behind."""

import sys
import time
from pathlib import Path

import programs
import pytest


def has_ended(file: Path) -> bool:
    """Whether the process whose number is in the file ends before long."""
    number = int(file.read_text())
    for _ in range(600):
        stat = Path(f"/proc/{number}/stat")
        if not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return True
        time.sleep(0.1)
    return False


def test_what_a_program_started_ends_with_it_when_its_time_is_over(tmp_path):
    number = tmp_path / "number"
    with pytest.raises(programs.TookTooLong):
        programs.run(["sh", "-c", f"sleep 1000 & echo $! > {number}.new; mv {number}.new {number}; wait"], 3)
    assert has_ended(number)


def test_what_a_program_says_last_is_its_result():
    assert programs.run([sys.executable, "-c", 'print("much"); print(\'{"seconds": 1}\')']) == {"seconds": 1}


def test_what_a_program_that_failed_has_said_is_told():
    with pytest.raises(programs.Failed, match="no such pool"):
        programs.run(["sh", "-c", "echo no such pool >&2; exit 1"])
