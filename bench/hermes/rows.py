"""From runs to what is said: medians, ratios, targets, and the paper's own figures beside them."""

from collections.abc import Callable

import experiments
from experiments import COMPUTING, MIB, PHASES, STAND_INS, WRITE_RATIO, Sizes
from neighbours import Row, divided, matching, measured, number, reason, table_of, tables, typical
from schedule import Device, least_write_seconds

Value = Callable[[dict], float]
# Other ways to use the paper's peers.
NOT_IN_THE_PAPER = ("redis-pipelined", "mpi-handed-over", "nats-flushed")


def many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}{'es' if what.endswith('s') else 's'}"


def rates(
    found: dict[str, list[dict]],
    mine: list[dict],
    name: str,
    rate: Value,
    targets: dict[str, float | None],
    our_way: str = "pmemcpy",
    *,
    is_judged: bool = True,
) -> list[Row]:
    """Operations a second beside those of each peer that there is a target for. The paper's are shown anyhow."""
    rows = []
    for peer, goal in targets.items():
        target = goal if is_judged else None
        line = f"{name}, beside {peer}"
        lacking = next((each for each in (our_way, peer) if each not in found), None)
        if lacking:
            ours, theirs = (typical(found[each], rate) if each in found else None for each in (our_way, peer))
            note = f"{lacking}: {reason(mine, lacking)}"
            rows.append(Row(line, None, target, ours, theirs, "/s", peer, note=note))
            continue
        ours, theirs = typical(found[our_way], rate), typical(found[peer], rate)
        note = fewer(found, our_way, peer)
        paper = None if peer in NOT_IN_THE_PAPER else goal
        rows.append(Row(line, divided(ours, theirs), target, ours, theirs, "/s", peer, paper, note))
    return rows


def fewer(found: dict[str, list[dict]], *names: str) -> str:
    """Where one was too slow for all repetitions."""
    most = max(len(runs) for runs in found.values())
    return ", ".join(f"{many(len(found[name]), 'run')} of {name}" for name in names if len(found[name]) < most)


def figure4(runs: list[dict]) -> list[Row]:
    """
    Judged is getting memory and giving it back. What is copied into it takes as long as memory takes, whoever has
    lent it; and the paper's three million operations a second would be 190 GiB/s with a copy of 64 KiB each.
    """
    rows = []
    wanted = ("order", "is_copied", "smallest", "largest")
    for case in dict.fromkeys(tuple(run[key] for key in wanted) for run in matching(runs, experiment="figure4")):
        order, is_copied, smallest, largest = case
        mine = matching(runs, experiment="figure4", **dict(zip(wanted, case, strict=True)))
        sizes = tables.size_text(smallest)
        targets: dict[str, float | None] = {"malloc": None, "tcmalloc": None}
        if smallest != largest:
            sizes += f" to {tables.size_text(largest)}"
            targets = {"malloc": 3.0, "tcmalloc": 2.0}
        name = f"{sizes}, {order}, {'copied into' if is_copied else 'got and given back'}"
        found = measured(mine)
        rows += rates(found, mine, name, lambda run: run["operations_per_s"], targets, is_judged=not is_copied)
    return rows


def operations(
    runs: list[dict],
    experiment: str,
    count: str,
    parts: dict[str, dict[str, float | None]],
    at: Callable[[int], str],
    our_way: str = "pmemcpy",
) -> list[Row]:
    """Figures 5 and 6: for each kind of operation the targets beside each peer."""
    rows = []
    mine = matching(runs, experiment=experiment)
    for processes in dict.fromkeys(run["processes"] for run in mine):
        of_it = matching(mine, processes=processes)
        for part, targets in parts.items():

            def rate(run: dict, part: str = part) -> float:
                return run[count] / run[f"{part}_s"]

            rows += rates(measured(of_it), of_it, f"{part}, {at(processes)}", rate, targets, our_way)
    return rows


def figure5(runs: list[dict]) -> list[Row]:
    targets = {"memcached": 2.0, "redis": 2.0, "redis-pipelined": None, "mpi": 7.0, "mpi-handed-over": 7.0}
    parts = dict.fromkeys(("insert", "get", "update"), targets)
    return operations(runs, "figure5", "files", parts, lambda processes: many(processes, "process"))


