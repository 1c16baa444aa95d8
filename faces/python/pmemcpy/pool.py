"""Opening a pool, and calls about the pool as a whole."""

from __future__ import annotations

import atexit
import os
import pathlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from typing import Any

from . import _core, parallel
from .errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, PoolExistsError, PoolNotFoundError
from .extract import Extractor, Function
from .groups import Group
from .handle import Handle
from .info import Report
from .operations import Operation, calling
from .tiers import Tiered

Path = str | os.PathLike[str]


def open(path: Path, mode: str = "r", *, comm: Any = None, per_node: bool = False, **options: Any) -> Pool:
    """Opens the pool at `path`: one file, or with a path that ends in "/" (or layout="directory") a folder.

    "NAME:" and "NAME:x" are pools in a namespace: see pmemcpy.namespaces.

    Modes, as in h5py: r reads, needs no permission to write and makes nothing (the default); r+ needs an existing pool;
    a makes one if missing; w makes a new one in the place of an old one that nobody uses; x makes a new one only.
    `comm`, a communicator of mpi4py: all its ranks call this; the first of a node makes the pool. `per_node` allows a
    communicator of several nodes, with a pool on each.
    Options of a new pool: max_bytes, initial_bytes, chunk_bytes, permissions, prepare, index (see Pool.set_index), wipe
    (fills freed space with zeros, so that nothing erased can be read from the file).
    Options of this opening: map_sync, checksums, characterise (minimum and maximum of each block), verify_loads, rank;
    recorded as the creator of new objects: ranks, program (the script).
    Errors: PoolNotFoundError, PoolExistsError, PermissionDeniedError, CorruptError, NoSpaceError, UnsupportedError,
        BusyError.
    """
    if comm is not None:
        job = {"ranks": comm.size, **options}
        pool: Pool = parallel.open(lambda m, rank: open(path, m, **{"rank": rank, **job}), mode, comm, per_node)
        return pool
    try:
        return Pool(Handle(os.fspath(path), mode, {"program": _program(), **options}))
    except NotFoundError as error:
        raise PoolNotFoundError(_missing(os.fspath(path), mode, error)) from None
    except AlreadyExistsError as error:
        raise PoolExistsError(str(error)) from None


def _missing(path: str, mode: str, error: NotFoundError) -> str:
    """The same with what helps in Python: a name nearby that is spelt nearly so, and the mode that makes a pool."""
    wanted = pathlib.Path(path)
    if mode not in ("r", "r+") or wanted.exists() or (":" in path and "/" not in path):  # NAME:x is no file's name
        return str(error)
    meant = []
    with suppress(OSError):  # such as no such folder
        beside = (".rt", ".feed", ".heat", ".idx")  # what lies beside a pool, and is none
        near = [entry.name for entry in wanted.parent.iterdir() if entry.suffix not in beside]
        meant = get_close_matches(wanted.name, near, n=1)
    ask = f" Did you mean {str(wanted.with_name(meant[0]))!r}?" if meant else ""
    return f'there is no pool at {path}, and mode={mode!r} makes none.{ask} mode="a" makes a new one'


def _program() -> str:
    """The script, for the program is always Python."""
    script = pathlib.PurePath(sys.argv[0]).name if sys.argv else ""
    return script if script not in ("", "-c", "-") else "python"


