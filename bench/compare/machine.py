"""What the machine is that was measured on, and its memory before a run."""

import mmap
import os
import platform
import subprocess
from pathlib import Path


def bring_memory(count: int) -> None:
    """Touches so many bytes of memory and gives them back. The host of a virtual machine may take memory that nobody
    has used for seconds, and bring it again when it is touched, which takes ten times as long as all that is measured;
    then the first to run after a pause would pay for all."""
    huge_page = 2 << 20
    with mmap.mmap(-1, max(count, huge_page), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        for at in range(0, count, mmap.PAGESIZE):
            memory[at] = 1


def machine() -> dict:
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        "?",
    )
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release(),
        "huge_pages": Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text().strip(),
        "commit": subprocess.run(
            ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False,
            cwd=Path(__file__).parent,
        ).stdout.strip(),
    }  # fmt: skip
