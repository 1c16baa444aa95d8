"""One package, without MPI in it, works under Open MPI and under MPICH."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py")

QUIET = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_plm": "isolated",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "vader,self",
    "UCX_MEM_EVENTS": "no",
}
LAUNCH = {"openmpi": ["mpirun.openmpi"], "mpich": ["mpirun.mpich", "-launcher", "fork"]}


def library_of(flavour: str, folder: Path) -> dict[str, str]:
    """Where mpi4py's wheel finds that MPI: Debian calls MPICH's library otherwise than its own makers do."""
    found = sorted(Path("/usr/lib").glob("*/libmpich.so.12"))
    if flavour == "openmpi" or not found:
        return {"MPI4PY_MPIABI": flavour}
    (folder / "libmpi.so.12").symlink_to(found[0])
    return {"MPI4PY_MPIABI": flavour, "LD_LIBRARY_PATH": str(folder)}


@pytest.mark.parametrize("flavour", LAUNCH)
def test_ranks_share_a_pool(flavour: str, path: str, tmp_path: Path) -> None:
    if shutil.which(LAUNCH[flavour][0]) is None:
        pytest.skip(f"there is no {LAUNCH[flavour][0]}")
    done = subprocess.run(
        [*LAUNCH[flavour], "-n", "2", sys.executable, Path(__file__).with_name("ranks.py"), path],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **QUIET, **library_of(flavour, tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    for rank in range(2):  # their lines may be mixed
        assert f"rank {rank} of 2: ok" in done.stdout
