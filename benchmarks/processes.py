"""Runs a command and measures its cost.

A small separate process starts the command: a process inherits the memory peak of its parent, so the reported peak is
at least the 10 MiB of that starter, and not the size of the benchmark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measures import MIB

#: Waits for the command and prints [exit code, CPU seconds, peak in KiB (bytes on macOS)]. CPU time is that of the
#: command and of all processes that it waited for. On Linux, the memory of its processes is also added up repeatedly:
#: the private memory of each, and its share of shared memory.
_STARTER = """
import json, os, sys, threading
out = os.open(sys.argv[1], os.O_WRONLY)
err = os.open(os.devnull, os.O_WRONLY)
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ,
    file_actions=[(os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, err, 2)])
done, highest = threading.Event(), 0

def family(process):
    yield process
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/children") as file:
            for below in file.read().split():
                yield from family(int(below))

def memory(process):
    with open(f"/proc/{process}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:"))

def watch():
    global highest
    while not done.wait(0.2):
        try:
            processes = list(family(child))
            if len(processes) > 1:
                highest = max(highest, sum(map(memory, processes)))
        except (OSError, StopIteration):
            pass

if sys.platform == "linux":
    threading.Thread(target=watch, daemon=True).start()
_, status, used = os.wait4(child, 0)
done.set()
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, max(used.ru_maxrss, highest)]))
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a command. `cpu`: CPU seconds of it and its children; `peak`: MiB of all its processes together
    (outside Linux: of the largest one); `output`: the end of its standard output."""

    code: int
    cpu: float
    peak: float
    output: str


def run(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str] | None = None) -> Cost:
    """Run a command to its end. `environment`: what to add to the present one."""
    surrounding = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **(environment or {})}
    with tempfile.NamedTemporaryFile() as written:
        starter = [sys.executable, "-I", "-S", "-c", _STARTER, written.name, *map(str, command)]
        done = subprocess.run(starter, cwd=folder, env=surrounding, stdout=subprocess.PIPE, text=True, check=True)
        code, cpu, peak = json.loads(done.stdout)
        return Cost(code, cpu, peak * (1 if sys.platform == "darwin" else 2**10) / MIB, _end(written.name))


def _end(path: str, size: int = 4000) -> str:
    data = Path(path).read_bytes()
    return data[-size:].decode("utf-8", "replace")
