"""The measurements of an array that grows while another process follows: which runs there are."""

import random
from collections.abc import Callable
from pathlib import Path

import programs
from machine import bring_memory
from programs import Contender

STEPS = 1000
SIZES = (64 << 10, 1 << 20)  # bytes of a step
# As fast as it goes, and with as much in between as a short computation takes: then no step waits for those before it.
PAUSES_US = (0, 1000)


def measure(
    contenders: list[Contender],
    folder: Path,
    repeat: int,
    seed: int,
    limit_seconds: float,
    tell: Callable[[str], None],
) -> tuple[list[dict], list[str]]:
    """Interleaved, as arrays.measure. What failed is told, and not tried again."""
    runs: list[dict] = []
    failures: list[str] = []
    given_up: set[tuple[int, str]] = set()
    order = random.Random(seed)
    for repetition in range(repeat):
        for size in SIZES:
            line_up = list(contenders)
            order.shuffle(line_up)
            for contender in line_up:
                if (size, contender.name) in given_up:
                    continue
                tell(f"{repetition + 1}/{repeat}  steps of {size} B, followed: {contender.name}")
                try:
                    runs += one(contender, size, folder / contender.name, limit_seconds)
                except programs.TookTooLong as reason:
                    given_up.add((size, contender.name))
                    runs.append({"contender": contender.name, "size": size, "unsupported": str(reason)})
                except programs.Failed as failure:
                    given_up.add((size, contender.name))
                    failures.append(f"steps of {size} B, {contender.name}: {failure}")
    return runs, failures


def one(contender: Contender, size: int, path: Path, limit_seconds: float) -> list[dict]:
    runs = []
    for pause_us in PAUSES_US:
        bring_memory(2 * size * STEPS)
        try:
            result = programs.run(
                [*contender.program, "follow", "--path", str(path), "--size", str(size), "--count", str(STEPS),
                 "--pause-us", str(pause_us)],
                limit_seconds,
            )  # fmt: skip
        finally:
            programs.remove(path)
        runs.append({"contender": contender.name, "size": size, "steps": STEPS, "pause_us": pause_us, **result})
    return runs
