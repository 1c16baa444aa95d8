"""What bench/compare and bench/papers have for all: running programs, rows, tables, what the machine is."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "compare"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "papers"))

import programs  # noqa: F401
import tables  # noqa: F401
from machine import machine  # noqa: F401
from rounds import Rounds  # noqa: F401
from row import Row, as_json, divided, matching, measured, number, reason, table_of, typical  # noqa: F401
