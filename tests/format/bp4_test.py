"""Reads with ADIOS itself what a pool holds, wrapped as a BP4 file, and compares every value.

usage: bp4_test.py PROGRAM
"""

import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import adios2
    import numpy as np
except ImportError as missing:
    print(f"SKIPPED: {missing}; install the PyPI packages adios2 and numpy to run this test")
    sys.exit(77)


def main(program):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder) / "run.bp"
        command = [program, str(Path(folder) / "run.pmem"), str(path)]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        assert run.stdout.startswith("opaque: opaque"), run.stdout
        with adios2.FileReader(str(path)) as file:
            variables = file.available_variables()
            assert set(variables) == {"u", "packed", "t", "answer", "title", "levels"}, variables
            u = np.arange(12.0)
            np.testing.assert_array_equal(file.read("u"), np.concatenate([u, 100 + u]).reshape(4, 6))
            assert float(variables["u"]["Min"]) == 0 and float(variables["u"]["Max"]) == 111, variables["u"]
            np.testing.assert_array_equal(file.read("packed"), np.full(1000, 2.5, "float32"))
            assert file.read("answer") == 42
            assert file.read("title") == "a run"
            np.testing.assert_array_equal(file.read("levels"), [0.5, 1.5])
            assert file.read_attribute("u/units") == "m/s"
            assert int(variables["t"]["AvailableStepsCount"]) == 3, variables["t"]
            last = file.read("t", start=[2, 0], count=[1, 3], step_selection=[2, 1])
            np.testing.assert_array_equal(np.asarray(last).reshape(-1), [3, 3, 3])
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main(sys.argv[1])
