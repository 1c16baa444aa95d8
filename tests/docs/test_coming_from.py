"""The pages on coming from elsewhere show the same ten tasks, and show all of what is tested."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "coming-from").glob("*.md"))
TAG = re.compile(r"^ *# \[(\w+)\]$", re.MULTILINE)
TASK = re.compile(r"^## \d+\. (.*)$", re.MULTILINE)


def test_there_are_four() -> None:
    assert [page.stem for page in PAGES] == ["h5py", "memmap", "netcdf4", "zarr"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_has_the_same_ten_tasks_and_ends_honestly(page: Path) -> None:
    tasks = TASK.findall(page.read_text())
    assert len(tasks) == 10
    assert tasks == TASK.findall(PAGES[0].read_text())
    assert re.findall(r"^## (What .*)$", page.read_text(), re.MULTILINE) == [
        "What you will miss",
        "What to beware of",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_quotes_both_versions_of_every_task(page: Path) -> None:
    quoted = re.findall(r"<!-- quote examples/coming_from/by_(\w+)\.py (\w+) -->", page.read_text())
    for version in (page.stem, "pmemcpy"):
        source = (ROOT / "examples" / "coming_from" / f"by_{version}.py").read_text()
        tested = list(dict.fromkeys(TAG.findall(source)))
        assert len(tested) == 10
        assert [tag for by, tag in quoted if by == version] == tested
