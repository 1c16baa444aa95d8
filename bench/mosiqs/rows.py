"""From runs to what is said: medians, ratios, targets, and the paper's own figures beside them."""

from collections.abc import Callable
from statistics import geometric_mean

from neighbours import Row, divided, measured, reason, table_of, tables, typical
from runs import STAND_IN

QUERIES = {"contains": "Q1", "members": "Q2", "attributes": "Q3"}
# Table I of the paper: queries a second and seconds from end to end, of MIQS+ and of MOSIQS.
PAPER_RATE = {"Q1": (28184, 25478), "Q2": (37766, 30590), "Q3": (37756, 29827)}
PAPER_AVERAGE = 0.73  # "on average, 27 % query throughput degradation"; its own figures give 0.83
PAPER_SECONDS = {"Q1": (1.25, 0.10), "Q2": (8.25, 0.19), "Q3": (12.25, 1.1)}
PAPER_SHARE = 0.70
WRITE_TARGET, READ_TARGET = 2.0, 1.3  # the paper's: 100 % and 30 % better
END_TO_END_TARGET, END_TO_END_SCALE = 10.0, 0.1


def best_of(
    found: dict[str, list[dict]], names: tuple[str, ...], value: Callable[[dict], float], best: Callable
) -> tuple[float, str] | None:
    """The best of several ways to use a library, so that none is compared with a way that nobody would take."""
    all_of_them = [(typical(found[name], value), name) for name in names if name in found]
    return best(all_of_them) if all_of_them else None


def seconds(run: dict) -> float:
    return run["seconds"]


def mebibytes(run: dict) -> float:
    return run["size"] * run["count"] / run["seconds"] / 2**20


def works(runs: list[dict], experiment: str, targets: bool) -> list[Row]:
    """Figures 6 and 7: bandwidth beside the stand-in's fastest way."""
    rows = []
    mine = [run for run in runs if run["experiment"] == experiment]
    points = dict.fromkeys((run["size"], run["processes"], run["prepared"]) for run in mine)
    for work, target in (("write", WRITE_TARGET), ("read", READ_TARGET)):
        for size, processes, prepared in points:
            where = {"size": size, "processes": processes, "prepared": prepared}
            found = measured(mine, work=work, **where)
            theirs = best_of(found, STAND_IN, mebibytes, max)
            for mode in ("none", "sync", "async"):
                name = f"{work} {tables.size_text(size)}, {processes} process{'es' if processes > 1 else ''}"
                name += f"{', prepared' if prepared else ''}, {mode}"
                rows.append(
                    work_row(name, mode, found, theirs, target if targets else None)
                    or Row(name, None, target if targets else None, note=reason(mine, f"pmemcpy-{mode}", **where))
                )
    return rows


def work_row(
    name: str, mode: str, found: dict[str, list[dict]], theirs: tuple[float, str] | None, target: float | None
) -> Row | None:
    ours = found.get(f"pmemcpy-{mode}")
    if not ours:
        return None
    rate = typical(ours, mebibytes)
    row = Row(name, None, target, rate, unit="MiB/s")
    if theirs:
        row.ratio, row.theirs, row.against = divided(rate, theirs[0]), *theirs
    if mode == "async" and "write" in name:
        late = typical(ours, lambda run: run["indexed_seconds"] - run["seconds"])
        row.note = f"the index is up to date {late * 1e3:.1f} ms later"
    # The text has two figures: "100% higher bandwidth" at 512 B without an index, and 30 % in reading.
    if target == READ_TARGET or (target and name.startswith("write 512 B") and mode == "none"):
        row.paper = target
    return row


