"""Workers that load samples, as a DataLoader of PyTorch has them: forked ones read a view, spawned ones open the pool.

python3 17_workers.py POOL
"""

import multiprocessing
import sys

import numpy as np
import pmemcpy

SAMPLES, FEATURES, BATCH = 10_000, 64, 256


class Samples:
    """A map-style dataset: `DataLoader(Samples(path), num_workers=4)` takes it as it is, forked or spawned."""

    def __init__(self, path: str) -> None:
        self.pool = pmemcpy.open(path)
        self.features = self.pool["features"].view()  # no copy: the pages of the pool, shared by all workers

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, k: int) -> np.ndarray:
        return self.features[k]

    def __getstate__(self) -> str:
        return str(self.pool.path)  # a spawned worker opens the pool anew

    def __setstate__(self, path: str) -> None:
        self.__init__(path)


samples = None


def keep(given: Samples) -> None:
    global samples
    samples = given


def batch(first: int) -> float:
    return float(np.stack([samples[k] for k in range(first, min(first + BATCH, len(samples)))]).sum())


def main(path: str) -> None:
    with pmemcpy.open(path, "w") as pool:
        pool["features"] = np.arange(SAMPLES * FEATURES, dtype="f4").reshape(SAMPLES, FEATURES) % 97
        wanted = float(pool["features"].sum(dtype="f8"))
    given = Samples(path)
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2, keep, (given,)) as workers:
            found = sum(workers.map(batch, range(0, SAMPLES, BATCH)))
        assert abs(found - wanted) < 1, (method, found, wanted)
        print(f"{method}: {SAMPLES} samples by two workers, their sum is {found:.0f}")


if __name__ == "__main__":
    main(sys.argv[1])
