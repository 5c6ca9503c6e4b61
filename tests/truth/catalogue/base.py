"""What a case is, and the ways in which most programs are run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.truth.harness import CASES, PATIENCE

Loader = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """One way to run a program.

    `loader` and `arguments` as `harness.Zygote.measure` takes them; `shows` the symptoms of the faulty program (none:
    the fault does not show in this way, and the fix must not spoil it); `timeout`: after how many seconds the faulty
    program is said to hang."""

    name: str
    loader: Loader
    arguments: Mapping[str, Any] = field(default_factory=dict)
    shows: frozenset[str] = frozenset()
    timeout: float = PATIENCE


@dataclass(frozen=True, slots=True)
class Case:
    """A program in `cases/<rule>/<name>`. `flags`: what the tool is told beside the rule.

    `common`: arguments of the oracle in all runs. `after`: those that differ after the fix. A run's own arguments
    override both. `fix`: what the tool offers. `modules`: what it imports beside `harness.NEEDED`; without them it is
    skipped."""

    rule: str
    name: str
    oracle: str
    runs: tuple[Run, ...]
    common: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    fix: Literal["safe", "unsafe"] | None = "safe"
    modules: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where the program is."""
        return CASES / self.rule / self.name


FORK: Loader = {"multiprocessing_context": "fork"}
ONE_WORKER: Loader = {"multiprocessing_context": "fork", "num_workers": 1}
PERSISTENT: Loader = {"multiprocessing_context": "fork", "persistent_workers": True}
MAIN_PROCESS: Loader = {"num_workers": 0}
FORK_SERVER: Loader = {"multiprocessing_context": "forkserver"}
PERSISTENT_FORK_SERVER: Loader = {"multiprocessing_context": "forkserver", "persistent_workers": True}
#: A spawned worker imports PyTorch: seconds. Hence two workers that live on, and only where start methods can differ.
SPAWN: Loader = {"multiprocessing_context": "spawn", "num_workers": 2, "persistent_workers": True}

BOTH = frozenset({"duplicates", "repeats"})
DUPLICATES = frozenset({"duplicates"})
REPEATS = frozenset({"repeats"})
PICKLE = frozenset({"pickle"})
READS = frozenset({"reads"})
HANG = frozenset({"hang"})
THREADS = frozenset({"threads"})
EPOCHS = frozenset({"epochs"})
CHANGED = frozenset({"changed"})
ITEMS = frozenset({"items"})
TOUCH = {"touch": True}


def label(value: object) -> str | None:
    """A case or a run in the name of a test."""
    if isinstance(value, Case):
        return f"{value.rule}-{value.name}"
    return value.name if isinstance(value, Run) else None
