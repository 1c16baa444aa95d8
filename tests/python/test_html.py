"""What a notebook shows, in a real browser: it is drawn, it opens, and nothing of the pool becomes part of the page."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pmemcpy
import pytest

LOOK = """<script>
const told = {};
const box = (what) => { const r = what.getBoundingClientRect(); return [Math.round(r.width), Math.round(r.height)]; };
told.pictures = [...document.querySelectorAll("svg")].map(box);
told.colours = [...document.querySelectorAll("svg")].map(
    (svg) => new Set([...svg.querySelectorAll("rect")].map((cell) => getComputedStyle(cell).fill)).size);
told.strangers = document.querySelectorAll("b, img, a, script:not(:last-of-type)").length;
const leaf = [...document.querySelectorAll(".pmemcpy-leaf")].find((line) => line.textContent.includes("deep"));
told.closed = leaf ? leaf.checkVisibility() : null;
document.querySelectorAll("details").forEach((one) => { one.open = true; });
told.opened = leaf ? leaf.checkVisibility() : null;
told.text = document.body.innerText;
document.documentElement.setAttribute("told", JSON.stringify(told));
</script>"""


@pytest.fixture
def look(tmp_path: Path) -> Any:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no chromium")

    def looking(*shown: Any) -> dict[str, Any]:
        page = tmp_path / "page.html"
        body = "<hr>".join(one._repr_html_() for one in shown)
        page.write_text(f"<!doctype html><html><body>{body}{LOOK}</body></html>")
        options = ["--headless", "--disable-gpu", "--dump-dom", f"--user-data-dir={tmp_path / 'browser'}"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        done = subprocess.run([browser, *options, page.as_uri()], capture_output=True, text=True, timeout=60)
        told = re.search(r'<html told="([^"]*)"', done.stdout)
        assert told, done.stderr
        return json.loads(
            told[1].replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        )

    return looking


def test_a_pool_is_a_tree_that_opens(look: Any, path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        pool["u"] = np.zeros((3, 4))
        pool["g/h/deep"] = 1
        pool["<b>bold"] = 2
        told = look(pool, pool["g"])
    assert told["closed"] is False
    assert told["opened"] is True
    assert "u float64 (3, 4), 96 B" in told["text"]
    assert "<b>bold" in told["text"]
    assert told["strangers"] == 0


def test_an_array_shows_its_values_and_attributes(look: Any, path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        pool["wave"] = np.sin(np.linspace(0, 6, 100))[:, None] * np.ones((1, 50))
        pool["wave"].attrs["long_name"] = "<img src=x onerror=alert(1)> & more"
        told = look(pool["wave"])
    assert told["pictures"] == [[162, 162]]  # with a border
    assert told["colours"][0] > 20
    assert "wave[::4, ::2]: -0.99" in told["text"]
    assert "<img src=x onerror=alert(1)> & more" in told["text"]
    assert told["strangers"] == 0


@pytest.mark.parametrize(
    ("array", "pictures"),
    [
        (np.zeros((2, 3)), 1),
        (np.array([np.nan, np.inf]), 0),
        (np.array([1.0, np.nan]), 1),
        (np.arange(2 * 3 * 4).reshape(2, 3, 4), 1),
        (np.array([True, False]), 1),
        (np.zeros((0, 3)), 0),
        (np.array(2.5), 0),
        (np.array(["a", "b"]), 0),
        (np.zeros(3, "c16"), 0),
        (np.zeros(3, [("x", "f8")]), 0),
    ],
)
def test_every_array_shows_itself(path: str, array: np.ndarray[Any, Any], pictures: int) -> None:
    with pmemcpy.open(path, "a") as pool:
        pool["a"] = array
        assert pool["a"]._repr_html_().count("<svg") == pictures
        pool.create("never stored", (3, 3))
        assert "<svg" not in pool["never stored"]._repr_html_()


def test_a_large_group_is_cut_short(path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        for i in range(250):
            pool[f"n{i}"] = i
        assert "and 50 more" in pool._repr_html_()
