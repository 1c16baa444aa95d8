"""The measurements of an array that grows while another process follows: which runs there are."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import programs
from machine import bring_memory
from programs import Contender

STEPS = 1000
SIZES = (64 << 10, 1 << 20)  # bytes of a step
# As fast as it goes, and with as much in between as a short computation takes: then no step waits for those before it.
PAUSES_US = (0, 1000)


@dataclass(frozen=True)
class Steps:
    """An array that grows by STEPS steps of so many bytes."""

    size: int

    @property
    def title(self) -> str:
        return f"steps of {self.size} B, followed"


def measure(
    contenders: list[Contender],
    folder: Path,
    repeat: int,
    seed: int,
    limit_seconds: float,
    tell: Callable[[str], None],
) -> tuple[list[dict], list[str]]:
    """Interleaved (programs.interleaved). What took too long is a dash, and not tried again."""
    runs: list[dict] = []

    def measure_one(steps: Steps, contender: Contender) -> bool:
        try:
            runs.extend(one(contender, steps.size, folder / contender.name, limit_seconds))
        except programs.TookTooLong as reason:
            runs.append({"contender": contender.name, "size": steps.size, "unsupported": str(reason)})
            return False
        return True

    steps = [Steps(size) for size in SIZES]
    failures = programs.interleaved(steps, lambda _: contenders, measure_one, repeat, seed, tell)
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
