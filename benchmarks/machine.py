"""Describes the machine on which measurements are made."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import date
from pathlib import Path


def described() -> dict[str, str]:
    """The processor, memory, system, Python, loaderlint's version, and the day."""
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{_memory():.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "date": date.today().isoformat(),
    }


def load() -> str:
    """The load of the machine: CPU time grows by some ten per cent when processes share caches."""
    return f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""


def revision() -> str:
    """The commit that is measured; '' outside a repository."""
    folder = Path(__file__).parent
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=folder, capture_output=True, text=True)
    return done.stdout.strip()


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory() -> float:
    """The memory in GiB; 0 if the system does not say."""
    if sys.platform == "win32":
        return 0.0
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
