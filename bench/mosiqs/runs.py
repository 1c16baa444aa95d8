"""Running the programs: which there are, one after another in a drawn order, and what each of them said."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from neighbours import programs

OURS = ("pmemcpy-none", "pmemcpy-sync", "pmemcpy-async")
STAND_IN = ("miqs", "miqs-compact")


@dataclass(frozen=True)
class Contender:
    """One way to use one library."""

    name: str
    what: str
    program: Path
    unsupported: str | None = None


def contenders(build: Path, tell: Callable[[str], None]) -> dict[str, Contender]:
    """Those that were built, by name."""
    found = {}
    for library in ("pmemcpy", "hdf5", "lmdb", "sqlite"):
        program = build / "bench/mosiqs" / f"mosiqs_{library}"
        if not program.exists():
            tell(f"without {library}: its program was not built")
            continue
        for variant in programs.run([str(program), "variants"]):
            found[variant["name"]] = Contender(variant["name"], variant["what"], program, variant.get("unsupported"))
    return found


@dataclass
class Runs:
    """All that was run, and what came of it."""

    by_name: dict[str, Contender]
    folder: Path
    repeat: int
    limit_seconds: float
    tell: Callable[[str], None]
    order: random.Random
    done: list[dict] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    given_up: set[tuple] = field(default_factory=set)

    def line_up(self, names: tuple[str, ...]) -> list[Contender]:
        """In another order each time."""
        found = [self.by_name[name] for name in names if name in self.by_name]
        self.order.shuffle(found)
        return found

    def rounds(self, names: tuple[str, ...], repeat: int | None = None) -> Iterator[tuple[int, Contender]]:
        """Interleaved: each repetition takes all contenders."""
        for repetition in range(repeat or self.repeat):
            for contender in self.line_up(names):
                yield repetition, contender

    def path(self, contender: Contender, what: str = "") -> Path:
        return self.folder / f"{contender.name}{what}"

    def run(self, about: dict, contender: Contender, work: str, path: Path, **options: object) -> dict | None:
        """Runs one; None when it did not do it, which is told: as a failure, or as a dash where the library can't."""
        entry = about | {"contender": contender.name, "work": work}
        if contender.unsupported:
            self.add(entry | {"unsupported": contender.unsupported})
            return None
        key = tuple(sorted((name, str(value)) for name, value in entry.items() if name != "repetition"))
        if key in self.given_up:
            return None
        self.tell(" ".join(str(value) for value in entry.values()))
        command = [str(contender.program), work, "--variant", contender.name, "--path", str(path)]
        for name, value in options.items():
            if value is True:
                command.append(f"--{name}")
            elif value is not False and value is not None:
                command += [f"--{name}", str(value)]
        try:
            result = programs.run(command, self.limit_seconds)
        except programs.TookTooLong as reason:
            self.given_up.add(key)
            self.add(entry | {"unsupported": str(reason)})
            return None
        except programs.Failed as failure:
            self.given_up.add(key)
            self.failures.append(f"{' '.join(str(value) for value in entry.values())}: {failure}")
            return None
        self.add(entry | result)
        return None if "unsupported" in result else result

    def add(self, entry: dict) -> None:
        # What a library cannot do is told once.
        if "unsupported" not in entry or entry not in self.done:
            self.done.append(entry)

    def remove(self, path: Path) -> None:
        programs.remove(path)
