"""What the machine is that was measured on."""

import os
import platform
import subprocess
from pathlib import Path


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
