"""Results as Markdown."""

from collections.abc import Iterable

import summary
from summary import Figure, Rate


def columns_of(figures: dict[summary.Key, Figure], work: str, ranks: int, phases: list[str]) -> list[str]:
    there = {phase for (w, r, _, phase) in figures if (w, r) == (work, ranks)}
    return [phase for phase in phases if phase in there]


def beside(text: str, ratio: float | None) -> str:
    """The figure, and in brackets its ratio where there is one."""
    return text if ratio is None else f"{text} ({ratio:.2f})"


def cell(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    return beside(f"{figure.gigabytes_a_second:.2f}", figure.of_limit)


def table(rows: list[list[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        padded = [
            text.ljust(width) if column == 0 else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("| " + " | ".join(padded) + " |")
        if number == 0:
            lines.append("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def in_order(names: Iterable[str]) -> list[str]:
    """The limit first, then pMEMCPY."""
    return sorted(names, key=lambda name: (name not in summary.LIMITS, not name.startswith("pmemcpy"), name))


def arrays(runs: list[dict], phases: dict[str, str]) -> str:
    """One table for each work and number of ranks: GB/s, in brackets the part of the limit."""
    figures = summary.figures(runs)
    dashes = summary.unsupported(runs)
    text = []
    works = dict.fromkeys((run["work"], run["ranks"]) for run in runs)
    for work, ranks in works:
        columns = columns_of(figures, work, ranks, list(phases))
        names = dict.fromkeys(run["contender"] for run in runs if (run["work"], run["ranks"]) == (work, ranks))
        rows = [["", *columns]]
        rows += [
            [name, *(cell(figures.get((work, ranks, name, phase))) for phase in columns)] for name in in_order(names)
        ]
        text.append(f"### {work}, {ranks} rank{'s' if ranks > 1 else ''}\n\n{table(rows)}\n")
        reasons = dict.fromkeys(f"{key[2]}: {why}" for key, why in dashes.items() if key[:2] == (work, ranks))
        text += [f"- {reason}" for reason in reasons]
        if reasons:
            text.append("")
    return "\n".join(text)


def size_text(size: int) -> str:
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def rate_cell(rate: Rate | None) -> str:
    if rate is None:
        return "-"
    return beside(f"{rate.per_second:,.0f}", rate.of_reference)


def reasons_of(runs: list[dict]) -> list[str]:
    return [
        f"- {contender}: {reason.removeprefix(contender + ': ')} ({', '.join(sorted(works))})"
        for (contender, reason), works in sorted(summary.reasons(runs).items())
    ]


def objects(runs: list[dict], works: Iterable[str]) -> str:
    """One table for each size and number of processes: operations a second, in brackets the multiple of LMDB's."""
    rates = summary.rates(runs)
    text = []
    for size, processes in dict.fromkeys((run["size"], run["processes"]) for run in runs):
        here = [run for run in runs if (run["size"], run["processes"]) == (size, processes)]
        columns = list(works)
        rows = [["", *columns]]
        for name in in_order({run["contender"] for run in here}):
            rows.append([name, *(rate_cell(rates.get((size, processes, name, work))) for work in columns)])
        most = max(run["objects"] for run in here)
        title = f"objects of {size_text(size)}, {processes} process{'es' if processes > 1 else ''}"
        text.append(
            f"### {title}\n\nOperations a second, of {most:,} objects; in brackets: of LMDB's.\n\n{table(rows)}\n"
        )
        fewer = dict.fromkeys((run["contender"], run["count"]) for run in here if run["count"] < most)
        notes = [f"- {name}: {count:,} objects, for more would take minutes" for name, count in sorted(fewer)]
        notes += reasons_of(here)
        text += [*notes, ""] if notes else []
    return "\n".join(text)


def names(runs: list[dict], works: Iterable[str]) -> str:
    """How long opening takes, and listing, by how many variables there are, in ms."""
    seconds = summary.looks(runs)
    counts = sorted({run["objects"] for run in runs})
    columns = [(work, count) for work in works for count in counts]
    rows = [["", *(f"{work} {count:,}" for work, count in columns)]]
    for name in in_order({run["contender"] for run in runs}):
        taken = [seconds.get((count, name, work)) for work, count in columns]
        rows.append([name, *("-" if one is None else f"{one * 1e3:,.2f}" for one in taken)])
    text = ["### many variables\n\nMilliseconds.\n", table(rows), ""]
    for count in counts:
        here = [run for run in runs if run["objects"] == count]
        text += [f"{line}, {count:,} variables" for line in reasons_of(here)]
    return "\n".join([*text, ""])


LEGEND_OF_SERIES = (
    "Delays in us, with a pause of 1 ms after each step. Not there: of a thousand steps those that the reader was told "
    "of, and that had not their data yet."
)


def series(runs: list[dict]) -> str:
    """Steps a second without a pause, and of the reader too; with one, how long a step is under way, in us."""
    text = []
    for size in sorted({run["size"] for run in runs}):
        rows = [["", "steps a second", "until they are read", "delay", "of one in ten", "longest", "not there"]]
        for name in in_order({run["contender"] for run in runs}):
            found = summary.series(runs, size, name)
            if found is None:
                rows.append([name, *("-" * 6)])
                continue
            rates = (f"{rate:,.0f}" for rate in (found.appended, found.followed))
            delays = (f"{delay * 1e6:,.0f}" for delay in found.delays)
            rows.append([name, *rates, *delays, f"{found.not_there:,.1f}"])
        here = [run | {"work": "follow"} for run in runs if run["size"] == size]
        title = f"### an array that grows, followed by another process, steps of {size_text(size)}"
        text += [f"{title}\n\n{LEGEND_OF_SERIES}\n", table(rows), ""]
        notes = reasons_of(here)
        text += [*notes, ""] if notes else []
    return "\n".join(text)
