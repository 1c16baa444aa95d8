"""The targets below a pool: where blocks lie, and how they move."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from . import _core
from .handle import Handle
from .info import Report

#: What is to come up: an array, or a box of an array as (name, offset, count).
Ahead = str | tuple[str, Sequence[int], Sequence[int]]


@dataclass(frozen=True)
class Read:
    """A block that was read."""

    id: str
    offset: tuple[int, ...]
    count: tuple[int, ...]
    was_in_pool: bool


def _box(numbers: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if numbers is None else tuple(numbers)


class Tiered:
    """The calls of a pool about the targets below it."""

    _pool: Handle

    @property
    def hierarchy(self) -> str | None:
        """The targets below the pool and how they are used, as YAML; None without."""
        return _core.hierarchy(self._pool)

    def set_hierarchy(self, yaml: str | None) -> None:
        """Sets the hierarchy for all processes that have the pool open, or removes it. The keys are in docs/tiers.md.

        Errors: InvalidArgumentError with the line; NotFoundError, PermissionDeniedError (a target's directory);
            BusyError when a target that is left out holds blocks; UnsupportedError by a build without yaml-cpp.
        """
        _core.set_hierarchy(self._pool, yaml)

    def move(self, name: str, target: str) -> int:
        """Moves a variable, or a group ("/": the pool), to a target of the hierarchy. Returns the bytes moved."""
        return _core.move(self._pool, name, target)

    def set_mode(self, match: str, mode: str) -> None:
        """Sets the mode of all ids that a glob matches, stored already or not: "none", "write-back", "write-through",
        "bypass", "scratch". "/" stands for ids without a rule.

        Errors: InvalidArgumentError in a pool without a hierarchy.
        """
        _core.set_mode(self._pool, match, mode)

    @property
    def targets(self) -> list[Report]:
        """The targets: name, kind, path, used_bytes, capacity_bytes, trouble, command_trouble."""
        return [Report(each) for each in _core.targets(self._pool)]

    def flush(self, name: str = "/", progress: Callable[[int, int], object] | None = None) -> int:
        """Copies blocks that the flush target lacks, of a variable or group, waits for it, and returns the bytes
        copied.

        Calls progress(bytes done, all), perhaps from other threads; False from it stops.
        Crash: finished copies stay.
        Errors: InvalidArgumentError without a target below the pool, NotFoundError, NoSpaceError, IoError, CorruptError
            (a block that is not as it was stored).
        """
        return _core.flush(self._pool, name, progress)

    @property
    def unflushed(self) -> Report:
        """What the modes are to flush and have not flushed yet: blocks, size_bytes."""
        return Report(_core.unflushed(self._pool))

    def receipts(self, name: str) -> list[Report]:
        """One for each block of an array: target, is_flushed, survives ("process", "power", "node"), flushed_in_s,
        ...
        """
        return [Report(each) for each in _core.receipts(self._pool, name)]

    def request(self, what: str, name: str = "/", urgency: int = 1) -> None:
        """Asks for work in the background: to "flush" a variable or group, or to "bring up" its blocks from below.

        Returns at once; the most urgent request (0 to 3) comes first. If no process works in the background, the next
        one that opens the pool does it.
        Errors: InvalidArgumentError without a target below the pool, NotFoundError, NoSpaceError when 1,024 are
            waiting, PermissionDeniedError.
        """
        _core.request(self._pool, what, name, urgency)

    @property
    def requests(self) -> int:
        """The number of pending requests."""
        return _core.requests(self._pool)

    def reserve(self, size_bytes: int, target: str = "") -> None:
        """Reserves space of a target ("": the pool) for stores of this pool object, until they have used it or it is
        closed.

        Errors: NoSpaceError, and then nothing is reserved; InvalidArgumentError (no such target).
        """
        _core.reserve(self._pool, size_bytes, target)

    def reserved(self, target: str = "") -> int:
        """The reserved bytes that are left."""
        return _core.reserved(self._pool, target)

    def will_need(self, name: str, offset: Sequence[int] | None = None, count: Sequence[int] | None = None) -> int:
        """Announces that blocks will be read: they come up in the background and leave the pool last.

        Of an array, a box of it, or a group ("/": the pool). It counts until they are read. Returns the number of
        blocks.
        Errors: NotFoundError, InvalidArgumentError for a pool without a hierarchy, PermissionDeniedError.
        """
        return _core.will_need(self._pool, name, _box(offset), _box(count))

    def wont_need(self, name: str, offset: Sequence[int] | None = None, count: Sequence[int] | None = None) -> int:
        """Announces that blocks will not be read: they leave the pool first. Otherwise as will_need()."""
        return _core.wont_need(self._pool, name, _box(offset), _box(count))

    def prefetch(self, function: Callable[[Read], Iterable[Ahead] | None] | None) -> None:
        """Sets a function that predicts reads: it is called after each read of a block through this pool object.

        It returns names, or (name, offset, count). Their blocks come up in the background, instead of those that the
        pattern of the reads suggests. Another thread calls it, and it must not use the pool: BusyError. Its exceptions
        are printed, and the next read calls it again. None removes it.
        Errors: InvalidArgumentError without a hierarchy or with `promotion: never`, PermissionDeniedError.
        Example: pool.prefetch(lambda read: [f"u/{int(read.id[2:]) + 1}"])
        """
        _core.set_prefetcher(self._pool, None if function is None else lambda *read: function(Read(*read)))

    def heat(self) -> list[Report]:
        """How often each array was read, the hottest first: id, reads of each block on average, score, below_bytes."""
        return [Report(each) for each in _core.heat(self._pool)]

    @property
    def counters(self) -> Report | None:
        """Counts of all processes since there is a hierarchy: hits, misses, blocks brought up and wasted; None
        without.
        """
        counters = _core.counters(self._pool)
        return None if counters is None else Report(counters)

    def advise(self) -> Report:
        """Proposes changes of the hierarchy from the counters: proposals, unknowns, the hierarchy with all applied."""
        return Report(_core.advise(self._pool))


def rebuild(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    hierarchy: str | None = None,
    max_bytes: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> Report:
    """Makes a pool at `target` from the directory `source` to which a lost pool was flushed.

    `hierarchy` (YAML): that of the new pool; None: that of the lost one, if its directories are there. Data that could
    not be brought back is in `damages`, by name and box.
    Crash: the new pool is there whole or not at all.
    Errors: NotFoundError where nothing was flushed, InvalidArgumentError where several pools were flushed, BusyError
        when the flushed pool still exists, AlreadyExistsError, CorruptError when no inventory is whole, NoSpaceError.
    """
    return Report(_core.rebuild(os.fspath(source), os.fspath(target), hierarchy, max_bytes, progress))
