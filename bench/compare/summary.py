"""From seconds to what is said: medians, spreads, and ratios to the limit of the same run."""

from collections import defaultdict
from dataclasses import dataclass
from statistics import median

Key = tuple[str, int, str, str]  # work, ranks, contender, phase

LIMITS = ("memcpy", "streaming")


@dataclass(frozen=True)
class Figure:
    """What one contender reached in one phase of one work."""

    gigabytes_a_second: float
    slowest: float
    fastest: float
    page_faults: float  # of one repetition, all ranks together
    of_limit: float | None


def figures(runs: list[dict]) -> dict[Key, Figure]:
    seconds: dict[Key, list[float]] = defaultdict(list)
    faults: dict[Key, list[float]] = defaultdict(list)
    size: dict[Key, int] = {}
    for run in runs:
        if "seconds" not in run:
            continue
        key = (run["work"], run["ranks"], run["contender"], run["phase"])
        seconds[key] += run["seconds"]
        faults[key].append(run["page_faults"] / len(run["seconds"]))
        size[key] = run["bytes"]

    def rate(key: Key) -> float:
        return size[key] / median(seconds[key]) / 1e9

    def limit(work: str, ranks: int, phase: str) -> float | None:
        """The fastest way to copy as many bytes, to or from a warm mapping."""
        way = "read-open" if phase.startswith("read") else "overwrite-open"
        found = [rate(key) for name in LIMITS if (key := (work, ranks, name, way)) in seconds]
        return max(found, default=None)

    all_figures = {}
    for key, taken in seconds.items():
        work, ranks, _, phase = key
        most = limit(work, ranks, phase)
        all_figures[key] = Figure(
            rate(key),
            size[key] / max(taken) / 1e9,
            size[key] / min(taken) / 1e9,
            median(faults[key]),
            rate(key) / most if most else None,
        )
    return all_figures


def unsupported(runs: list[dict]) -> dict[Key, str]:
    return {
        (run["work"], run["ranks"], run["contender"], run["phase"]): run["unsupported"]
        for run in runs
        if "unsupported" in run
    }


Object = tuple[int, int, str, str]  # size, processes, contender, work
REFERENCE = "lmdb"  # a transaction per operation, without syncs: what each rate is told as a multiple of


@dataclass(frozen=True)
class Rate:
    """How fast one contender did one work on objects of one size."""

    per_second: float
    slowest: float
    fastest: float
    of_reference: float | None


def rates(runs: list[dict]) -> dict[Object, Rate]:
    taken: dict[Object, list[float]] = defaultdict(list)  # operations a second
    for run in runs:
        if "seconds" in run:
            key = (run["size"], run["processes"], run["contender"], run["work"])
            taken[key].append(run["count"] / run["seconds"])
    all_rates = {}
    for (size, processes, contender, work), found in taken.items():
        reference = taken.get((size, processes, REFERENCE, work))
        all_rates[size, processes, contender, work] = Rate(
            median(found), min(found), max(found), median(found) / median(reference) if reference else None
        )
    return all_rates


Look = tuple[int, str, str]  # objects, contender, work


def looks(runs: list[dict]) -> dict[Look, float]:
    """Median seconds to open, or list, so many names."""
    taken: dict[Look, list[float]] = defaultdict(list)
    for run in runs:
        if "seconds" in run:
            taken[run["objects"], run["contender"], run["work"]].append(run["seconds"])
    return {key: median(seconds) for key, seconds in taken.items()}


@dataclass(frozen=True)
class Series:
    """Steps a second that were appended, and read; seconds that a step was under way: median, one in ten, longest; of a
    thousand steps those that the library told of before they were there."""

    appended: float
    followed: float
    delays: tuple[float, float, float]
    not_there: float


def series(runs: list[dict], size: int, contender: str) -> Series | None:
    """Medians of the repetitions; None where there is none."""
    mine = [run for run in runs if (run["size"], run["contender"]) == (size, contender) and "seconds" in run]
    fast = [run for run in mine if run["pause_us"] == 0]
    slow = [run for run in mine if run["pause_us"] != 0]
    if not fast or not slow:
        return None
    of_each = [median(run["delay_seconds"][i] for run in slow) for i in range(3)]
    return Series(
        median(run["steps"] / run["seconds"] for run in fast),
        median(run["steps"] / run["followed_seconds"] for run in fast),
        (of_each[0], of_each[1], of_each[2]),
        1000 * sum(run["not_there"] for run in mine) / sum(run["steps"] for run in mine),
    )


def reasons(runs: list[dict]) -> dict[tuple[str, str], set[str]]:
    """Why there is a dash, by contender and reason the works in question."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for run in runs:
        if "unsupported" in run:
            found[run["contender"], run["unsupported"]].add(run["work"])
    return found
