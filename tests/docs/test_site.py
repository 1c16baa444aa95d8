"""The site: it builds without a warning, every notebook runs, and a reader's browser asks nothing of other hosts."""

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pmemcpy
import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(path.stem for path in (ROOT / "docs" / "notebooks").glob("[0-9]*.md"))
LOOK = """<script>
addEventListener("load", () => {
    const pictures = [...document.querySelectorAll(".cell_output img")].map((one) => one.naturalWidth);
    const told = {pictures, wide: document.documentElement.scrollWidth - innerWidth, text: document.body.innerText};
    document.documentElement.setAttribute("told", JSON.stringify(told));
});
</script>"""


def build(source: Path, into: Path) -> subprocess.CompletedProcess[str]:
    options = ["-W", "-q", "-j", "auto", "-b", "html", "-c", ROOT / "docs"]
    command = [sys.executable, "-m", "sphinx", *options, source, into]
    return subprocess.run(command, capture_output=True, text=True, timeout=240)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "html"  # what was executed goes beside it
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_has_every_document(site: Path) -> None:
    for page in [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *ROOT.glob("src/*/README.md")]:
        assert (site / page.relative_to(ROOT)).with_suffix(".html").is_file(), page
    assert 'url=docs/index.html"' in (site / "index.html").read_text()


class Fetched(HTMLParser):
    """What a browser loads with a page: not where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag != "a":
            self.urls += [value or "" for name, value in attributes if name in ("src", "srcset", "href", "data")]


def test_asks_nothing_of_other_hosts(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        fetched = Fetched()
        fetched.feed(page.read_text())
        assert fetched.urls or page == site / "index.html"  # which only leads on
        assert [url for url in fetched.urls if re.match(r"(\w+:)?//", url)] == [], page
    for sheet in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", sheet.read_text()) == [], sheet


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_cell_of_every_notebook_has_run(site: Path, name: str) -> None:
    notebook = json.loads((site.parent / "jupyter_execute" / "docs" / "notebooks" / f"{name}.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert outputs
    assert [output for output in outputs if output.get("name") == "stderr"] == []


@pytest.mark.parametrize("name", ["notebooks/03_follow", "notebooks/02_xarray", "coming-from/h5py", "python"])
def test_looks_as_it_should_in_a_browser(site: Path, name: str, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no chromium")
    told = looked_at(site / "docs" / f"{name}.html", browser, tmp_path)
    assert told["wide"] <= 0  # nothing reaches over the edge
    assert "Traceback" not in told["text"]
    if name == "notebooks/03_follow":
        assert len(told["pictures"]) == 1 and told["pictures"][0] > 500
        assert "the simulation ended with 0" in told["text"]


def looked_at(page: Path, browser: str, folder: Path) -> dict[str, Any]:
    copy = page.with_name(f"look-{page.name}")
    copy.write_text(page.read_text().replace("</body>", f"{LOOK}</body>"))
    options = ["--headless", "--disable-gpu", "--window-size=1280,1000", "--dump-dom", f"--user-data-dir={folder}"]
    if os.geteuid() == 0:
        options.append("--no-sandbox")
    done = subprocess.run([browser, *options, copy.as_uri()], capture_output=True, text=True, timeout=60)
    copy.unlink()
    told = re.search(r'<html[^>]* told="([^"]*)"', done.stdout)
    assert told, done.stderr
    return json.loads(told[1].replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def test_the_references_are_in_it(site: Path) -> None:
    python = (site / "docs" / "python.html").read_text()
    for name in pmemcpy.__all__:
        assert name.startswith("__") or f'id="pmemcpy.{name}"' in python, name
    for member in ("Pool.step", "Group.watch", "Array.view", "Array.info", "Block.minimum"):
        assert f'id="pmemcpy.{member}"' in python, member
    assert "void munmap();" in re.sub(r"<[^>]*>", "", (site / "docs" / "reference.html").read_text())


def test_a_notebook_that_fails_fails_the_build(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "index.md"
    page.parent.mkdir()
    head = (ROOT / "docs" / "notebooks" / f"{NOTEBOOKS[0]}.md").read_text().split("\n---\n")[0]
    page.write_text(f"{head}\n---\n# Fails\n\n```{{code-cell}} ipython3\n1 / 0\n```\n")
    done = build(tmp_path, tmp_path / "site" / "html")
    assert done.returncode != 0
    assert "ZeroDivisionError" in done.stderr