def shares(runs: list[dict]) -> list[Row]:
    """Figure 8: which part of the time is not computing, and how many times as long the stand-in takes for it."""
    rows = []
    mine = [run for run in runs if run["experiment"] == "figure8"]

    def beside(run: dict) -> float:
        return max(run["seconds"] - run["computing_seconds"], 0.0)

    def share(run: dict) -> float:
        return beside(run) / run["seconds"]

    for work, what in (("use", "read"), ("produce", "write")):
        for size in dict.fromkeys(run["size"] for run in mine):
            found = measured(mine, work=work, size=size)
            theirs = best_of(found, STAND_IN, seconds, min)
            for name, how in (("pmemcpy-none", "copied"), ("pmemcpy-view", "in place")):
                if name not in found or theirs is None or (work == "produce" and how == "in place"):
                    continue
                rows.append(
                    Row(
                        f"share of storage, {what} {tables.size_text(size)}, {how}",
                        divided(typical(found[theirs[1]], beside), typical(found[name], beside)),
                        ours=typical(found[name], share),
                        theirs=typical(found[theirs[1]], share),
                        unit="of the time",
                        against=theirs[1],
                        note=f"paper: {PAPER_SHARE} of the time for files",
                    )
                )
    return rows


def table1(runs: list[dict]) -> list[Row]:
    rows = []
    mine = [run for run in runs if run["experiment"] == "table1"]
    for scale in dict.fromkeys(run["scale"] for run in mine):
        asked = measured(mine, scale=scale, work="ask")
        ours = next((name for name in asked if name.startswith("pmemcpy")), None)
        at = f"at {scale:.4g} of the size"
        if ours is None or "miqs-compact" not in asked:
            why = next((run["unsupported"] for run in mine if run["scale"] == scale and "unsupported" in run), "")
            rows.append(Row(f"Table I {at}", None, note=why or "was not measured"))
            continue
        ratios = []
        for what, query in QUERIES.items():

            def rate(run: dict, what: str = what) -> float:
                return run["answers"][what]["per_second"]

            paper = divided(PAPER_RATE[query][1], PAPER_RATE[query][0])
            note = "without an index" if ours == "pmemcpy-none" else ""
            # No MIQS is made for these questions, so the target is not for this one.
            for other, name, target in (
                ("miqs-compact", f"{query} {at}", 1.0),
                ("miqs-made", f"{query}, lists made for it, {at}", None),
            ):
                if other in asked:
                    a, b = typical(asked[ours], rate), typical(asked[other], rate)
                    rows.append(Row(name, divided(a, b), target, a, b, "/s", other, paper, note))
                    if target:
                        ratios.append(a / b)
        name = f"Q1 to Q3 on average {at}"
        rows.append(Row(name, geometric_mean(ratios), None, against="miqs-compact", paper=PAPER_AVERAGE))
        for what, query in QUERIES.items():
            rows += end_to_end(measured(mine, scale=scale, work="end-to-end", what=what), ours, query, scale, at)
    return rows


def end_to_end(found: dict[str, list[dict]], ours: str, query: str, scale: float, at: str) -> list[Row]:
    def later(run: dict) -> float:
        return run["open_seconds"] + run["ask_seconds"] + run["read_seconds"]

    rows = []
    for other, value, target, what in (
        ("miqs-compact", seconds, END_TO_END_TARGET if scale >= END_TO_END_SCALE else None, "from end to end"),
        ("miqs-compact", later, None, "from open to end, index made before"),
        ("hdf5", seconds, None, "from end to end, HDF5 without an index"),
    ):
        if ours in found and other in found:
            a, b = typical(found[ours], value), typical(found[other], value)
            paper = divided(*PAPER_SECONDS[query]) if value is later else None
            rows.append(Row(f"{query} {what}, {at}", divided(b, a), target, a, b, "s", other, paper))
    return rows


