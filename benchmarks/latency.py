"""The replay of real typing (`typing_latency`) as a part: the waiting time of the user, in wall time."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import corpora, typing_latency
from benchmarks.measures import Measure, Options

_KEYS, _SOME_KEYS = 300, 40


def run(options: Options) -> Iterator[Measure]:
    """Milliseconds from a keystroke to its diagnostics, and how long the server's event loop was blocked. One replay of
    each kind: it takes as long as a person takes to type."""
    large = () if options.quick else (corpora.packages(options) / "torch-geometric",)
    for row in typing_latency.measure(large, keys=_SOME_KEYS if options.quick else _KEYS):
        where = f"{row.scenario}, {row.mode}"
        for name in ("p50", "p95", "max"):
            yield Measure(f"{where}: {name}", "ms", (row.latency[name],))
        yield Measure(f"{where}: event loop blocked, max", "ms", (row.probe["max"],))
