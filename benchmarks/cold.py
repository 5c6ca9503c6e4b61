"""CPU time and peak memory of a cold check of some folders, each in a process of its own.

python benchmarks/cold.py FOLDER [FOLDER ...]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

_ONE = """
import json, resource, sys, time
from pathlib import Path
from loaderlint.engine import Workspace
found = Workspace([Path(sys.argv[1])]).check()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
lines = sum(path.read_bytes().count(b"\\n") for path in found)
print(json.dumps([len(found), lines, sum(map(len, found.values())), time.process_time(), peak]))
"""


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folders", nargs="+", type=Path)
    print(f"{'folder':<50}{'files':>7}{'lines':>9}{'findings':>10}{'CPU s':>8}{'peak MiB':>10}")
    sums = [0.0, 0.0, 0.0, 0.0]
    highest = 0.0
    for folder in arguments.parse_args().folders:
        done = subprocess.run([sys.executable, "-c", _ONE, folder], capture_output=True, text=True, check=True)
        files, lines, findings, seconds, peak = json.loads(done.stdout)
        print(f"{folder.name[:49]:<50}{files:>7}{lines:>9}{findings:>10}{seconds:>8.2f}{peak:>10.0f}", flush=True)
        sums = [a + b for a, b in zip(sums, (files, lines, findings, seconds), strict=True)]
        highest = max(highest, peak)
    print(f"{'all':<50}{sums[0]:>7.0f}{sums[1]:>9.0f}{sums[2]:>10.0f}{sums[3]:>8.2f}{highest:>10.0f}")


if __name__ == "__main__":
    main()