def lookups(runs: list[dict]) -> list[Row]:
    rows: list[Row] = []
    mine = [run for run in runs if run["experiment"] == "lookups"]
    asked = measured(mine, work="ask")
    ours = next((name for name in asked if name.startswith("pmemcpy")), None)
    if ours is None:
        return rows
    records = mine[0]["records"]
    of = f"of {records:,} variables"
    note = "without an index" if ours == "pmemcpy-none" else ""
    for what, name, most in (("point", "point queries", 50_000), ("range", "ranges of 100", 5_000)):

        def rate(run: dict, what: str = what) -> float:
            return run["answers"][what]["per_second"]

        a = typical(asked[ours], rate)
        rows.append(Row(f"{name} {of}", divided(a, most), 1.0, a, most, "/s", "what is wanted", note=note))
        for others, target in ((("lmdb",), 0.8), (("sqlite", "sqlite-alone"), 3.0), (("miqs-compact",), None)):
            if theirs := best_of(asked, others, rate, max):
                beside = f"{name} {of}, beside {theirs[1]}"
                rows.append(Row(beside, divided(a, theirs[0]), target, a, theirs[0], "/s", theirs[1]))

    def milliseconds(run: dict) -> float:
        return 1e3 / run["answers"]["substring"]["per_second"]

    a = typical(asked[ours], milliseconds)
    target = 1.0 if records >= 1_000_000 else None
    rows.append(Row(f"text in names {of}", divided(200, a), target, a, 200, "ms", "what is wanted", note=note))
    for others in (("lmdb",), ("sqlite", "sqlite-alone"), ("miqs-compact",)):
        if theirs := best_of(asked, others, milliseconds, min):
            beside = f"text in names {of}, beside {theirs[1]}"
            rows.append(Row(beside, divided(theirs[0], a), None, a, theirs[0], "ms", theirs[1]))
    return rows


def stores(runs: list[dict]) -> list[Row]:
    mine = [run for run in runs if run["experiment"] == "stores"]
    if not mine:
        return []
    found = measured(mine, work="write")
    rows = []
    for mode, target in (("async", 0.95), ("sync", 0.60)):
        name = f"stores of 512 KiB, {mode} beside none"
        if "pmemcpy-none" not in found or f"pmemcpy-{mode}" not in found:
            rows.append(Row(name, None, target, note=reason(mine, f"pmemcpy-{mode}")))
            continue
        a, b = typical(found[f"pmemcpy-{mode}"], mebibytes), typical(found["pmemcpy-none"], mebibytes)
        rows.append(Row(name, divided(a, b), target, a, b, "MiB/s", "pmemcpy-none"))
    return rows


def real(runs: list[dict]) -> list[Row]:
    mine = [run for run in runs if run["experiment"] == "real"]
    asked = measured(mine, work="ask")
    ours = next((name for name in asked if name.startswith("pmemcpy")), None)
    if ours is None or "miqs-compact" not in asked:
        return [Row("real attributes", None, note=reason(mine, "real"))] if mine else []
    run = asked[ours][0]

    def rate(run: dict) -> float:
        return run["answers"]["all"]["per_second"]

    a, b = typical(asked[ours], rate), typical(asked["miqs-compact"], rate)
    name = f"{run['asked']} questions about {run['objects']} variables of {run['files']} real files"
    note = "without an index" if ours == "pmemcpy-none" else ""
    return [Row(name, divided(a, b), None, a, b, "/s", "miqs-compact", note=note)]


def disagreements(runs: list[dict]) -> list[str]:
    """Questions to which contenders have given different answers."""
    answers: dict[tuple, dict[str, list[str]]] = {}
    for run in runs:
        for what, answer in run.get("answers", {}).items():
            about = (run["experiment"], run.get("scale"), run["repetition"], what, answer["compared"])
            answers.setdefault(about, {}).setdefault(answer["fingerprint"], []).append(run["contender"])
    return [
        f"{' '.join(str(word) for word in about)}: not all answers are the same: {list(by_answer.values())}"
        for about, by_answer in answers.items()
        if len(by_answer) > 1
    ]


SECTIONS = {
    "figure6": ("Figure 6: write and read by object size", lambda runs: works(runs, "figure6", True)),
    "figure7": ("Figure 7: by number of processes", lambda runs: works(runs, "figure7", False)),
    "figure8": ("Figure 8: the share of storage", shares),
    "stores": ("What the index costs a store", stores),
    "table1": ("Table I: queries", table1),
    "lookups": ("Look-ups", lookups),
    "real": ("Real attributes", real),
}


def all_rows(runs: list[dict]) -> dict[str, list[Row]]:
    return {name: rows for name, (_, make) in SECTIONS.items() if (rows := make(runs))}


def markdown(by_section: dict[str, list[Row]]) -> str:
    return "\n".join(table_of(SECTIONS[section][0], rows) for section, rows in by_section.items())
