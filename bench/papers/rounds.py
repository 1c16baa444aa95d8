"""Running an experiment's programs: all contenders in each repetition, in a drawn order, and what each of them said."""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import programs
from machine import bring_memory

C = TypeVar("C")


@dataclass
class Rounds(Generic[C]):
    """All that was run, and what came of it."""

    by_name: dict[str, C]
    repeat: int
    limit_seconds: float
    tell: Callable[[str], None]
    order: random.Random
    memory_bytes: int = 0  # that a run may need: brought before each
    done: list[dict] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    given_up: set[tuple] = field(default_factory=set)

    def line_up(self, names: Iterable[str]) -> list[C]:
        """Those that there are, in another order each time."""
        found = [self.by_name[name] for name in names if name in self.by_name]
        self.order.shuffle(found)
        return found

    def rounds(self, names: Iterable[str], repeat: int | None = None) -> Iterator[tuple[int, C]]:
        """Interleaved: each repetition takes all contenders."""
        names = tuple(names)
        for repetition in range(repeat or self.repeat):
            for contender in self.line_up(names):
                yield repetition, contender

    def attempt(self, entry: dict, command: list[str]) -> dict | None:
        """Runs one; None when it did not do it, which is told: as a failure, or as a dash where it can't. What failed
        once, or took too long, is not tried again."""
        key = self.key_of(entry)
        if key in self.given_up:
            return None
        self.tell(self.words_of(entry))
        try:
            bring_memory(self.memory_bytes)
            result = programs.run(command, self.limit_seconds)
        except programs.TookTooLong as late:
            self.given_up.add(key)
            self.add(entry | {"unsupported": str(late)})
            return None
        except programs.Failed as failure:
            self.fail(entry, str(failure))
            return None
        self.add(entry | result)
        return None if "unsupported" in result else result

    def fail(self, entry: dict, why: str) -> None:
        self.given_up.add(self.key_of(entry))
        self.failures.append(f"{self.words_of(entry)}: {why}")

    def add(self, entry: dict) -> None:
        # What a library cannot do is told once.
        if "unsupported" not in entry or entry not in self.done:
            self.done.append(entry)

    @staticmethod
    def key_of(entry: dict) -> tuple:
        return tuple(sorted((name, str(value)) for name, value in entry.items() if name != "repetition"))

    @staticmethod
    def words_of(entry: dict) -> str:
        return " ".join(str(value) for value in entry.values())
