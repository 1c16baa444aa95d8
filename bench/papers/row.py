"""What is said of an experiment: a ratio, its target, the paper's own, and how that is printed.

A ratio is always so that more is better for us: times as fast, times as many a second.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from statistics import median

import tables


@dataclass
class Row:
    name: str
    ratio: float | None
    target: float | None = None
    ours: float | None = None
    theirs: float | None = None
    unit: str = ""
    against: str = ""
    paper: float | None = None  # the same ratio in the paper
    note: str = ""

    @property
    def is_met(self) -> bool | None:
        return None if self.ratio is None or self.target is None else self.ratio >= self.target


def matching(runs: Iterable[dict], **wanted: object) -> list[dict]:
    return [run for run in runs if all(run.get(key) == value for key, value in wanted.items())]


def measured(runs: Iterable[dict], **wanted: object) -> dict[str, list[dict]]:
    """What was done, by contender."""
    found: dict[str, list[dict]] = {}
    for run in matching(runs, **wanted):
        if "unsupported" not in run:
            found.setdefault(run["contender"], []).append(run)
    return found


def reason(runs: Iterable[dict], name: str, **wanted: object) -> str:
    """Why there is nothing of it."""
    for run in runs:
        if run["contender"] != name or "unsupported" not in run:
            continue
        if all(run.get(key, value) == value for key, value in wanted.items()):
            return run["unsupported"]
    return "was not measured"


def typical(runs: list[dict], value: Callable[[dict], float]) -> float:
    return median(value(run) for run in runs)


def divided(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a / max(b, 1e-12)


def as_json(row: Row) -> dict:
    return asdict(row) | {"met": row.is_met}


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def table_of(title: str, rows: list[Row]) -> str:
    cells = [["", "ours", "theirs", "unit", "against", "ratio", "target", "paper", ""]]
    for row in rows:
        ratio = number(row.ratio) + (" missed" if row.is_met is False else "")
        beside = [number(row.ours), number(row.theirs), row.unit, row.against]
        cells.append([row.name, *beside, ratio, number(row.target), number(row.paper), row.note])
    return f"### {title}\n\n{tables.table(cells)}\n"