def figure6(runs: list[dict]) -> list[Row]:
    others = {"memcached": 8.0, "mpi": 12.0, "mpi-handed-over": 12.0}
    parts = {"publish": {"nats": None, "nats-flushed": 2.0} | others, "subscribe": {"nats": 3.0} | others}

    def at(processes: int, how: str = "") -> str:
        return f"{processes} and {many(processes, 'process')}{how}"

    # The client of NATS collects what is published, and sends many messages at once: beside it stands who does so too.
    collected = operations(
        runs, "figure6", "messages", {"publish": {"nats": 2.0}},
        lambda processes: at(processes, ", collected"), "pmemcpy-collected",
    )  # fmt: skip
    return collected + operations(runs, "figure6", "messages", parts, at)


def write(run: dict) -> float:
    return run["write_s"]


def read(run: dict) -> float:
    return run["read_s"]


def io(run: dict) -> float:
    return run["write_s"] + run["read_s"]


def total(run: dict) -> float:
    return run["write_s"] + run["read_s"] + run["flush_s"]


def beside(
    mine: list[dict], name: str, ours: str, theirs: str, value: Value, target: float | None, paper: float | None = None
) -> Row:
    """How many times as long the other takes."""
    found = measured(mine)
    line = f"{name}, {ours} beside {theirs}"
    for scheme in (ours, theirs):
        if scheme not in found:
            return Row(line, None, target, against=theirs, paper=paper, note=f"{scheme}: {reason(mine, scheme)}")
    a, b = typical(found[ours], value), typical(found[theirs], value)
    return Row(line, divided(b, a), target, a, b, "s", theirs, paper)


def figure8(runs: list[dict], sizes: Sizes) -> list[Row]:
    rows = []
    for work in COMPUTING:
        mine = matching(runs, experiment="figure8", work=work)
        if not mine:
            continue
        heavy = work == "compute-intensive"
        for theirs, target, paper in (
            ("top", 1 / 1.15, None), ("max-locality", None, None), (experiments.REORGANIZING, 4.0, 4.0),
            ("none", 8.0, 8.0), ("elevator", 2.0, 2.0), ("datawarp", 2.0, 2.0),
        ):  # fmt: skip
            if work != "data-intensive" or theirs not in ("max-locality", experiments.REORGANIZING):
                goal, papers = (target, paper) if heavy else (None, None)
                rows.append(beside(mine, f"{work}, write", "max-bandwidth", theirs, write, goal, papers))
        if work == "data-intensive":
            rows.append(beside(mine, f"{work}, write", "max-locality", "max-bandwidth", write, 1.0))
            rows += [best_schedule(mine, policy, sizes) for policy in experiments.POLICIES]
        for theirs in ("none", *STAND_INS):
            rows.append(beside(mine, f"{work}, write and flush", "max-bandwidth", theirs, total, None))
    return rows


def best_schedule(mine: list[dict], policy: str, sizes: Sizes) -> Row:
    """Beside the least time that any schedule takes for what data-intensive work stores."""
    found = measured(mine)
    name, target = f"data-intensive, write, {policy} beside the best schedule", 0.85
    for scheme in (policy, "top"):
        if scheme not in found:
            return Row(name, None, target, note=f"{scheme}: {reason(mine, scheme)}")
    # Memory is as fast as it is here: nothing slows it down.
    top = Device(sizes.bytes_stored / typical(found["top"], write), sizes.ram_bytes)
    capacities = {"nvme": sizes.nvme_bytes}
    below = [
        Device(WRITE_RATIO[each] * sizes.pfs_bytes_per_second, capacities.get(each, float("inf")))
        for each in ("nvme", "burst-buffer", "pfs")
    ]
    # As long as it took: what is moved down while a rank sleeps longer than it was to is not waited for either.
    computing = typical(found[policy], lambda run: run["computing_s"])
    least = least_write_seconds([top, *below], PHASES, sizes.phase_bytes, computing / PHASES)
    ours = typical(found[policy], write)
    return Row(name, divided(least, ours), target, ours, least, "s", "calculated")


def background(runs: list[dict], sizes: Sizes) -> list[Row]:
    rows = []
    for work in ("compute-intensive", "data-intensive"):
        mine = matching(runs, experiment="background", work=work)
        if mine:
            goal = 0.9 if work == "compute-intensive" else None
            rows.append(beside(mine, f"{work}, write", "flushing", "top", write, goal))
    found = measured(matching(runs, experiment="background", work="data-intensive"))
    if "flushing" in found:
        takes = typical(found["flushing"], lambda run: run["computing_s"] + write(run) + run["flush_s"])
        ours, theirs = sizes.bytes_stored / takes / MIB, sizes.pfs_bytes_per_second / MIB
        rows.append(Row("all flushed", divided(ours, theirs), 0.9, ours, theirs, "MiB/s", "the bandwidth"))
    return rows


