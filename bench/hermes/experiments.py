"""The paper's experiments: which runs there are, in which order. rows.py says what comes of them."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import servers
from neighbours import Rounds, programs

KIB, MIB = 1 << 10, 1 << 20

# Figure 4: what is allocated.
MEMORY = ("pmemcpy", "malloc", "tcmalloc")
TCMALLOC = "libtcmalloc_minimal.so.4"
SIZES_OF_MEMORY = tuple(KIB << shift for shift in range(6, 12))  # 64 KiB to 2 MiB
METADATA = ("pmemcpy", "memcached", "redis", "redis-pipelined", "mpi", "mpi-handed-over")
MESSAGES = ("pmemcpy", "pmemcpy-collected", "nats", "nats-flushed", "memcached", "mpi", "mpi-handed-over")

# Figures 8 to 11. Bandwidths of Figure 7 in units of the parallel file system's.
WRITE_RATIO = {"ram": 118.0, "nvme": 45.0, "burst-buffer": 3.8, "pfs": 1.0}
STAND_INS = ("elevator", "datawarp")
POLICIES = ("max-bandwidth", "max-locality")
# MaxLocality as in the paper: nobody makes room before a store waits for it.
REORGANIZING = "reorganizing"
PHASES = 16
# How long a phase computes, by how long the parallel file system takes for what it stores. In the first there is so
# little time that what does not fit above the burst buffer has to be waited for.
COMPUTING = {"data-intensive": 1 / 32, "balanced": 0.5, "compute-intensive": 2.0}
# The same of VPIC-IO and HACC-IO, which the paper does not tell.
COMPUTING_OF_APPLICATIONS = 1.0
READS = (1, 4, 16)
RANKS = (2, 4)


@dataclass(frozen=True)
class Contender:
    """One way to use one program."""

    name: str
    program: Path
    variant: str | None = None  # where the program has several
    server: str | None = None  # that has to be there
    is_mpi: bool = False


@dataclass(frozen=True)
class Sizes:
    operations: int
    processes: tuple[int, ...]
    bytes_copied: int  # in a run of Figure 4, at most
    bytes_stored: int  # in a run of Figures 8 to 11
    pfs_bytes_per_second: float
    blocks: int = 32  # in a phase, of all ranks

    @property
    def ram_bytes(self) -> int:
        return self.bytes_stored // 4

    @property
    def nvme_bytes(self) -> int:
        return self.bytes_stored // 4

    @property
    def phase_bytes(self) -> int:
        return self.bytes_stored // PHASES

    def computing_seconds(self, ratio: float) -> float:
        return ratio * self.phase_bytes / self.pfs_bytes_per_second

    def memory_bytes(self, section: str) -> int:
        """That a run may touch. 10^6 files' metadata take 690 MiB of a pool."""
        return KIB * self.operations if section == "figure5" else 2 * self.bytes_stored


def contenders(folder: Path, kind: str) -> dict[str, Contender]:
    """Of Figure 5 (`metadata`) or 6 (`messages`), by name, built or not."""

    def of(name: str, library: str, **more: object) -> Contender:
        return Contender(name, folder / f"hermes_{kind}_{library}", **more)

    ours = [of("pmemcpy", "pmemcpy")]
    if kind == "messages":
        ours.append(of("pmemcpy-collected", "pmemcpy", variant="pmemcpy-collected"))
    mpi = [of(name, "mpi", variant=name, is_mpi=True) for name in ("mpi", "mpi-handed-over")]
    redis = [of(name, "redis", variant=name, server="redis") for name in ("redis", "redis-pipelined")]
    nats = [of(name, "nats", variant=name, server="nats") for name in ("nats", "nats-flushed")]
    peers = redis if kind == "metadata" else nats
    found = [*ours, *mpi, *peers, of("memcached", "memcached", server="memcached")]
    return {contender.name: contender for contender in found}


