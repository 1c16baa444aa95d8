"""What people do with h5py all day, by pmemcpy and by h5py in turn: the median of several rounds, and their quotient.

python3 bench/compare/beside_h5py.py [FOLDER] [ROUNDS]: FOLDER (/dev/shm) takes half a gigabyte. The table is Markdown.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import h5py
import numpy as np
import pmemcpy

NAMES = 2000
LARGE = 10_000_000  # elements of 8 bytes
ROWS = 5000


def fill(stores: Any, gzip: dict[str, Any]) -> None:
    """The same things in both, by the calls that each has for them."""
    draw = np.random.default_rng(1)
    group = stores.create_group("names")
    for k in range(NAMES):
        group[str(k)] = 1.0
    noise = np.round(draw.standard_normal(LARGE), 2)
    stores.create_dataset("packed", data=noise, **gzip)
    stores["plain"] = np.arange(2 * LARGE, dtype="f8")
    stores["singles"] = np.zeros((1000, 1000))
    for row, column in draw.integers(0, 1000, (3000, 2)):
        stores["singles"][row, column] = 1.0


def fill_rows(pool: pmemcpy.Pool, file: h5py.File) -> None:
    grows = pool.create("rows", (None, 64))
    other = file.create_dataset("rows", (0, 64), "f8", maxshape=(None, 64), chunks=(256, 64))
    for k in range(ROWS):
        row = np.full((1, 64), float(k))
        grows.append(row)
        other.resize(k + 1, axis=0)
        other[k] = row


def repeated(times: int, what: Callable[[], Any]) -> None:
    for _ in range(times):
        what()


PLACES = np.random.default_rng(2).integers(0, LARGE, 20).tolist()
CASES: dict[str, Callable[[Any], Any]] = {
    f"`len(group)`, {NAMES} names, 200 times": lambda s: repeated(200, lambda: len(s["names"])),
    "`list(group)`": lambda s: list(s["names"]),
    "20 single elements of 80 MB compressed in one store": lambda s: [s["packed"][k] for k in PLACES],
    "50 elements that follow each other, of the same": lambda s: [s["packed"][k] for k in range(5000, 5050)],
    f"a column of {ROWS} appended rows": lambda s: s["rows"][:, 3],
    "all of them": lambda s: s["rows"][...],
    "100 single rows": lambda s: [s["rows"][k][0] for k in range(0, ROWS, ROWS // 100)],
    "two far elements by a list, of 160 MB": lambda s: s["plain"][[0, 2 * LARGE - 1]],
    "an array after 3,000 single writes": lambda s: s["singles"][...],
}


def same(ours: Any, theirs: Any) -> bool:
    return sorted(ours) == sorted(theirs) if isinstance(ours, list) else np.array_equal(ours, theirs)


def main() -> None:
    place = sys.argv[1] if len(sys.argv) > 1 else "/dev/shm"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    with tempfile.TemporaryDirectory(dir=place) as folder:
        with pmemcpy.open(f"{folder}/pool", "x") as pool, h5py.File(f"{folder}/file.h5", "w") as file:
            fill(pool, {"compression": "zlib:4"})
            fill(file, {"compression": "gzip", "chunks": True})
            fill_rows(pool, file)
        print(f"pmemcpy {pmemcpy.__version__}, h5py {h5py.__version__}, HDF5 {h5py.version.hdf5_version}\n")
        print("| | pmemcpy, ms | h5py, ms | times |\n|---|---:|---:|---:|")
        for name, do in CASES.items():
            ours, theirs = [], []
            # Opened for each case, so that neither has in its memory what another case left.
            with pmemcpy.open(f"{folder}/pool") as pool, h5py.File(f"{folder}/file.h5") as file:
                for _ in range(rounds + 1):
                    for took, stores in ((ours, pool), (theirs, file)):
                        begin = time.perf_counter()
                        do(stores)
                        took.append((time.perf_counter() - begin) * 1e3)
                assert same(do(pool), do(file)), name
            mine, its = statistics.median(ours[1:]), statistics.median(theirs[1:])
            print(f"| {name} | {mine:.2f} | {its:.2f} | {mine / its:.2f} |")
            print(f"| … the first time | {ours[0]:.2f} | {theirs[0]:.2f} | {ours[0] / theirs[0]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
