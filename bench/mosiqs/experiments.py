"""The paper's experiments: which runs there are, in which order. rows.py says what comes of them."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from runs import OURS, STAND_IN, Contender, Runs

KIB, MIB = 1 << 10, 1 << 20
SIZES = (256, 512, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 512 * KIB, MIB, 4 * MIB)
TWO_SIZES = (256, 512 * KIB)  # of Figure 7
STORE_SIZE = 512 * KIB
FILES_IN_ALL = 4137
OBJECTS_OF_A_FILE, ATTRIBUTES_OF_AN_OBJECT = 2167, 37
ENOUGH_SECONDS = 30  # a run that takes longer is not repeated: what it tells is far beyond any spread
ASK_ITS_FILES = ("miqs-made", "hdf5")  # which miqs-compact has stored
TEXTS_OF_NAMES = ("TEMP", "lat")


@dataclass(frozen=True)
class Sizes:
    """How much of everything."""

    budget: int  # bytes of one run of Figures 6 to 8
    most_objects: int
    processes: tuple[int, ...]  # of Figure 7
    scales: tuple[float, ...]  # of Table I
    object_bytes: int  # there
    records: int  # of the look-ups
    seconds: float  # to ask for each kind of question

    def objects(self, size: int) -> int:
        """As many of that size as the budget holds."""
        return max(16, min(self.most_objects, self.budget // size))


def write_and_read(runs: Runs, sizes: Sizes, name: str, object_sizes: tuple[int, ...], processes: int) -> None:
    """VPIC-IO and BDCATS-IO: once with memory that has to be made, once with memory that is there."""
    for size in object_sizes:
        for prepared in (False, True):
            for repetition, contender in runs.rounds((*OURS, *STAND_IN)):
                path = runs.path(contender)
                about = {
                    "experiment": name,
                    "size": size,
                    "processes": processes,
                    "prepared": prepared,
                    "repetition": repetition,
                    "count": sizes.objects(size),
                }
                options = {"size": size, "count": sizes.objects(size), "processes": processes}
                try:
                    if runs.run(about, contender, "write", path, prepared=prepared, **options):
                        runs.run(about, contender, "read", path, seed=repetition, **options)
                finally:
                    runs.remove(path)


def figure6(runs: Runs, sizes: Sizes) -> None:
    write_and_read(runs, sizes, "figure6", SIZES, 4)


def figure7(runs: Runs, sizes: Sizes) -> None:
    for processes in sizes.processes:
        write_and_read(runs, sizes, "figure7", TWO_SIZES, processes)


def figure8(runs: Runs, sizes: Sizes) -> None:
    """One process computes on what it stores and loads."""
    names = ("pmemcpy-none", "pmemcpy-view", *STAND_IN)
    for size in (256, 4 * KIB, STORE_SIZE):
        count = sizes.objects(size)
        options = {"size": size, "count": count, "processes": 1}
        for repetition, contender in runs.rounds(names):
            about = {"experiment": "figure8", "size": size, "repetition": repetition, "count": count}
            path = runs.path(contender)
            try:
                if contender.name != "pmemcpy-view":  # which stores as pmemcpy-none does
                    runs.run(about, contender, "produce", path, **options)
                    runs.remove(path)
                if runs.run(about | {"experiment": "figure8 fill"}, contender, "write", path, **options):
                    runs.run(about, contender, "use", path, **options)
            finally:
                runs.remove(path)


def stores(runs: Runs, sizes: Sizes) -> None:
    """What the index costs a store of 512 KiB, in more repetitions, for the differences are small."""
    count = sizes.objects(STORE_SIZE)
    for repetition, contender in runs.rounds(OURS, 3 * runs.repeat):
        about = {"experiment": "stores", "size": STORE_SIZE, "repetition": repetition, "count": count}
        path = runs.path(contender)
        try:
            runs.run(about, contender, "write", path, size=STORE_SIZE, count=count, processes=4, prepared=True)
        finally:
            runs.remove(path)


def with_index(runs: Runs) -> str:
    """The way of ours that questions are put to: with an index, where this build has one."""
    async_one = runs.by_name.get("pmemcpy-async")
    return "pmemcpy-async" if async_one and not async_one.unsupported else "pmemcpy-none"


def room_needed(files: int, object_bytes: int) -> int:
    """Bytes on the medium for all contenders of Table I: as small scales took. The index is there twice, for
    flush_index() makes a copy for those who may only read the pool."""
    objects = files * (OBJECTS_OF_A_FILE + 1)
    in_pool, in_file, in_index = 330, 50, 2 * 230
    return objects * (2 * (object_bytes + 512) + ATTRIBUTES_OF_AN_OBJECT * (in_pool + in_file + in_index))


def table1(runs: Runs, sizes: Sizes) -> None:
    ours = with_index(runs)
    names = (ours, "miqs-compact", *ASK_ITS_FILES)
    for scale in sizes.scales:
        files = max(4, round(FILES_IN_ALL * scale))
        about = {"experiment": "table1", "scale": scale, "files": files}
        needed = room_needed(files, sizes.object_bytes)
        if shutil.disk_usage(runs.folder).free < needed:
            reason = f"needs {needed / 2**30:.0f} GiB of room on the medium"
            runs.add(about | {"contender": ours, "work": "fill", "unsupported": reason})
            continue
        options = {"files": files, "size": sizes.object_bytes}
        try:
            filled = table1_fill(runs, about, names, options)
            table1_ask(runs, about, filled, options | {"seconds": sizes.seconds})
        finally:
            for contender in runs.line_up(names):
                runs.remove(runs.path(contender))


def table1_fill(runs: Runs, about: dict, names: tuple[str, ...], options: dict) -> tuple[str, ...]:
    """The names of those that have it. All ways to ask HDF5 read the same files."""
    filled = []
    for contender in runs.line_up(tuple(name for name in names if name not in ASK_ITS_FILES)):
        if runs.run(about, contender, "fill", runs.path(contender), set="granules", **options):
            filled.append(contender.name)
            if contender.name == "miqs-compact":
                filled += ASK_ITS_FILES
    return tuple(filled)


def table1_path(runs: Runs, contender: Contender) -> Path:
    return runs.folder / "miqs-compact" if contender.name in ASK_ITS_FILES else runs.path(contender)


def table1_ask(runs: Runs, about: dict, names: tuple[str, ...], options: dict) -> None:
    whats = ("contains", "members", "attributes")
    end_to_end = {name: value for name, value in options.items() if name != "seconds"}
    enough: set[tuple[str, str]] = set()
    for repetition, contender in runs.rounds(names):
        path = table1_path(runs, contender)
        now = about | {"repetition": repetition}
        for what in whats:
            # Nobody makes lists for one question.
            if contender.name != "miqs-made" and (contender.name, what) not in enough:
                result = runs.run(now | {"what": what}, contender, "end-to-end", path, what=what, **end_to_end)
                if result is None or result["seconds"] > ENOUGH_SECONDS:
                    enough.add((contender.name, what))
        if (contender.name, "ask") not in enough:
            result = runs.run(now, contender, "ask", path, set="granules", what=",".join(whats), **options)
            if result is None or result["ready_seconds"] > ENOUGH_SECONDS:
                enough.add((contender.name, "ask"))


def lookups(runs: Runs, sizes: Sizes) -> None:
    names = (with_index(runs), "lmdb", "sqlite", "sqlite-alone", "miqs-compact")
    about = {"experiment": "lookups", "records": sizes.records}
    try:
        filled = tuple(
            contender.name
            for contender in runs.line_up(names)
            if runs.run(about, contender, "fill", runs.path(contender), set="records", count=sizes.records)
        )
        for repetition, contender in runs.rounds(filled):
            runs.run(
                about | {"repetition": repetition}, contender, "ask", runs.path(contender), set="records",
                count=sizes.records, what="point,range,substring", seconds=sizes.seconds, seed=repetition + 1,
            )  # fmt: skip
    finally:
        for contender in runs.line_up(names):
            runs.remove(runs.path(contender))


def real(runs: Runs, sizes: Sizes, command: Path, files: list[Path]) -> None:
    """Attributes as people have written them: files come into a pool, and out of it as HDF5 for the stand-in."""
    if not files:
        runs.add(
            {"experiment": "real", "contender": "real", "work": "import", "unsupported": "no ferret-datasets here"}
        )
        return
    pool, folder, questions = runs.folder / "real.pmem", runs.folder / "real.h5s", runs.folder / "questions"
    folder.mkdir()
    ours = with_index(runs)
    try:
        for file in files:
            call(command, "import", file, pool, "--into", file.stem)
            call(command, "export", f"{pool}:{file.stem}", folder / f"{file.stem}.h5")
        listed = json.loads(call(command, "ls", "--values", "--json", pool))
        asked = questions_about(listed)
        questions.write_text("".join(json.dumps(question) + "\n" for question in asked))
        about = {"experiment": "real", "objects": len(listed), "files": len(files), "asked": len(asked)}
        if ours != "pmemcpy-none":
            runs.run(about, runs.by_name[ours], "index", pool)
        for repetition, contender in runs.rounds((ours, "miqs-compact")):
            path = pool if contender.name == ours else folder
            runs.run(
                about | {"repetition": repetition}, contender, "ask", path, set="file", what="all",
                questions=questions, seconds=sizes.seconds,
            )  # fmt: skip
    except subprocess.CalledProcessError as failure:
        runs.failures.append(f"real: {failure}: {failure.stderr.strip()[-500:]}")
    finally:
        for path in (pool, folder, questions):
            runs.remove(path)


def call(*words: object) -> str:
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True).stdout


def questions_about(listed: list[dict]) -> list[list[str]]:
    """Each text that any variable has as an attribute, and texts in names. What starts with _ is the exchange's own."""
    pairs = sorted(
        {
            (key, value)
            for entry in listed
            for key, value in entry["values"].items()
            if isinstance(value, str) and value and not key.startswith("_")
        }
    )
    return [list(pair) for pair in pairs] + [["name", "contains", text] for text in TEXTS_OF_NAMES]


def demo_files() -> list[Path]:
    """The package that the demo has its ocean from, where it is installed."""
    try:
        listed = call("dpkg", "-L", "ferret-datasets").splitlines()
    except (OSError, subprocess.CalledProcessError):
        return []
    return sorted(Path(line) for line in listed if line.endswith((".cdf", ".nc")))