def figure9(runs: list[dict], _: Sizes) -> list[Row]:
    rows = []
    for reads in experiments.READS:
        mine = matching(runs, experiment="figure9", reads=reads)
        if not mine:
            continue
        for ours in ("hot-data", "max-bandwidth"):
            for theirs, target in (("none", 38.0), ("elevator", 11.0), ("datawarp", 11.0)):
                goal = target if reads == 16 and ours == "hot-data" else None
                rows.append(beside(mine, f"read x{reads}", ours, theirs, read, goal, goal))
            rows.append(beside(mine, f"write with reads x{reads}", ours, "none", write, None))
    return rows


def application(
    runs: list[dict], experiment: str, what: str, value: Value, targets: dict[str, tuple[float, float]],
    papers: dict[str, tuple[float, float]],
) -> list[Row]:  # fmt: skip
    rows = []
    for ranks in experiments.RANKS:
        mine = matching(runs, experiment=experiment, ranks=ranks)
        if not mine:
            continue
        for index, (name, of) in enumerate(((what, value), (f"{what} and flush", total))):
            for theirs, target in targets.items():
                line = f"{name}, {ranks} ranks"
                rows.append(beside(mine, line, "max-bandwidth", theirs, of, target[index], papers[theirs][index]))
    return rows


def figure10(runs: list[dict], _: Sizes) -> list[Row]:
    targets = {"none": (5.0, 1.85), "elevator": (2.0, 1.75), "datawarp": (2.0, 2.0)}
    # The text: 1192 s; 438 s and 1115 or 1274 s with flushing; 637 s.
    papers = {"none": (5.0, 1192 / 637), "elevator": (2.0, 1115 / 637), "datawarp": (2.0, 1274 / 637)}
    return application(runs, "figure10", "write", write, targets, papers)


def figure11(runs: list[dict], _: Sizes) -> list[Row]:
    targets = {"none": (7.5, 2.65), "elevator": (2.0, 1.55), "datawarp": (2.0, 2.0)}
    # The text: 1313 s; 773 and 985 s with flushing; 494 s.
    papers = {"none": (7.5, 1313 / 494), "elevator": (2.0, 773 / 494), "datawarp": (2.0, 985 / 494)}
    return application(runs, "figure11", "write and read", io, targets, papers)


SECTIONS = {
    "figure4": "Figure 4: memory to buffer in",
    "figure5": "Figure 5: metadata",
    "figure6": "Figure 6: messages",
    "figure8": "Figure 8: computing and storing in turns",
    "background": "Flushing in the background",
    "figure9": "Figure 9: reading again and again",
    "figure10": "Figure 10: VPIC-IO, which only writes",
    "figure11": "Figure 11: HACC-IO, which reads what it has written",
}


def all_rows(runs: list[dict], sizes: Sizes) -> dict[str, list[Row]]:
    made = {
        "figure4": figure4(runs),
        "figure5": figure5(runs),
        "figure6": figure6(runs),
        "figure8": figure8(runs, sizes),
        "background": background(runs, sizes),
        "figure9": figure9(runs, sizes),
        "figure10": figure10(runs, sizes),
        "figure11": figure11(runs, sizes),
    }
    return {name: rows for name, rows in made.items() if rows}


def seconds(runs: list[dict], experiment: str) -> str:
    """Figures 8 to 11: how long each kind of I/O took, with each way of buffering."""
    mine = matching(runs, experiment=experiment)
    cells = [["seconds", "write", "read", "flush", "in all"]]
    works = dict.fromkeys((run.get("work"), run.get("reads"), run["ranks"]) for run in mine if "ranks" in run)
    for work, reads, ranks in works:
        where = {"work": work, "reads": reads, "ranks": ranks}
        about = work or (f"x{reads}" if reads else f"{ranks} ranks")
        for scheme, of_it in measured(mine, **where).items():
            parts = [number(typical(of_it, value)) for value in (write, read, lambda run: run["flush_s"], total)]
            cells.append([f"{about}, {scheme}", *parts])
    return tables.table(cells) + "\n" if len(cells) > 1 else ""


def markdown(runs: list[dict], sizes: Sizes) -> str:
    text = []
    for section, rows in all_rows(runs, sizes).items():
        text.append(table_of(SECTIONS[section], rows))
        if table := seconds(runs, section):
            text.append(table)
    return "\n".join(text)
