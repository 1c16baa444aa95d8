#!/usr/bin/env python3
"""Judge every #include of the project by the law in LAYERS, and that each type has a name of its own.

usage: check_layers.py [ROOT]

Two types of one name in one namespace break the rule of one definition, and the linker takes the functions of either.

Prints one line FILE:LINE: RULE for each breach and exits 1; exits 0 when all hold.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = {".hpp", ".h", ".cpp", ".c", ".ipp"}
OPENS = re.compile(r"^(?:inline )?namespace ([\w:]*) ?\{$")
TYPE = re.compile(
    r"^(?:struct|class|enum class|enum) (?:alignas\(\w+\) |\[\[\w+\]\] )*(\w+)(?: final)?(?: : [^;]*)? \{"
)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


@dataclass
class Law:
    folders: dict[str, str] = field(default_factory=dict)  # room -> folder
    allowed: dict[str, set[str]] = field(default_factory=dict)  # room -> rooms it may include
    outside: dict[str, list[str]] = field(default_factory=dict)  # header -> places
    standard_only: list[str] = field(default_factory=list)
    exceptions: dict[str, list[str]] = field(default_factory=dict)  # file -> header prefixes


def read_law(path: Path) -> Law:
    law = Law()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        match words:
            case ["room", name, folder, *rooms] if folder.endswith(":"):
                law.folders[name] = folder[:-1]
                law.allowed[name] = set(rooms)
            case ["outside", header, *places] if places:
                law.outside[header.strip("<>")] = places
            case ["standard-only", folder]:
                law.standard_only.append(folder)
            case ["except", file, *prefixes] if prefixes:
                law.exceptions[file] = [prefix.strip("<>") for prefix in prefixes]
            case _:
                raise SystemExit(f"{path}:{number}: not a row of the law: {line}")
    for name, rooms in law.allowed.items():
        for room in rooms - {"*"} - law.folders.keys():
            raise SystemExit(f"{path}: room {name} may include {room}, which is no room")
    return law


def within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def is_test(file: str) -> bool:
    """A test beside its code, or what several of them stand on: outside of the room whose folder it lies in."""
    return file.endswith(("_test.cpp", "_suite.hpp"))


def room_of(law: Law, path: str) -> str | None:
    homes = [name for name, folder in law.folders.items() if within(path, folder)]
    return max(homes, key=lambda name: len(law.folders[name]), default=None)


def target_of(root: Path, file: str, header: str) -> str | None:
    """The project's own file that an include names, relative to the root, or None for another project's."""
    for base in ("include", "src", "faces"):
        # A header of a room counts even before the file exists: the law is about the room.
        if (root / base / header.split("/")[0]).is_dir() and "/" in header:
            return f"{base}/{header}"
    beside = (root / file).parent / header
    if beside.is_file():
        return beside.resolve().relative_to(root).as_posix()
    if (root / header).is_file():
        return header
    return None


def judge(law: Law, root: Path, file: str, quote: str, header: str) -> str | None:
    """The rule that one include breaks, or None."""
    home = room_of(law, file)
    if home is None:
        return "the folder is no room of LAYERS; give it a row"
    if ".." in header.split("/"):
        return f'"{header}" climbs; write it from include/ or src/'
    target = target_of(root, file, header)
    if target is None:
        if quote == '"':
            return f'"{header}" is no file of the project; another project\'s headers are written <{header}>'
        places = law.outside.get(header)
        if places is not None and not any(within(file, place) for place in places):
            return f"<{header}> may be included only by {', '.join(places)}"
        if any(within(file, folder) for folder in law.standard_only):
            standard = "." not in header and "/" not in header
            if not standard and not any(header.startswith(prefix) for prefix in law.exceptions.get(file, [])):
                return f"<{header}> is not of the standard library, and {home} includes nothing else"
        return None
    if is_test(target) and not is_test(file):
        return f"{header} is of the tests, and only they include it"
    room = room_of(law, target)
    if room is None or room == home:
        if target.startswith("src/") and not header.startswith(target.split("/")[1] + "/"):
            return f'"{header}" is written from its folder; write it from src/'
        return None
    allowed = law.allowed[home]
    if is_test(file) or "*" in allowed or room in allowed:
        return None
    may = ", ".join(sorted(allowed)) or "no other room"
    return f"{home} includes {room} ({header}); LAYERS lets {home} include {may}"


def types_in(text: str) -> list[tuple[int, str]]:
    """Each type that others can name, with its line. What is unnamed or in another type has no such name."""
    types, spaces = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if opens := OPENS.match(line):
            spaces.append(opens[1])
        elif line.startswith("}  // namespace") and spaces:
            spaces.pop()
        elif (found := TYPE.match(line)) and spaces and "" not in spaces:
            types.append((number, "::".join([*spaces, found[1]])))
    return types


def check(root: Path) -> list[str]:
    law = read_law(root / "LAYERS")
    broken = []
    where: dict[str, str] = {}  # type -> its file, which may have one for each preset
    for top in ("include", "src", "faces", "bench", "examples", "tests"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SOURCES or not path.is_file():
                continue
            file = path.relative_to(root).as_posix()
            text = path.read_text(errors="replace")
            for number, name in types_in(text) if top in ("include", "src", "faces") else []:
                if where.setdefault(name, file) != file:
                    broken.append(f"{file}:{number}: {name} is a type in {where[name]}, too")
            for number, line in enumerate(text.splitlines(), 1):
                found = INCLUDE.match(line)
                rule = judge(law, root, file, found[1], found[2]) if found else None
                if rule:
                    broken.append(f"{file}:{number}: {rule}")
    return broken


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    broken = check(root)
    print("\n".join(broken) if broken else "every include keeps the law in LAYERS, and each type has a name of its own")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
