"""Each task runs in a new folder, in memory, as a program does that is started there."""

import importlib
import multiprocessing
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FORK = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory of the test."""
    memory = Path("/dev/shm")
    path = Path(tempfile.mkdtemp(prefix="pmemcpy-coming-from-", dir=memory if memory.is_dir() else None))
    monkeypatch.chdir(path)
    yield path
    shutil.rmtree(path)


@pytest.fixture(params=["h5py", "netcdf4", "zarr", "memmap", "pmemcpy"])
def by(request: pytest.FixtureRequest) -> ModuleType:
    """The ten tasks by one of the packages."""
    return importlib.import_module(f"by_{request.param}")


@pytest.fixture
def killed_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str, Callable[[], None]], None]:
    """killed_at(Path, "replace", work): work() in another process, which is killed where it calls Path.replace."""

    def die(*given: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def run(place: Any, name: str, work: Callable[[], None]) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(place, name, die)
            child = FORK.Process(target=work)
            child.start()
            child.join()
        assert child.exitcode == -signal.SIGKILL

    return run
