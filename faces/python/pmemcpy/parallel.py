"""Opening by all ranks of a communicator of mpi4py, without linking MPI: the protocol of include/pmemcpy/mpi.hpp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import Error, InvalidArgumentError


def open(attempt: Callable[[str, int], Any], mode: str, comm: Any, per_node: bool) -> Any:
    """What attempt(mode, rank) opens, in every rank; or the error of the lowest rank that failed, in every rank."""
    from mpi4py import MPI

    node = comm.Split_type(MPI.COMM_TYPE_SHARED, comm.rank)
    try:
        if not per_node and comm.allreduce(node.size, MPI.MIN) < comm.size:
            raise InvalidArgumentError(
                "the communicator spans several nodes, which cannot share memory; set per_node=True for a pool on each "
                "node, or split the communicator"
            )
        pool, failure = None, None
        if node.rank == 0:
            pool, failure = _try(attempt, mode, comm.rank)
        _agree(pool, failure, comm)
        if node.rank != 0:
            pool, failure = _try(attempt, "r" if mode == "r" else "r+", comm.rank)
        _agree(pool, failure, comm)
        return pool
    finally:
        node.Free()


def _try(attempt: Callable[[str, int], Any], mode: str, rank: int) -> tuple[Any, Exception | None]:
    try:
        return attempt(mode, rank), None
    except Exception as failure:  # the other ranks must hear of it, whatever it is
        return None, failure


def _agree(pool: Any, failure: Exception | None, comm: Any) -> None:
    """Raises the failure of the lowest rank that has one, in all."""
    own = None if failure is None else (type(failure), str(failure))
    first = next((failed for failed in comm.allgather(own) if failed is not None), None)
    if first is None:
        return
    if pool is not None:
        pool.close()
    if failure is not None:
        raise failure
    kind, message = first
    raise kind(message) if issubclass(kind, Error) else RuntimeError(f"another rank failed: {kind.__name__}: {message}")
