"""Samples for training: a million small ones, read in a drawn order by forked workers, beside LMDB and WebDataset.

python3 bench/compare/samples.py [FOLDER] [SAMPLES] [WORKERS] [ROUNDS]
FOLDER (/dev/shm) takes 2 GB for a million. The table is Markdown.

Each peer is used as its documentation has it for this: LMDB with integer keys in order, without read-ahead, locks and
copies, and `getmulti` for batches; WebDataset with its shards shared out among the workers and a buffer of 1,000
samples to draw from, because a tar file has no other order than its own. All add up what they read, and the sums agree.
"""

from __future__ import annotations

import io
import multiprocessing
import statistics
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from typing import Any

import lmdb
import numpy as np
import pmemcpy
import webdataset

FEATURES = 64  # float32, 256 bytes a sample
BATCH = 256
SHARD = 10_000

state: dict[str, Any] = {}  # of a worker, inherited by fork


def fill_pool(folder: str, samples: np.ndarray) -> None:
    with pmemcpy.open(f"{folder}/pool", "x") as pool:
        pool["samples"] = samples


def fill_lmdb(folder: str, samples: np.ndarray) -> None:
    with lmdb.open(f"{folder}/lmdb", map_size=4 << 30, max_dbs=1, sync=False) as environment:
        database = environment.open_db(b"samples", integerkey=True)
        with environment.begin(write=True, db=database) as transaction:
            cursor = transaction.cursor()
            pairs = ((np.uint64(k).tobytes(), row.tobytes()) for k, row in enumerate(samples))
            cursor.putmulti(pairs, append=True)


def fill_tar(folder: str, samples: np.ndarray) -> None:
    for shard in range(0, len(samples), SHARD):
        with tarfile.open(f"{folder}/samples-{shard // SHARD:06}.tar", "w") as tar:
            for k in range(shard, min(shard + SHARD, len(samples))):
                member = tarfile.TarInfo(f"{k:08}.bin")
                member.size = 4 * FEATURES
                tar.addfile(member, io.BytesIO(samples[k].tobytes()))


def single_from_pool(order: np.ndarray) -> float:
    view = state["view"]
    return float(np.stack([view[k] for k in order.tolist()]).sum(dtype="f8"))


def batch_from_pool(order: np.ndarray) -> float:
    return float(state["view"][order].sum(dtype="f8"))


def lmdb_cursor() -> Any:
    # An environment is opened after the fork, as LMDB's documentation asks.
    if "cursor" not in state:
        environment = lmdb.open(state["lmdb"], readonly=True, lock=False, readahead=False, max_dbs=1)
        database = environment.open_db(b"samples", integerkey=True, create=False)
        state["transaction"] = environment.begin(db=database, buffers=True)
        state["cursor"] = state["transaction"].cursor()
    return state["cursor"]


def single_from_lmdb(order: np.ndarray) -> float:
    lmdb_cursor()
    get = state["transaction"].get
    rows = [np.frombuffer(get(key.tobytes()), "f4") for key in order.astype("u8")]
    return float(np.stack(rows).sum(dtype="f8"))


def batch_from_lmdb(order: np.ndarray) -> float:
    keys = [key.tobytes() for key in order.astype("u8")]
    rows = lmdb_cursor().getmulti(keys)
    return float(np.frombuffer(b"".join([row for _, row in rows]), "f4").sum(dtype="f8"))


def shards_from_tar(shards: list[str]) -> float:
    data = webdataset.WebDataset(shards, shardshuffle=False, empty_check=False).shuffle(1000).to_tuple("bin")
    total, rows = 0.0, []
    for (raw,) in data:
        rows.append(np.frombuffer(raw, "f4"))
        if len(rows) == BATCH:
            total += float(np.stack(rows).sum(dtype="f8"))
            rows.clear()
    return total + (float(np.stack(rows).sum(dtype="f8")) if rows else 0.0)


def timed(read: Callable[[Any], float], work: list[Any], workers: int) -> tuple[float, float]:
    """Seconds and the sum; the workers are there before the clock starts."""
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        pool.map(time.sleep, [0.01] * workers, 1)
        begin = time.perf_counter()
        total = sum(pool.imap_unordered(read, work, 4))
        return time.perf_counter() - begin, total


def main() -> None:
    given, usual = sys.argv[1:5], ["/dev/shm", "1000000", "4", "5"]
    place, count, workers, rounds = given + usual[len(given) :]
    samples = np.random.default_rng(1).integers(0, 97, (int(count), FEATURES)).astype("f4")
    wanted = float(samples.sum(dtype="f8"))
    with tempfile.TemporaryDirectory(dir=place) as folder:
        print("| | stored in, s |\n|---|---:|")
        for name, fill in (("pmemcpy", fill_pool), ("LMDB", fill_lmdb), ("tar", fill_tar)):
            begin = time.perf_counter()
            fill(folder, samples)
            print(f"| {name} | {time.perf_counter() - begin:.2f} |", flush=True)
        pool = pmemcpy.open(f"{folder}/pool")
        state.update(view=pool["samples"].view(), lmdb=f"{folder}/lmdb")
        drawn = np.random.default_rng(2).permutation(int(count))
        batches = [drawn[k : k + BATCH] for k in range(0, int(count), BATCH)]
        shards = [[f"{folder}/samples-{k // SHARD:06}.tar"] for k in range(0, int(count), SHARD)]
        ways: dict[str, tuple[Callable[[Any], float], list[Any]]] = {
            "pmemcpy, one at a time": (single_from_pool, batches),
            "LMDB, one at a time": (single_from_lmdb, batches),
            "pmemcpy, a batch at a time": (batch_from_pool, batches),
            "LMDB, a batch at a time": (batch_from_lmdb, batches),
            "WebDataset, in the order of its shards": (shards_from_tar, shards),
        }
        took: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(int(rounds)):
            for name, (read, work) in ways.items():
                seconds, total = timed(read, work, int(workers))
                assert total == wanted, (name, total, wanted)
                took[name].append(seconds)
        print(f"\n| {int(count):,} samples of {4 * FEATURES} bytes, {workers} workers | samples a second |")
        print("|---|---:|")
        for name, seconds in took.items():
            print(f"| {name} | {int(count) / statistics.median(seconds):,.0f} |")


if __name__ == "__main__":
    main()
