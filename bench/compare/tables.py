"""Results as Markdown."""

import summary
from summary import Figure


def columns_of(figures: dict[summary.Key, Figure], work: str, ranks: int, phases: list[str]) -> list[str]:
    there = {phase for (w, r, _, phase) in figures if (w, r) == (work, ranks)}
    return [phase for phase in phases if phase in there]


def cell(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    text = f"{figure.gigabytes_a_second:.2f}"
    if figure.of_limit is not None:
        text += f" ({figure.of_limit:.2f})"
    return text


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


def arrays(runs: list[dict], phases: dict[str, str]) -> str:
    """One table for each work and number of ranks: GB/s, in brackets the part of the limit."""
    figures = summary.figures(runs)
    dashes = summary.unsupported(runs)
    text = []
    works = dict.fromkeys((run["work"], run["ranks"]) for run in runs)
    for work, ranks in works:
        columns = columns_of(figures, work, ranks, list(phases))
        names = dict.fromkeys(run["contender"] for run in runs if (run["work"], run["ranks"]) == (work, ranks))
        ordered = sorted(names, key=lambda name: (name not in summary.LIMITS, not name.startswith("pmemcpy"), name))
        rows = [["", *columns]]
        rows += [[name, *(cell(figures.get((work, ranks, name, phase))) for phase in columns)] for name in ordered]
        text.append(f"### {work}, {ranks} rank{'s' if ranks > 1 else ''}\n\n{table(rows)}\n")
        reasons = dict.fromkeys(f"{key[2]}: {why}" for key, why in dashes.items() if key[:2] == (work, ranks))
        text += [f"- {reason}" for reason in reasons]
        if reasons:
            text.append("")
    return "\n".join(text)
