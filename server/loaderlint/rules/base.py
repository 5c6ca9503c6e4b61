"""What a rule is, and the phrases that rules share.

A rule is one module: its docstring is its page, and `RULE` is its metadata with `find`, the function that asks the
model. The engine chooses the subjects (`over`), so a rule never scans the project.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from loaderlint.findings.finding import Certainty, Finding, Severity, Silence
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.reach.model import Exposure, Loader, Model, WorkerFunction

_EVALUATION = re.compile(r"val|test|eval|infer|predict", re.IGNORECASE)
Over = Literal["loader", "worker function", "worker module", "main function"]


@dataclass(frozen=True, slots=True)
class WorkerModule:
    """A file with the functions in it that workers run."""

    path: Path
    functions: tuple[WorkerFunction, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule.

    - `over`: what `find(subject, model)` is called with: each `Loader`, `WorkerFunction` or `WorkerModule`, or each
      `MainFunction` in a piece that contains one of `words`.
    - `needs`: the loaders that count: W2 with two or more workers, W1 with at least one, L any, M the code around a
      loader.
    - `find`: yields findings, and a `Silence` for each candidate that turns out to be harmless, which
      `loaderlint explain FILE:LINE` shows.
    - `fix`: the safety of its quick fix; None if it has none.
    - `page`: its documentation in Markdown.
    - `looks`: whether the text of a piece that contains one of `words` allows a finding. A piece that it rules out is
      not lowered.
    - `beside`: words of which the file must contain at least one, if there are any. Other files are not cut into
      pieces.
    - `matters`: whether the model allows a finding at all; asked before the subjects are listed."""

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
    looks: Callable[[str], bool] | None = None
    beside: tuple[str, ...] = ()
    matters: Callable[[Model], bool] | None = None

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


def loudness(severity: Severity, certainty: Certainty, unknowns: int = 0) -> Severity | None:
    """The severity of a finding: one step lower if it is only 'possible', and one more for each unknown condition. None
    means that the rule stays silent."""
    return severity.lowered(unknowns + (1 if certainty == "possible" else 0))


def is_choice(loader: Loader) -> bool:
    """Whether the loader holds one of several datasets, all of which are in sight."""
    return bool(loader.guessed) and not loader.late


def gathered(exposures: Iterable[tuple[Frame, Exposure | None]]) -> tuple[Frame, Exposure] | None:
    """One exposure for several frames of one line: all their loaders, and the frame that leads. None if no frame is
    exposed."""
    found = [(frame, exposure) for frame, exposure in exposures if exposure is not None]
    if not found:
        return None
    found.sort(key=lambda pair: pair[1].certainty == "possible")  # stable: the first proven one leads
    loaders = dict.fromkeys(loader for _, exposure in found for loader in exposure.loaders)
    return found[0][0], Exposure(tuple(loaders), found[0][1].certainty)


def not_forked(model: Model) -> Callable[[Loader], bool]:
    """For `Model.exposure(cured=...)`: whether the workers of a loader are never forked, as far as the code shows."""
    return lambda loader: "fork" not in model.start_methods(loader)


def is_for_evaluation(loader: Loader) -> bool:
    """Whether a loader reads its samples in order and has the name of an evaluation loader: `val_loader`."""
    shuffle = loader.argument("shuffle").literal
    ordered = shuffle is not None and not shuffle.value and loader.argument("sampler").literal is not None
    return ordered and bool(_EVALUATION.search(loader.name))


def one_stream(loader: Loader) -> bool:
    """Whether the loader has one persistent worker: it draws from one state in all epochs, so nothing repeats."""
    return loader.has_workers(2) == "no" and loader.persistent is True


def repeated(exposure: Exposure) -> str:
    """What happens when each worker gets a copy of a state: 'every worker draws the same numbers', or 'every epoch ...'
    where there is one worker."""
    alone = all(loader.has_workers(2) == "no" for loader in exposure.loaders)
    return f"every {'epoch' if alone else 'worker'} draws the same numbers"


def loaders_of(exposure: Exposure) -> str:
    """'`train_loader` in train.py', '`a` in x.py and 2 other loaders'."""
    if exposure.lead.out_of_sight:
        return "a loader of this dataset"
    others = len({(one.path, one.site.frame.piece, one.site.expr) for one in exposure.loaders if one.site}) - 1
    rest = f" and {others} other loader{'s' if others > 1 else ''}" if others > 0 else ""
    return f"{exposure.lead.described}{rest}"


def in_workers_of(exposure: Exposure) -> str:
    """'in the workers of `train_loader` in train.py'; 'for `train_loader` in train.py' where no loader has workers."""
    idle = all(one.has_workers() == "no" and not one.out_of_sight for one in exposure.loaders)
    return f"{'for' if idle else 'in the workers of'} {loaders_of(exposure)}"
