"""The notebook displays of pools, groups and arrays: a tree that opens, a table, a small heat map.

One piece of HTML without scripts, links or fonts from elsewhere. Everything from the pool is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .errors import Error
from .info import described, readable_size
from .tree import below

if TYPE_CHECKING:
    from .arrays import Array

_MOST_NAMES = 200  # shown of one group
_MOST_CELLS = 32  # of the heat map, along each dimension

_STYLE = """<style>
.pmemcpy { font-family: sans-serif; font-size: 13px; line-height: 1.5; }
.pmemcpy summary { cursor: pointer; }
.pmemcpy details, .pmemcpy .pmemcpy-leaf { margin-left: 1.2em; }
.pmemcpy .pmemcpy-name { font-weight: 600; }
.pmemcpy .pmemcpy-note { opacity: 0.7; }
.pmemcpy table { font-size: inherit; border-collapse: collapse; margin: 4px 16px 4px 0; float: left; }
.pmemcpy td { padding: 0 8px; text-align: left; }
.pmemcpy svg { border: 1px solid #8888; }
</style>"""

# Dark to light through blue and green, even to the eye and to those who see no colours.
_COLOURS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))


def of_group(pool: _core.Pool, id: str, title: str) -> str:
    """The tree below a group, the first level open."""
    tree = _tree(pool, below(pool, id))
    return f'{_STYLE}<div class="pmemcpy"><details open><summary>{title}</summary>{tree}</details></div>'


def of_array(array: Array) -> str:
    """What is known of an array, its attributes, and a look at its values."""
    info = array.info
    rows = {
        "shape": " x ".join(map(str, array.shape)) or "scalar",
        "dtype": str(array.dtype),
        "size": readable_size(array.nbytes),
        "blocks": info.blocks,
        "codec": info.codec,
        "step": info.step or "none",
        "written": str(info.written_ns)[:19],
    }
    title = _title(array.name, "array")
    tables = _table(rows) + (_table(dict(array.attrs)) if array.attrs else "")
    return (
        f'{_STYLE}<div class="pmemcpy">{title}<div>{tables}{heat_map(array)}</div><div style="clear: both"></div></div>'
    )


def heat_map(array: Array) -> str:
    """A picture of an array of numbers with one dimension or more: of its last two, at the first index of the others.

    Reads at most 32 x 32 elements, evenly spaced. Empty where there is nothing to be seen.
    """
    if array.dtype.kind not in "biuf" or array.size == 0 or array.ndim == 0:
        return ""
    shape = array.shape
    steps = [max(1, -(-extent // _MOST_CELLS)) for extent in shape[-2:]]
    key = (0,) * (len(shape) - len(steps)) + tuple(slice(None, None, step) for step in steps)
    try:
        values = np.atleast_2d(np.asarray(array[key], np.float64))
    except Error:  # not all of it has been stored
        return ""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return ""
    low, high = float(finite.min()), float(finite.max())
    cells = []
    for (i, j), value in np.ndenumerate(values):
        colour = _colour((value - low) / (high - low) if high > low else 0.5) if np.isfinite(value) else "#fff"
        cells.append(f'<rect x="{j}" y="{i}" width="1" height="1" fill="{colour}"/>')
    rows, columns = values.shape
    scale = 160 / max(rows, columns)
    where = f"{array.name}[{', '.join(_shown(index) for index in key)}]"
    size = f'width="{columns * scale:.0f}" height="{max(rows * scale, 12):.0f}" viewBox="0 0 {columns} {rows}"'
    how = 'preserveAspectRatio="none" shape-rendering="crispEdges" role="img"'
    return (
        f'<figure style="margin: 4px; float: left"><svg {size} {how} aria-label="heat map of {escape(where)}">'
        f"{''.join(cells)}</svg>"
        f'<figcaption class="pmemcpy-note">{escape(where)}: {low:.4g} to {high:.4g}</figcaption></figure>'
    )


def _tree(pool: _core.Pool, node: Mapping[str, Any]) -> str:
    lines = []
    for name, what in sorted(node.items())[:_MOST_NAMES]:
        if isinstance(what, dict):
            summary = _title(name + "/", count(len(what)))
            lines.append(f"<details><summary>{summary}</summary>{_tree(pool, what)}</details>")
            continue
        try:
            lines.append(f'<div class="pmemcpy-leaf">{_title(name, described(pool.info(what)))}</div>')
        except Error:
            continue  # erased since it was listed, or damaged
    if len(node) > _MOST_NAMES:
        lines.append(f'<div class="pmemcpy-leaf pmemcpy-note">and {len(node) - _MOST_NAMES} more</div>')
    return "".join(lines)


def count(names: int) -> str:
    return "1 name" if names == 1 else f"{names} names"


def _title(name: str, note: str) -> str:
    return f'<span class="pmemcpy-name">{escape(name)}</span> <span class="pmemcpy-note">{escape(note)}</span>'


def _table(rows: Mapping[str, Any]) -> str:
    lines = (f"<tr><td>{escape(str(name))}</td><td>{escape(_short(value))}</td></tr>" for name, value in rows.items())
    return f"<table>{''.join(lines)}</table>"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _colour(part: float) -> str:
    place = part * (len(_COLOURS) - 1)
    i = min(int(place), len(_COLOURS) - 2)
    mixed = (round(a + (b - a) * (place - i)) for a, b in zip(_COLOURS[i], _COLOURS[i + 1], strict=True))
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def _shown(index: int | slice) -> str:
    if isinstance(index, int):
        return str(index)
    return ":" if index.step == 1 else f"::{index.step}"
