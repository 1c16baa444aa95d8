"""How Sphinx makes one site of the repository's Markdown, the notebooks and the Python package: `./run docs`.

The source folder is the repository, so a link that works where the code is hosted works in the site too, and no page is
written twice. The package is imported from where PYTHONPATH finds it.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import tomllib
from importlib.metadata import entry_points
from inspect import cleandoc
from pathlib import Path
from typing import Any

import matplotlib.font_manager  # noqa: F401  # its list of fonts is made once, here, and not announced in a notebook
import pmemcpy
from pmemcpy import values
from sphinx.addnodes import pending_xref

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from make_reference import LABEL  # noqa: E402

# ---- what it is made of ----

project = "pMEMCPY"
version = release = pmemcpy.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**", "src/*/README.md", "faces/*/README.md", "bench/*/README.md", "tests/*/README.md"]
exclude_patterns = ["build", "docs/conf.py"]
myst_heading_anchors = 4
myst_enable_extensions = ["substitution"]
myst_substitutions = {"values": cleandoc(values.__doc__).partition("\n\n")[2]}  # a table, for docs/python.md
highlight_language = "none"  # what is indented is C++, Python or a shell's, and does not say so

# What the sidebar shows below a page that lists others. In the page itself a code host would show it as it is written.
BELOW = {
    "ARCHITECTURE": ["/src/*/README", "/faces/*/README", "/bench/*/README", "/tests/*/README"],
    "docs/decisions/README": ["0*"],
    "docs/notebooks/README": ["0*"],
    "docs/tiers": ["tiers/modes", "tiers/*-*", "tiers/tuning"],
}

# ---- what it looks like ----

html_theme = "furo"
html_title = f"pMEMCPY {version}"
html_static_path = ["site/site.css"]
html_css_files = ["site.css"]
html_extra_path = ["site/index.html"]
html_copy_source = html_show_sourcelink = html_show_copyright = False

# ---- notebooks ----

# Each runs anew, in an empty folder. One that fails is a warning with its traceback, and so an error by -W.
# Not every file system takes a pool: memory does.
nb_execution_mode = "force"
nb_execution_show_tb = True
nb_execution_in_temp = True
nb_execution_timeout = 60
nb_merge_streams = True
if Path("/dev/shm").is_dir():
    tempfile.tempdir = "/dev/shm"


def let_xarray_find_its_engine() -> None:
    """xarray asks the installed packages for engines, and the package in a build folder is not installed. So notebooks
    are told of it in a folder that nobody else looks into: pip would take it for an installation."""
    if entry_points(group="xarray.backends", name="pmemcpy"):
        return
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    packages = ROOT / "build" / "docs-packages"
    folder = packages / f"pmemcpy-{described['version']}.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: pmemcpy\nVersion: {described['version']}\n")
    engines = (f"{name} = {place}\n" for name, place in described["entry-points"]["xarray.backends"].items())
    (folder / "entry_points.txt").write_text("[xarray.backends]\n" + "".join(engines))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(packages)]))


let_xarray_find_its_engine()

# ---- the Python reference ----

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
default_role = "literal"  # `so` in a docstring is code, as in Markdown
WITHIN = re.compile(r" ((?:Shape|Units|Crash|Sharing|Errors|Cost): )")  # a label after the first sentence
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!pmemcpy).*|pmemcpy\._core\..*")]  # other projects' names lead nowhere


def source_read(app: Any, name: str, source: list[str]) -> None:
    if below := BELOW.get(name):
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n" + "\n".join(below) + "\n```\n"


def signature(app: Any, what: str, name: str, *given: Any) -> tuple[str, None] | None:
    """Of the constructors only one is for users; pools, arrays and the rest are made by what opens and finds them."""
    return ("", None) if what == "class" and name != "pmemcpy.zarr.ZarrStore" else None


def docstring(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """The labelled parts of a docstring (Shape, Crash, Errors...) as a list of fields."""
    made: list[str] = []
    in_fields = False
    for line in WITHIN.sub("\n\\1", "\n".join(lines)).split("\n"):
        if label := LABEL.match(line):
            if not in_fields:
                made.append("")
            in_fields = True
            text = f"``{label[2]}``" if label[1] == "Example" else label[2]
            made.append(f":{label[1]}: {text}")
        elif in_fields and line.strip():
            made.append("    " + line.strip())
        else:
            in_fields = False
            made.append(line)
    lines[:] = made


def missing_reference(app: Any, env: Any, node: Any, content: Any) -> Any:
    """A signature names a class by the module that has it, the reference by the package."""
    if node["refdomain"] != "py" or not node["reftarget"].startswith("pmemcpy."):
        return None
    short = "pmemcpy." + node["reftarget"].rpartition(".")[2]
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], short, node, content)


def doctree_read(app: Any, doctree: Any) -> None:
    """A link to a folder of the repository leads somewhere only where the code is hosted."""
    here = Path(app.env.doc2path(app.env.current_document.docname)).parent
    for link in list(doctree.findall(pending_xref)):
        if link["reftype"] == "myst" and link["refdomain"] is None and (here / link["reftarget"]).is_dir():
            link.replace_self(link.children)


def setup(app: Any) -> None:
    app.connect("source-read", source_read)
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-process-docstring", docstring)
    app.connect("doctree-read", doctree_read)
    app.connect("missing-reference", missing_reference)
