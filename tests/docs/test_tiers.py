"""The pages on tiers: a pool takes each hierarchy, and each command and piece of Python does what it says."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pmemcpy
import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("PMEMCPY_COMMAND") or shutil.which("pmemcpy")
PAGES = [ROOT / "docs" / "tiers.md", *sorted((ROOT / "docs" / "tiers").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MEASURES = "pmemcpy profile"  # all the places of this machine: tested in tests/cli/profile_test.py
FOREVER = "pmemcpy daemon"


def blocks(language: str) -> list:
    """Of all pages, each with the page that it is on."""
    found = [(page, code) for page in PAGES for kind, code in FENCE.findall(page.read_text()) if kind == language]
    return [pytest.param(page, code, id=f"{page.stem}-{number}") for number, (page, code) in enumerate(found)]


def here(yaml: str, folder: Path) -> str:
    """A hierarchy of a page, with directories that there are; what is only a part gets the targets of the first."""
    if "targets:" not in yaml:
        whole = FENCE.search(PAGES[0].read_text(), PAGES[0].read_text().index("```yaml"))
        assert whole and whole[1] == "yaml"
        yaml = whole[2].partition("policy:")[0] + yaml
    for number, path in enumerate(dict.fromkeys(re.findall(r"path: (\S+)", yaml))):
        (folder / f"target{number}").mkdir(exist_ok=True)
        yaml = yaml.replace(f"path: {path}", f"path: {folder / f'target{number}'}")
    return yaml


@pytest.fixture
def folder() -> Iterator[Path]:
    """With a run.pmem that has what the pages speak of, and its hierarchy.yaml."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        made = Path(name)
        with pmemcpy.open(made / "run.pmem", "a", max_bytes=64 << 20) as pool:
            for id in ("u", "mesh", "checkpoint/1"):
                pool[id] = np.arange(1000.0)
        (made / "hierarchy.yaml").write_text(here(blocks("yaml")[0].values[1], made))
        yield made


@pytest.mark.parametrize(("page", "yaml"), blocks("yaml"))
def test_a_pool_takes_each_hierarchy(page: Path, yaml: str, folder: Path) -> None:
    with pmemcpy.open(folder / "run.pmem", "a") as pool:
        pool.set_hierarchy(here(yaml, folder))
        assert pool.hierarchy
        pool["checkpoint/2"] = np.ones(1000)
        assert pool["checkpoint/2"][...].sum() == 1000


@pytest.mark.parametrize(("page", "commands"), blocks("sh"))
def test_each_command_does_what_it_says(page: Path, commands: str, folder: Path) -> None:
    if COMMAND is None:
        pytest.skip("there is no pmemcpy command")
    with pmemcpy.open(folder / "run.pmem", "a") as pool:
        pool.set_hierarchy((folder / "hierarchy.yaml").read_text())
    environment = os.environ | {"PATH": f"{Path(COMMAND).parent}:{os.environ['PATH']}"}
    for line in commands.splitlines():
        if line.startswith(FOREVER):
            interrupt(line, folder, environment)
        elif not line.startswith(MEASURES):
            if "--remove" in line:  # "when all blocks are in the pool again"
                line = f"pmemcpy stage run.pmem / pool && {line}"
            words = ["bash", "-c", line]
            done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, f"{page.name}: {line}\n{done.stderr}"


def interrupt(line: str, folder: Path, environment: dict[str, str]) -> None:
    """What goes on until ^C, once it has done something."""
    with pmemcpy.open(folder / "run.pmem", "a") as pool:
        pool["new"] = np.ones(1000)
    with subprocess.Popen(["bash", "-c", f"exec {line}"], cwd=folder, env=environment) as organizer:
        while "not flushed" in subprocess.check_output([COMMAND, "tiers", folder / "run.pmem"], text=True):
            assert organizer.poll() is None, line
        organizer.send_signal(signal.SIGINT)
        assert organizer.wait(timeout=60) in (0, 130, -signal.SIGINT)


@pytest.mark.parametrize(("page", "code"), blocks("python"))
def test_each_piece_of_python_runs(page: Path, code: str, folder: Path) -> None:
    with pmemcpy.open(folder / "run.pmem", "a") as pool:
        pool.set_hierarchy((folder / "hierarchy.yaml").read_text())
        exec(code, {"pool": pool, "np": np, "pmemcpy": pmemcpy})


def test_there_is_something_to_try() -> None:
    assert min(len(blocks(language)) for language in ("yaml", "sh", "python")) > 0
