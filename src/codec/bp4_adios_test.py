"""Reads with ADIOS itself what bp4_sample.cpp has written, and compares every value.

usage: bp4_adios_test.py SAMPLE_PROGRAM
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


def read_complex(file, name, into):
    """What FileReader.read() would do, had it complex numbers in its table of types."""
    variable = file.inquire_variable(name)
    if into.ndim:
        variable.set_selection([[0], list(into.shape)])
    file.engine.get(variable, into, adios2.bindings.Mode.Sync)
    return into


def check_types(path):
    ramps = {
        "i8": ("int8", -2), "i16": ("int16", -300), "i32": ("int32", -70000), "i64": ("int64", -2),
        "u8": ("uint8", 250), "u16": ("uint16", 65000), "u32": ("uint32", 7), "u64": ("uint64", 7),
        "f32": ("float32", -2), "f64": ("float64", -2),
    }  # fmt: skip
    with adios2.FileReader(str(path)) as file:
        variables = file.available_variables()
        assert len(variables) == 16, sorted(variables)
        for name, (kind, first) in ramps.items():
            expected = (first + np.arange(5)).astype(kind)
            found = file.read(name)
            assert found.dtype == expected.dtype, (name, found.dtype)
            np.testing.assert_array_equal(found, expected)
            assert float(variables[name]["Min"]) == expected.min(), variables[name]
            assert float(variables[name]["Max"]) == expected.max(), variables[name]
        c64 = read_complex(file, "c64", np.zeros(2, "complex64"))
        np.testing.assert_array_equal(c64, np.array([1 + 2j, 3 - 4j], "complex64"))
        c128 = read_complex(file, "c128", np.zeros(3, "complex128"))
        np.testing.assert_array_equal(c128, [1 + 2j, 3 - 4j, 0.5j])
        assert file.read("text") == "pMEMCPY"
        assert file.read("pi") == 3.25
        assert file.read("answer") == 42
        assert read_complex(file, "root", np.zeros((), "complex128")) == 1j
        assert file.read_attribute("title") == "a sample"
        assert list(file.read_attribute("dimensions")) == ["depth", "latitude", "longitude"]
        np.testing.assert_array_equal(file.read_attribute("levels"), [0.5, 1.5, 2.5])
        assert file.read_attribute("i32/flag") == 7


def check_steps(path):
    grid = 10.0 * np.arange(4)[:, None] + np.arange(6)[None, :]
    with adios2.FileReader(str(path)) as file:
        variables = file.available_variables()
        assert variables["group/grid"]["Shape"] == "4, 6"
        assert variables["group/grid"]["AvailableStepsCount"] == "3"
        assert float(variables["group/grid"]["Min"]) == 0
        assert float(variables["group/grid"]["Max"]) == 2035
        assert variables["note"]["AvailableStepsCount"] == "1"
        for step in range(3):
            expected = 1000 * step + grid
            selection = {"start": [0, 0], "count": [4, 6], "step_selection": [step, 1]}
            np.testing.assert_array_equal(file.read("group/grid", **selection).reshape(4, 6), expected)
            # Across all four blocks, and not all of any.
            inner = file.read("group/grid", start=[1, 2], count=[2, 3], step_selection=[step, 1])
            np.testing.assert_array_equal(inner.reshape(2, 3), expected[1:3, 2:5])
            assert np.ravel(file.read("time", step_selection=[step, 1]))[0] == 0.25 * step
            # An array in Fortran order shows up in C order with its dimensions reversed.
            fortran = file.read("fortran", start=[0, 0], count=[3, 2], step_selection=[step, 1])
            np.testing.assert_array_equal(fortran.reshape(3, 2), 100 * step + np.arange(6).reshape(3, 2))
        assert file.read("note") == "end"
        check_blocks(file)

    with adios2.Stream(str(path), "r") as stream:
        steps = 0
        for _ in stream.steps():
            np.testing.assert_array_equal(stream.read("group/grid"), 1000 * steps + grid)
            assert stream.read("time") == 0.25 * steps
            steps += 1
        assert steps == 3


def check_blocks(file):
    for step in range(3):
        blocks = file.engine.blocks_info("group/grid", step)
        assert len(blocks) == 4, blocks
        for number, block in enumerate(blocks):
            row, column = number // 2 * 2, number % 2 * 3
            least = 1000 * step + 10 * row + column
            assert block["Start"] == f"{row},{column}", block
            assert block["Count"] == "2,3", block
            assert float(block["Min"]) == least, block
            assert float(block["Max"]) == least + 12, block


def main():
    with tempfile.TemporaryDirectory() as directory:
        types, steps = Path(directory) / "types.bp", Path(directory) / "steps.bp"
        subprocess.run([sys.argv[1], str(types), str(steps)], check=True)
        check_types(types)
        check_steps(steps)
        again = subprocess.run([sys.argv[1], str(types), str(steps)], capture_output=True, text=True)
        assert again.returncode == 1 and "exists" in again.stderr, again
    print(f"adios2 {adios2.__version__} read 16 variables of all types, 4 attributes, and 3 steps of 4 blocks")


main()
