"""What the tests of the Python package share: pools in memory and on a disk, as a file and as a directory."""

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pmemcpy
import pytest

SHM = Path("/dev/shm")
_numbers = itertools.count()


@pytest.fixture(scope="session")
def memory() -> Iterator[Path]:
    """A folder in memory, or where there is none of it on disk."""
    folder = Path(tempfile.mkdtemp(prefix="pmemcpy-python-", dir=SHM if SHM.is_dir() else None))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def path(memory: Path) -> str:
    """Where no pool is yet."""
    return str(memory / f"{next(_numbers)}.pmem")


@pytest.fixture(params=["file", "directory"])
def pool(path: str, request: pytest.FixtureRequest) -> Iterator[pmemcpy.Pool]:
    """A new pool, in both layouts."""
    with pmemcpy.open(path, "x", layout=request.param, max_bytes=1 << 28) as pool:
        yield pool


@pytest.fixture(scope="module")
def lasting(memory: Path) -> Iterator[pmemcpy.Pool]:
    """One pool for all examples of a test by hypothesis."""
    with pmemcpy.open(str(memory / f"{next(_numbers)}.pmem"), "x", max_bytes=1 << 30) as pool:
        yield pool
