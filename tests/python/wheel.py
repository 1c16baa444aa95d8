"""Builds the wheel, installs it into a new environment, and works with it there.

usage: wheel.py SOURCE FOLDER      the project; where to build, kept between runs

Needs scikit-build-core, nanobind, numpy and xarray in the Python that runs this; the new environment sees those.
"""

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import numpy

USE = """
import numpy as np, pmemcpy, sys, tempfile
path = tempfile.mkdtemp() + "/run.pmem"
with pmemcpy.open(path, "a") as pool:
    pool["u"] = np.arange(1200.0).reshape(30, 40)
    pool["u"][10:20, ::2] = np.zeros((10, 20))
    pool["cfg"] = {"dt": 0.1}
with pmemcpy.open(path, "r") as pool:
    assert pool["u"][...].sum() == np.arange(1200.0).sum() - np.arange(1200.0).reshape(30, 40)[10:20, ::2].sum()
    assert pool["cfg"]["dt"] == 0.1
assert "site-packages" in pmemcpy.__file__, pmemcpy.__file__
assert "mpi4py" not in sys.modules
import xarray as xr
with xr.open_dataset(path, engine="pmemcpy") as found:  # by its entry point
    assert found["u"].shape == (30, 40)
print(pmemcpy.__version__)
"""


def main() -> None:
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    wheels = folder / "wheels"
    for old in wheels.glob("*.whl"):
        old.unlink()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = [
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        wheels,
        f"--config-settings=build-dir={folder / 'build'}",
    ]
    subprocess.run([*pip, *build, source], check=True)
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        names = set(files.namelist())
    for needed in ("pmemcpy/__init__.py", "pmemcpy/_core.pyi", "pmemcpy/py.typed"):
        assert needed in names, (needed, names)
    assert not any("test" in name for name in names), names

    fresh = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", fresh], check=True)
    packages = Path(sysconfig.get_path("platlib", vars={"base": str(fresh), "platbase": str(fresh)}))
    (packages / "tools.pth").write_text(f"{Path(numpy.__file__).parents[1]}\n")
    subprocess.run([*pip, "--python", fresh / "bin" / "python", "install", "-q", "--no-deps", wheel], check=True)
    subprocess.run([fresh / "bin" / "python", "-I", "-c", USE], check=True, cwd=folder)


if __name__ == "__main__":
    main()
