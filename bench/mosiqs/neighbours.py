"""What bench/compare has for every comparison: running a program, tables in Markdown, what the machine is."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "compare"))

import programs  # noqa: F401
import tables  # noqa: F401
from machine import machine  # noqa: F401
