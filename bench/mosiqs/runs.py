"""Running the programs: which there are, one after another in a drawn order, and what each of them said."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from neighbours import Rounds, programs

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
class Runs(Rounds[Contender]):
    """All that was run, and what came of it."""

    folder: Path = Path()

    def path(self, contender: Contender, what: str = "") -> Path:
        return self.folder / f"{contender.name}{what}"

    def run(self, about: dict, contender: Contender, work: str, path: Path, **options: object) -> dict | None:
        """Runs one; None when it did not do it."""
        entry = about | {"contender": contender.name, "work": work}
        if contender.unsupported:
            self.add(entry | {"unsupported": contender.unsupported})
            return None
        command = [str(contender.program), work, "--variant", contender.name, "--path", str(path)]
        for name, value in options.items():
            if value is True:
                command.append(f"--{name}")
            elif value is not False and value is not None:
                command += [f"--{name}", str(value)]
        return self.attempt(entry, command)

    def remove(self, path: Path) -> None:
        programs.remove(path)
