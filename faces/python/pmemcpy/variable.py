"""What arrays and values have in common: a name, attributes, and what is known of them."""

from __future__ import annotations

from . import _core
from .attributes import Attributes
from .info import Report


class Variable:
    """Something with a name in a pool that holds data."""

    def __init__(self, pool: _core.Pool, id: str) -> None:
        self._pool = pool
        self._id = id

    @property
    def name(self) -> str:
        """Its id in the pool."""
        return self._id

    @property
    def attrs(self) -> Attributes:
        return Attributes(self._pool, self._id)

    @property
    def info(self) -> Report:
        """All that is known of it without reading its data."""
        return Report(self._pool.info(self._id))

    @property
    def creation(self) -> Report:
        """Who created it, and when: created_ns, user, host, program, ranks (0: not an MPI program)."""
        return Report(self._pool.creation(self._id))
