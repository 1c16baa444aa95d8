"""The targets below a pool: what lies where, and what is done about it."""

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
    """What a pool has besides for the targets below it."""

    _pool: Handle

    @property
    def hierarchy(self) -> str | None:
        """The targets below the pool, and how they are used, as YAML; None without."""
        return _core.hierarchy(self._pool)

    def set_hierarchy(self, yaml: str | None) -> None:
        """Gives the pool a hierarchy, for all who have it open, or takes it away. The keys are in docs/tiers.md.

        Errors: InvalidArgumentError with the line; NotFoundError, PermissionDeniedError (a target's directory);
            BusyError, when blocks lie in a target that is left out; UnsupportedError by a build without yaml-cpp.
        """
        _core.set_hierarchy(self._pool, yaml)

    def move(self, name: str, target: str) -> int:
        """Moves a variable, or all of a group ("/": the pool), to a target of the hierarchy. Returns bytes."""
        return _core.move(self._pool, name, target)

    def set_mode(self, match: str, mode: str) -> None:
        """Has what a glob matches, stored already or not, flushed otherwise: "none", "write-back", "write-through",
        "bypass", "scratch"; of "/" all that no rule is about.

        Errors: InvalidArgumentError in a pool without a hierarchy.
        """
        _core.set_mode(self._pool, match, mode)

    @property
    def targets(self) -> list[Report]:
        """name, kind, path, used_bytes, capacity_bytes, trouble, command_trouble of each."""
        return [Report(each) for each in _core.targets(self._pool)]

    def flush(self, name: str = "/", progress: Callable[[int, int], object] | None = None) -> int:
        """Copies what the flush target does not have yet of a variable or group, waits for it, and returns the bytes.

        Calls progress(bytes done, all), perhaps from other threads; False from it stops. Killed, what was copied is.
        Errors: InvalidArgumentError without a target below the pool, NotFoundError, NoSpaceError, IoError,
            CorruptError (a block that is not as it was stored).
        """
        return _core.flush(self._pool, name, progress)

    @property
    def unflushed(self) -> Report:
        """What is to be flushed by the modes and is not yet: blocks, size_bytes."""
        return Report(_core.unflushed(self._pool))

    def receipts(self, name: str) -> list[Report]:
        """Of each block of an array: target, is_flushed, survives ("process", "power", "node"), flushed_in_s, ..."""
        return [Report(each) for each in _core.receipts(self._pool, name)]

    def request(self, what: str, name: str = "/", urgency: int = 1) -> None:
        """Asks whoever works in the background to "flush" something, or to "bring up" what of it lies below.

        Returns at once; of several the most urgent (0 to 3) comes first. If nobody is there, the next who opens the
        pool does it. Errors: InvalidArgumentError without a target below the pool, NotFoundError, NoSpaceError when
        1,024 are waiting, PermissionDeniedError.
        """
        _core.request(self._pool, what, name, urgency)

    @property
    def requests(self) -> int:
        """How many wait, or are just being done."""
        return _core.requests(self._pool)

    def reserve(self, size_bytes: int, target: str = "") -> None:
        """Keeps so much of a target ("": the pool) for what is stored here, until that has taken it or it is closed.

        Errors: NoSpaceError, and then nothing is reserved; InvalidArgumentError (no such target).
        """
        _core.reserve(self._pool, size_bytes, target)

    def reserved(self, target: str = "") -> int:
        """What is left of it."""
        return _core.reserved(self._pool, target)

    def will_need(self, name: str, offset: Sequence[int] | None = None, count: Sequence[int] | None = None) -> int:
        """Says that blocks are going to be read: they come up in the background and are the last to leave.

        Of an array, a box of it, or a group ("/": the pool). It counts until they are read. Returns how many.
        Errors: NotFoundError, InvalidArgumentError for a pool without a hierarchy, PermissionDeniedError.
        """
        return _core.will_need(self._pool, name, _box(offset), _box(count))

    def wont_need(self, name: str, offset: Sequence[int] | None = None, count: Sequence[int] | None = None) -> int:
        """Says that blocks are not going to be read: they are the first to leave. Otherwise as will_need()."""
        return _core.wont_need(self._pool, name, _box(offset), _box(count))

    def prefetch(self, function: Callable[[Read], Iterable[Ahead] | None] | None) -> None:
        """From now on `function` is asked after each read of a block here what is going to be read next.

        It gives names, or (name, offset, count); what of them lies below comes up in the background, instead of what
        the pattern of the reads suggests. Another thread calls it, which must not use the pool: BusyError. What it
        raises is printed, and it is asked again with the next read. None: nobody is asked.
        Errors: InvalidArgumentError without a hierarchy or with `promotion: never`, PermissionDeniedError.
        Example: pool.prefetch(lambda read: [f"u/{int(read.id[2:]) + 1}"])
        """
        _core.set_prefetcher(self._pool, None if function is None else lambda *read: function(Read(*read)))

    def heat(self) -> list[Report]:
        """How often each array was read, the hottest first: id, reads of each block on average, score, below_bytes."""
        return [Report(each) for each in _core.heat(self._pool)]

    @property
    def counters(self) -> Report | None:
        """Hits, misses, blocks brought up and wasted, of all processes since there is a hierarchy; None without."""
        counters = _core.counters(self._pool)
        return None if counters is None else Report(counters)

    def advise(self) -> Report:
        """What was counted says of the hierarchy: proposals, what is unknown, the hierarchy with all followed."""
        return Report(_core.advise(self._pool))


def rebuild(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    hierarchy: str | None = None,
    max_bytes: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> Report:
    """Makes a pool at `target` of what was flushed to the directory `source`, when that pool is lost.

    `hierarchy` (YAML): of the new pool; None: that of the lost one, if its directories are there. What could not be
    brought back is in `damages`, by name and box. Killed, the new pool is there whole or not at all.
    Errors: NotFoundError where nothing was flushed, InvalidArgumentError for what was flushed of several pools,
        BusyError when the pool is there, AlreadyExistsError, CorruptError when no inventory is whole, NoSpaceError.
    """
    return Report(_core.rebuild(os.fspath(source), os.fspath(target), hierarchy, max_bytes, progress))
