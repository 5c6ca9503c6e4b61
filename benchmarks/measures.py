"""What a benchmark is given, and what it returns."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Factors of the units that are not what the system counts in.
MILLISECONDS = 1000.0
MIB = 2**20
#: The settings of all projects that are measured.
EVERY_RULE = '[tool.loaderlint]\nselect = ["ALL"]\n'


@dataclass(frozen=True, slots=True)
class Options:
    """How much to do. `cache`: the folder of what was downloaded; `rounds`: how often everything is done in turn;
    `quick`: fewer keystrokes and a part of each corpus, for a look and for trying the benchmarks themselves; `sizes`:
    numbers of files on the curve of growth; `seed`: of whatever is chosen by chance."""

    cache: Path
    rounds: int = 3
    quick: bool = False
    sizes: tuple[int, ...] = (1000, 2000, 4000)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that was measured: `values` in `unit` ('s', 'ms' and 'MiB' are CPU time and memory; '' is a ratio or a
    count), one for each round or for each file that it was measured on."""

    name: str
    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """What is shown."""
        return statistics.median(self.values)


def ratio(name: str, above: Sequence[float], below: Sequence[float]) -> Measure:
    """How many times `below` fits into `above`, round by round: both are of the same run."""
    return Measure(name, "", tuple(one / other for one, other in zip(above, below, strict=True)))


def percentile(values: Sequence[float], percent: int) -> float:
    """The value that `percent` per cent of the values do not exceed."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def cpu(work: Callable[[], object]) -> float:
    """Seconds of CPU time that this process spends on `work`."""
    start = time.process_time()
    work()
    return time.process_time() - start


def note(text: str) -> None:
    """Say what goes on; what was measured goes to standard output."""
    print(text, file=sys.stderr, flush=True)
