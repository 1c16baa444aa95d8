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
