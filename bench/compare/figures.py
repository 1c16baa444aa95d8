"""Results as pictures, in the shape of Figures 6 and 7 of the paper: by number of ranks, a bar for each library."""

from pathlib import Path
from statistics import median

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Of the ways to use one library only the fastest is drawn, under the library's name.
LIBRARIES = {
    "pmemcpy": "pMEMCPY",
    "posix": "POSIX, a file per rank",
    "adios2": "ADIOS2",
    "adios": "ADIOS 1.13",
    "hdf5": "HDF5",
    "netcdf": "NetCDF-4",
    "pnetcdf": "PnetCDF",
}
COLOURS = dict(
    zip(LIBRARIES, ["#0b3c8c", "#8d8d8d", "#8c5a0b", "#d9a441", "#3b7d4f", "#84b894", "#9c3f64"], strict=True)
)


def library_of(contender: str) -> str | None:
    return next((library for library in LIBRARIES if contender == library or contender.startswith(library + "-")), None)


def best_seconds(runs: list[dict], work: str, phase: str) -> dict[str, dict[int, tuple[float, float, float]]]:
    """For each library and number of ranks the median, fastest and slowest seconds of its fastest way."""
    taken: dict[tuple[str, int], list[float]] = {}
    for run in runs:
        if run["work"] == work and run["phase"] == phase and "seconds" in run:
            taken.setdefault((run["contender"], run["ranks"]), []).extend(run["seconds"])
    best: dict[str, dict[int, tuple[float, float, float]]] = {}
    for (contender, ranks), seconds in taken.items():
        if contender == "pmemcpy-unchecked" or (library := library_of(contender)) is None:
            continue
        found = (median(seconds), min(seconds), max(seconds))
        by_ranks = best.setdefault(library, {})
        by_ranks[ranks] = min(found, by_ranks.get(ranks, found))
    return best


def draw(best: dict[str, dict[int, tuple[float, float, float]]], title: str, path: Path) -> None:
    libraries = [library for library in LIBRARIES if library in best]
    all_ranks = sorted({ranks for by_ranks in best.values() for ranks in by_ranks})
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    width = 0.8 / len(libraries)
    for number, library in enumerate(libraries):
        for place, ranks in enumerate(all_ranks):
            if ranks not in best[library]:
                continue
            middle, least, most = best[library][ranks]
            at = place + (number - (len(libraries) - 1) / 2) * width
            label = LIBRARIES[library] if place == 0 else None
            axes.bar(at, middle, width * 0.92, color=COLOURS[library], label=label)
            axes.errorbar(at, middle, [[middle - least], [most - middle]], color="black", linewidth=0.8)
    axes.set_xticks(range(len(all_ranks)), [f"{ranks}" for ranks in all_ranks])
    axes.set_xlabel("ranks")
    axes.set_ylabel("seconds, from opening to closing")
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", linewidth=0.4)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, ncols=2, fontsize="small")
    for kind in ("png", "svg"):
        figure.savefig(path.with_suffix(f".{kind}"), dpi=150)
    plt.close(figure)


def all_of(runs: list[dict], folder: Path) -> list[Path]:
    """The main job written and read. Returns the pictures."""
    made = []
    for phase, title in (
        ("create", "Writing the 3-D domain into a new file"),
        ("overwrite", "Overwriting the 3-D domain"),
        ("read", "Reading the 3-D domain"),
    ):
        if best := best_seconds(runs, "domain3d", phase):
            path = folder / f"domain3d-{phase}"
            draw(best, title + " (median; lines: fastest and slowest)", path)
            made.append(path.with_suffix(".png"))
    return made
