"""The options and results of benchmarks."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Factors of the units that differ from those of the system.
MILLISECONDS = 1000.0
MIB = 2**20
#: The settings of all measured projects.
EVERY_RULE = '[tool.loaderlint]\nselect = ["ALL"]\n'


@dataclass(frozen=True, slots=True)
class Options:
    """How much to measure. `cache`: the folder for downloads; `rounds`: the number of rounds; `quick`: fewer keystrokes
    and a part of each corpus, for a quick run and for testing the benchmarks; `sizes`: the numbers of files on the
    curve of growth; `seed`: the seed of random choices."""

    cache: Path
    rounds: int = 3
    quick: bool = False
    sizes: tuple[int, ...] = (1000, 2000, 4000)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Measure:
    """A measurement: `values` in `unit` ('s', 'ms' and 'MiB' are CPU time and memory; '' is a ratio or a count), one
    per round or per measured file."""

    name: str
    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median, which is shown."""
        return statistics.median(self.values)


def ratio(name: str, above: Sequence[float], below: Sequence[float]) -> Measure:
    """The ratio of `above` to `below`, round by round: both are from the same run."""
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
    """Print progress to stderr; results go to standard output."""
    print(text, file=sys.stderr, flush=True)