@dataclass
class Runs(Rounds[Contender]):
    """All that was run, and what came of it."""

    folder: Path = Path()
    programs_folder: Path = Path()
    budget_seconds: float = 60  # of all runs of one contender at one piece of work; one run there always is
    spent: dict[tuple, float] = field(default_factory=dict)

    def ask(self, about: dict, contender: Contender, processes: int, option: str, operations: int) -> None:
        """A run of Figure 5 or 6, with its server."""
        entry = about | {"contender": contender.name}
        if not contender.program.exists():
            self.add(without(entry) | {"unsupported": f"{contender.program.name} was not built"})
            return
        key = self.key_of(entry)
        if self.spent.get(key, 0) > self.budget_seconds:
            return
        # As many for each process.
        count = max(1, operations // processes) * processes
        command = [str(contender.program), option, str(count)]
        if contender.variant:
            command += ["--variant", contender.variant]
        if contender.is_mpi:
            # Who waits yields the processor, for which others wait. The ranks' shared memory goes with the folder.
            settings = ["--mca", "mpi_yield_when_idle", "1", "--mca", "btl_vader_backing_directory", str(self.folder)]
            command = [*programs.launcher(processes + 1), *settings, *command]
        else:
            command += ["--processes", str(processes)]
        try:
            if contender.server:
                with servers.running(contender.server, self.folder) as where:
                    result = self.attempt(entry, [*command, "--path", where])
            else:
                path = [] if contender.is_mpi else ["--path", str(self.folder / "pool")]
                result = self.attempt(entry, [*command, *path])
        except servers.IsMissing as missing:
            self.add(without(entry) | {"unsupported": str(missing)})
            return
        except programs.Failed as failure:
            self.fail(entry, str(failure))
            return
        finally:
            programs.remove(self.folder / "pool")
        if result:
            self.spent[key] = self.spent.get(key, 0) + sum(v for k, v in result.items() if k.endswith("_s"))

    def allocate(self, about: dict, contender: Contender, options: list[str]) -> None:
        """A run of Figure 4. tcmalloc takes malloc's place when the program starts."""
        entry = about | {"contender": contender.name}
        if not contender.program.exists():
            self.add(without(entry) | {"unsupported": f"{contender.program.name} was not built"})
            return
        before = ["env", f"LD_PRELOAD={TCMALLOC}"] if contender.name == "tcmalloc" else []
        memory = "buckets" if contender.name == "pmemcpy" else "malloc"
        command = [*before, str(contender.program), "--memory", memory, "--path", str(self.folder / "buckets")]
        try:
            result = self.attempt(entry, [*command, *options])
        finally:
            programs.remove(self.folder / "buckets")
        if result and contender.name == "tcmalloc" and result["memory"] != "tcmalloc":
            # The loader only warns.
            self.done.pop()
            self.given_up.add(self.key_of(entry))
            self.add(without(entry) | {"unsupported": f"{TCMALLOC} is not installed"})

    def lacks(self, program: Path, scheme: str) -> str | None:
        """Why there is no such run; None if there is."""
        if not program.exists():
            return f"{program.name} was not built"
        if scheme not in programs.output_of([str(program), "--help"]):
            return f"{program.name} has no such scheme"
        return None

    def buffer(self, about: dict, scheme: str, sizes: Sizes, ranks: int, *options: str) -> None:
        """A run of Figures 8 to 11."""
        entry = about | {"contender": scheme}
        program = self.programs_folder / "hermes_buffering"
        if why := self.lacks(program, scheme):
            self.add(without(entry) | {"unsupported": why})
            return
        # The top target alone has room for all.
        ram_bytes = sizes.ram_bytes if scheme not in ("top", "flushing") else 4 * sizes.bytes_stored
        command = [str(program), "--scheme", scheme, "--folder", str(self.folder / "buffers"), *options]
        command += ["--pfs-bytes-per-second", str(sizes.pfs_bytes_per_second)]
        command += ["--ram-bytes", str(ram_bytes), "--nvme-bytes", str(sizes.nvme_bytes)]
        command += ["--ranks", str(ranks), "--phases", str(PHASES)]
        command += ["--phase-bytes", str(sizes.phase_bytes // ranks), "--blocks", str(sizes.blocks // ranks)]
        try:
            self.attempt(entry, command)
        finally:
            shutil.rmtree(self.folder / "buffers", ignore_errors=True)


def without(entry: dict) -> dict:
    """Of a run that there is not: once for all repetitions."""
    return {name: value for name, value in entry.items() if name != "repetition"}


def figure4(runs: Runs, sizes: Sizes) -> None:
    """Writes of all sizes at once, in either order, with what is written and without; then size by size."""
    program = runs.programs_folder / "hermes_memory"
    runs.by_name = {name: Contender(name, program) for name in MEMORY}
    all_sizes = (SIZES_OF_MEMORY[0], SIZES_OF_MEMORY[-1])
    cases = [(order, is_copied, all_sizes) for order in ("stream", "bursts") for is_copied in (False, True)]
    cases += [("bursts", True, (size, size)) for size in SIZES_OF_MEMORY]
    for order, is_copied, (smallest, largest) in cases:
        of_it = [size for size in SIZES_OF_MEMORY if smallest <= size <= largest]
        operations = sizes.operations
        if is_copied:  # more bytes than that take long and show nothing else
            operations = max(1, min(operations, sizes.bytes_copied * len(of_it) // sum(of_it)))
        about = {"experiment": "figure4", "order": order, "is_copied": is_copied, "smallest": smallest}
        about |= {"largest": largest}
        options = ["--order", order, "--smallest", str(smallest), "--largest", str(largest)]
        options += ["--operations", str(operations), *([] if is_copied else ["--no-copy"])]
        for repetition, contender in runs.rounds(MEMORY):
            runs.allocate(about | {"repetition": repetition}, contender, options)


def figure5(runs: Runs, sizes: Sizes) -> None:
    runs.by_name = contenders(runs.programs_folder, "metadata")
    for processes in sizes.processes:
        for repetition, contender in runs.rounds(METADATA):
            about = {"experiment": "figure5", "processes": processes, "repetition": repetition}
            runs.ask(about, contender, processes, "--files", sizes.operations)


def figure6(runs: Runs, sizes: Sizes) -> None:
    runs.by_name = contenders(runs.programs_folder, "messages")
    for processes in sizes.processes:
        for repetition, contender in runs.rounds(MESSAGES):
            about = {"experiment": "figure6", "processes": processes, "repetition": repetition}
            runs.ask(about, contender, processes, "--messages", sizes.operations)


def schemes(runs: Runs, names: tuple[str, ...]) -> None:
    runs.by_name = {name: Contender(name, runs.programs_folder / "hermes_buffering") for name in names}


def figure8(runs: Runs, sizes: Sizes) -> None:
    for work, ratio in COMPUTING.items():
        names = ("top", "none", *STAND_INS, *POLICIES, *((REORGANIZING,) if work != "data-intensive" else ()))
        schemes(runs, names)
        for repetition, scheme in runs.rounds(names):
            about = {"experiment": "figure8", "work": work, "ranks": 2, "repetition": repetition}
            runs.buffer(about, scheme.name, sizes, 2, "--compute-s", str(sizes.computing_seconds(ratio)))


def background(runs: Runs, sizes: Sizes) -> None:
    """What flushing costs those who store, with room for all; and how fast it is. The second computes so little that
    flushing is all that there is."""
    names = ("top", "flushing")
    schemes(runs, names)
    for work in ("compute-intensive", "data-intensive"):
        computing = str(sizes.computing_seconds(COMPUTING[work]))
        for repetition, scheme in runs.rounds(names):
            about = {"experiment": "background", "work": work, "ranks": 2, "repetition": repetition}
            runs.buffer(about, scheme.name, sizes, 2, "--compute-s", computing)


def figure9(runs: Runs, sizes: Sizes) -> None:
    names = ("none", *STAND_INS, "max-bandwidth", "hot-data")
    schemes(runs, names)
    for reads in READS:
        for repetition, scheme in runs.rounds(names):
            about = {"experiment": "figure9", "reads": reads, "ranks": 2, "repetition": repetition}
            runs.buffer(about, scheme.name, sizes, 2, "--scratch", "--repeat-reads", str(reads))


def application(runs: Runs, sizes: Sizes, experiment: str, *options: str) -> None:
    names = ("none", *STAND_INS, "max-bandwidth")
    schemes(runs, names)
    computing = str(sizes.computing_seconds(COMPUTING_OF_APPLICATIONS))
    for ranks in RANKS:
        for repetition, scheme in runs.rounds(names):
            about = {"experiment": experiment, "ranks": ranks, "repetition": repetition}
            runs.buffer(about, scheme.name, sizes, ranks, "--compute-s", computing, *options)


def figure10(runs: Runs, sizes: Sizes) -> None:
    application(runs, sizes, "figure10")


def figure11(runs: Runs, sizes: Sizes) -> None:
    application(runs, sizes, "figure11", "--repeat-reads", "1", "--reads-back")


ALL: dict[str, Callable[[Runs, Sizes], None]] = {
    "figure4": figure4,
    "figure5": figure5,
    "figure6": figure6,
    "figure8": figure8,
    "background": background,
    "figure9": figure9,
    "figure10": figure10,
    "figure11": figure11,
}