class Pool(Tiered, Group):
    """A pool of named variables, shared by every process that has it open; a mapping from their names.

    Crash: every call is all or nothing, even if its process is killed.
    Sharing: threads may share one. A forked child opens its own (BusyError). Unpickling opens the pool anew.
    """

    _pool: Handle

    def __init__(self, handle: Handle) -> None:
        self._prefix = "/"
        self._pool = handle

    # ---- open and closed ----

    def close(self) -> None:
        """Closes the pool, on page media after a sync; waits for calls of other threads. Views stay valid until
        dropped.
        """
        atexit.unregister(self.close)
        self._pool.close()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __bool__(self) -> bool:
        """True while it is open."""
        return self._pool.is_open

    def sync(self) -> None:
        """Makes everything stored so far survive a power loss, on page media. Cheap on other media."""
        self._pool.sync()

    # ---- what it is ----

    @property
    def path(self) -> str:
        return self._pool.path

    @property
    def durability(self) -> str:
        """The promise of the medium: none, page, line or byte."""
        return self._pool.durability

    @property
    def info(self) -> Report:
        return Report(self._pool.pool_info())

    # ---- steps ----

    @contextmanager
    def step(self, number: int) -> Iterator[Pool]:
        """Shows the stores inside the block to others at once, at its end. After an exception the step is abandoned.

        If several processes are in a step, each calls begin(), and after their own barrier one calls commit().
        """
        self.begin(number)
        try:
            yield self
        except BaseException:
            self.abandon()
            raise
        self.commit(number)

    def begin(self, number: int) -> None:
        """What this process stores from now on belongs to the step. Errors: InvalidArgumentError (not newer)."""
        self._pool.begin(number)

    def commit(self, number: int) -> None:
        """Shows the step of all processes. Errors: InvalidArgumentError, BusyError when a process died in it."""
        self._pool.commit(number)

    def abandon(self) -> None:
        """Drops what was stored in the step; others in it cannot commit it any more, and may begin it anew."""
        self._pool.abandon()

    def at(self, number: int) -> Group:
        """The arrays as of a committed step that is still kept, for loading."""
        return _AtStep(self, number)

    # ---- the index, by which find() finds without looking at each object ----

    @property
    def index(self) -> Report:
        """The state of the index: mode, is_complete, objects, changes_behind, size_bytes, trouble."""
        return Report(self._pool.index_info())

    def set_index(self, mode: str) -> None:
        """Sets how the index is kept: "async" by a thread of each storing process, "sync" by the storing call.

        "none" removes it. The index changes how long a query takes, never what it finds.
        Errors: PermissionDeniedError, UnsupportedError (also in a step).
        """
        self._pool.set_index_mode(mode)

    def flush_index(self) -> None:
        """Waits until everything stored so far is in the index."""
        self._pool.flush_index()

    def extract(self, name: str, query: str, function: Function) -> Extractor:
        """Sets attributes from the content of the objects that a query finds ("": all), in the background.

        Calls `function` once for each content that any process stores, with the Array, Value or Group. It returns a
        dict of attributes, or None. Existing content is covered too, unless an extractor of this name has looked at it;
        the object records that. Ends with close() or a `with`.
        Errors: InvalidArgumentError (name; a query with an order, a limit or a count), PermissionDeniedError.
        Example: with pool.extract("peak", "rank = 3", lambda u: {"peak": float(u[...].max())}): ...
        """
        return Extractor(self._pool, name, query, function, lambda: Pool(self._pool.again()))

    # ---- operations: what is done with arrays in the background, whenever something is stored into them ----

    def hint(self, name: str, *operations: str, bins: int = 64, codec: str = "lz4") -> None:
        """Applies operations to an array after each store, beginning with its present content; without any, none. Kept
        with the array.

        A process that has the pool open does them in the background, in this order: decompress, min, max, sum,
        histogram, deduplicate, sort, registered functions, compress, persist. Results are variables: `u.max`,
        `u.sorted`, `u.unique.sorted`.
        Errors: NotFoundError, InvalidArgumentError (no such operation; not an array), UnsupportedError.
        Example: pool.hint("u", "max", "sort", "compress")
        """
        _core.hint(self._pool, self._id_of(name), list(operations), bins, codec)

    def operate(self, name: str, *operations: str, bins: int = 64, codec: str = "lz4") -> list[str]:
        """Applies operations now, once. Returns the names of the results. Errors: as hint(), and those of the
        operations; CorruptError where the array is damaged; UnsupportedError in the function of an operation.
        """
        return _core.run_operations(self._pool, self._id_of(name), list(operations), bins, codec)

    def operation_state(self, name: str) -> Report:
        """The state of an array: progress is "none", "waiting", "done" or "failed"; a failed one has a trouble."""
        return Report(_core.operation_state(self._pool, self._id_of(name)))

    def operation_states(self) -> list[Report]:
        """The states of all variables that have a hint."""
        return [Report(state) for state in _core.operation_states(self._pool)]

    def wait_for_operations(self) -> None:
        """Waits until operations on everything stored so far are done or failed; not for those only another process can
        do. Errors: UnsupportedError in the function of an operation, which could wait for itself.
        """
        _core.wait_for_operations(self._pool)

    def operation(self, name: str, function: Operation | Path, *, seconds: float = 60, memory_bytes: int = 0) -> None:
        """Registers a function under a name that hints then use as an operation.

        A path is a shared library with the interface of <pmemcpy/operation.h>, or a source file in C or C++ that is
        compiled. It is called in a process of its own, within `seconds` and `memory_bytes` (0: 256 MiB and four times
        the input), for all processes that open the pool. A Python function gets a read-only array and returns one. It
        is called in this process, by another thread, while the pool is open.
        Errors: AlreadyExistsError, NotFoundError (the file), InvalidArgumentError (the name; errors of the compiler).
        Example: pool.operation("spectrum", lambda u: abs(np.fft.rfft(u))); pool.hint("u", "spectrum")
        """
        if callable(function):
            if (seconds, memory_bytes) != (60, 0):
                raise InvalidArgumentError(
                    "seconds and memory_bytes limit a process of its own; a Python function has none"
                )
            _core.add_operation_function(self._pool, name, calling(function))
            atexit.register(self.close)  # a thread that calls Python must end before Python does
        else:
            _core.add_operation_file(self._pool, name, os.fspath(function), seconds, memory_bytes)

    def remove_operation(self, name: str) -> None:
        """Removes a registered function. Errors: NotFoundError; BusyError while a hint has it."""
        _core.remove_operation(self._pool, name)

    @property
    def registered_operations(self) -> list[Report]:
        """The registered functions: name, number (of its bit, from 0 on), in_process, library, seconds, memory_bytes,
        trouble.
        """
        return [Report(one) for one in _core.registered_operations(self._pool)]

    # ---- space ----

    def prepare(self, size_bytes: int = 0) -> None:
        """Allocates space ahead, in huge pages, once: new mappings then copy at full speed. Takes about 0.4 s/GiB."""
        self._pool.prepare(size_bytes)

    def compact(self) -> None:
        """Frees blocks that newer ones cover together, and versions that no reader can request any more."""
        self._pool.compact()

    def trim(self) -> int:
        """Returns free space to the file system. Returns its bytes."""
        return self._pool.trim()

    def verify(self, progress: Callable[[int, int], None] | None = None) -> list[Report]:
        """Reads everything and compares checksums. Returns the damage, with id and box. Calls progress(done, all)."""
        return [Report(damage) for damage in self._pool.verify(progress)]

    def __repr__(self) -> str:
        how = f"mode {self._pool.mode}" if self else "closed"
        return f"<pmemcpy pool {self.path!r}, {how}>"

    def __reduce__(self) -> Any:
        return Pool, (self._pool,)


class _AtStep(Group):
    """The pool as it was at a step."""

    def __init__(self, pool: Pool, step: int) -> None:
        self._prefix = "/"
        self._of = pool
        self._pool = pool._pool
        self._step = step

    def __repr__(self) -> str:
        return f"<{self._of!r} at step {self._step}>"

    def __reduce__(self) -> Any:
        return _AtStep, (self._of, self._step)


def repair(source: Path, target: Path) -> Report:
    """Makes a new pool at `target` of what is whole in the one at `source`, which is only read.

    Private objects stay where they are, in the files that `private_files` of the report names.

    Errors: NotFoundError, AlreadyExistsError, BusyError while any process has the old pool open, CorruptError,
        NoSpaceError.
    """
    return Report(_core.repair(os.fspath(source), os.fspath(target)))
