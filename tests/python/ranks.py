"""What each rank of test_parallel.py runs: all open one pool, store a box each, and read each other's.

usage: ranks.py PATH
"""

import sys

import numpy as np
import pmemcpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
path = sys.argv[1]
rank, ranks = comm.rank, comm.size

with pmemcpy.open(path, "x", comm=comm) as pool:
    array = pool.create("A", 100 * ranks)
    array[100 * rank : 100 * (rank + 1)] = np.full(100, float(rank))
    pool[f"of/{rank}"] = rank
    comm.Barrier()
    assert array[...].reshape(ranks, 100).mean(axis=1).tolist() == list(range(ranks))
    assert [pool[f"of/{r}"].value for r in range(ranks)] == list(range(ranks))
    assert sorted(block.info.writer_rank for block in array.blocks()) == list(range(ranks))
    comm.Barrier()

# What one rank cannot do is an error in all of them.
try:
    pmemcpy.open(path, "x", comm=comm)
except FileExistsError as error:
    refused = str(error)
else:
    raise AssertionError("a pool that is there was made")
assert len(set(comm.allgather(refused))) == 1
with pmemcpy.open(path, "r", comm=comm) as pool:
    assert pool["A"].shape == (100 * ranks,)
print(f"rank {rank} of {ranks}: ok", flush=True)
