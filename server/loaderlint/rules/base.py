"""What a rule is.

A rule is one module, or a package if it has modules of its own: its docstring is its page, and `RULE` is its metadata
with `find`, the function that asks the model. The engine chooses the subjects (`over`), so a rule never scans the
project.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from loaderlint.findings.finding import Finding, Severity, Silence
from loaderlint.project.reach.model import Model, WorkerFunction

Over = Literal["loader", "worker function", "worker module", "main function"]


class WorkerModule(Struct, frozen=True):
    """A file with the functions in it that workers run."""

    path: Path
    functions: tuple[WorkerFunction, ...]


class Rule(Struct, frozen=True):
    """A rule.

    - `over`: what `find(subject, model)` is called with: each `Loader`, `WorkerFunction` or `WorkerModule`, or each
      `MainFunction` in a piece that contains one of `words`.
    - `needs`: the loaders that count: W2 with two or more workers, W1 with at least one, L any, M the code around a
      loader.
    - `find`: yields findings, and a `Silence` for each candidate that turns out to be harmless, which
      `loaderlint explain FILE:LINE` shows.
    - `fix`: the safety of its quick fix; None if it has none.
    - `follows_data`: whether the fault depends on the data that reaches the line, and not only on what the line does.
      Where it is a guess that a loader holds the dataset, it is another guess what the data is: at most a hint. In
      public code, nearly all such findings of these rules were wrong.
    - `stops_start`: whether no worker of a loader starts while it has this fault. A fix of one such fault is unsafe
      where another one stays.
    - `page`: its documentation in Markdown."""

    code: str
    name: str
    severity: Severity
    needs: Literal["W2", "W1", "L", "M"]
    over: Over
    find: Callable[[Any, Model], Iterable[Finding | Silence]]
    fix: Literal["safe", "unsafe"] | None
    page: str
    enabled_by_default: bool = True
    words: tuple[str, ...] = ()
    follows_data: bool = False
    stops_start: bool = False

    @property
    def workers(self) -> int:
        """How many workers a loader must have to count."""
        return {"W2": 2, "W1": 1}.get(self.needs, 0)

    @property
    def summary(self) -> str:
        """The first sentence of 'What it does'."""
        match = re.search(r"## What it does\s+(.+?[.!?])(?=\s|\Z)", self.page, re.DOTALL)
        return " ".join(match[1].split()) if match else self.name


def page(module_doc: str | None) -> str:
    """The page of a rule: its module's docstring without the indentation. Raises ValueError if there is none."""
    if not module_doc:
        raise ValueError("a rule needs a docstring: it is the rule's page")
    return inspect.cleandoc(module_doc)
