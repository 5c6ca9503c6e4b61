"""The parts of the benchmarks, and how one is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context

from benchmarks.measures import Measure, Options

#: Each part, and the function that measures it.
PARTS = {
    "keystrokes": "keystrokes.run",
    "relinking": "relinking.run",
    "opening": "serving.opening",
    "starting": "serving.starting",
    "loading": "checking.loading_code",
    "packages": "checking.packages",
    "warm": "checking.warm",
    "memory": "serving.memory",
    "growth": "growth.run",
    "latency": "latency.run",
    "first": "first_findings.run",
}


def measured(name: str, options: Options) -> tuple[Measure, ...]:
    """The measurements of a part, run in a new process, so that no part is affected by another."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_run, name, options).result()


def _run(name: str, options: Options) -> tuple[Measure, ...]:
    module, _, function = PARTS[name].partition(".")
    measure: Callable[[Options], Iterator[Measure]] = getattr(import_module(f"benchmarks.{module}"), function)
    return tuple(measure(options))
