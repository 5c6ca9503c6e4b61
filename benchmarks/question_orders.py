"""Tests that findings do not depend on the order in which questions are asked.

    python -m benchmarks.question_orders FOLDER [FOLDER ...]

Checks each folder in the usual order, with the rules in reverse, with the files in reverse, and after all questions of
the rules, and some about the callers of functions, were asked in a random order. Prints the differences in findings,
and in what `loaderlint workers` reports on the loaders. Exits with 1 if findings differ.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

from loaderlint.engine import Workspace, linking, run_rules
from loaderlint.findings.finding import Finding, Silence
from loaderlint.project.reach.model import Model
from loaderlint.rules import RULES
from loaderlint.rules.base import Rule
from loaderlint.runtime.internal_errors import Failure
from loaderlint.sources import store

_SHUFFLES = 3
#: The number of functions whose callers are asked for. In a large project, asking about all of them would take hours.
_FUNCTIONS = 400


@dataclass(frozen=True, slots=True)
class Order:
    """An order of questions: with these `rules` in turn, with all files in reverse if `backwards`, and, with a `seed`,
    after all questions were asked in a random order."""

    name: str
    rules: tuple[Rule, ...] = RULES
    backwards: bool = False
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class _Backwards:
    """A sort key that reverses the order of paths."""

    key: Sequence[str]

    def __lt__(self, other: _Backwards) -> bool:
        return list(other.key) < list(self.key)


USUAL = Order("as usual")
ORDERS = (
    Order("rules backwards", RULES[::-1]),
    Order("files backwards", backwards=True),
    Order("all backwards", RULES[::-1], backwards=True),
    *(Order(f"shuffled {seed}", seed=seed, backwards=seed % 2 > 0) for seed in range(_SHUFFLES)),
)


def main() -> int:
    """Compare the orders and print the differences. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.question_orders", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("folders", type=Path, nargs="+")
    differing = [folder for folder in parser.parse_args().folders if differs(folder.resolve())]
    return 1 if differing else 0


def differs(folder: Path) -> bool:
    """Whether the findings in a folder differ between the orders; prints the differences."""
    findings, loaders = answers(folder)
    print(f"{folder.name}: {len(findings)} findings, {len(loaders)} loaders", flush=True)
    found = False
    for order in ORDERS:
        other_findings, other_loaders = answers(folder, order)
        found |= _compare(f"{order.name}: findings", findings, other_findings)
        if not order.backwards:  # the datasets of a loader are listed in the order of their files
            _compare(f"{order.name}: loaders", loaders, other_loaders)
    return found


def answers(folder: Path, order: Order = USUAL) -> tuple[frozenset[str], frozenset[str]]:
    """The findings and the loaders of a project if questions are asked in this order."""
    settings = {"select": ["ALL"]}
    with ExitStack() as patched:
        if order.backwards:
            in_order = store._in_order
            patched.enter_context(patch.object(store, "_in_order", lambda path: _Backwards(in_order(path))))
        if order.seed is not None:
            patched.enter_context(patch.object(linking, "ask_rules", partial(_ask_all_before, order.seed)))
        # The explanations of loaders are collected before the rules run, so the findings come from a check without
        # them.
        shown = Workspace([folder], settings, rules=order.rules).check()
        loaders = Workspace([folder], settings, tells=True, rules=order.rules).worker_map().loaders
    return frozenset(str(one) for found in shown.values() for one in found), frozenset(map(str, loaders))


def _ask_all_before(
    seed: int,
    model: Model,
    rules: Sequence[Rule],
    stop: Callable[[], bool],
    heard: Callable[[Silence], None],
    failed: Callable[[Failure], None],
) -> list[Finding]:
    """The findings of the rules after all questions were asked in a random order."""
    shuffled = random.Random(seed)
    questions: list[Callable[[], object]] = [
        partial(_asked, rule, subject, model) for rule in rules for subject in run_rules.subjects_of(rule, model)
    ]
    functions = list(_functions(model))
    questions += [
        partial(model.callers.frames, *one) for one in shuffled.sample(functions, min(_FUNCTIONS, len(functions)))
    ]
    shuffled.shuffle(questions)
    for question in questions:
        question()
    return run_rules.ask_rules(model, rules, stop, heard, failed)


def _asked(rule: Rule, subject: object, model: Model) -> None:
    for _ in rule.find(subject, model):
        pass


def _functions(model: Model) -> Iterator[tuple[Path, int, int]]:
    """All functions of the project."""
    for path in model.files.paths():
        file = model.files.file(path)
        for piece in range(len(file.pieces) if file else 0):
            facts = model.ev.facts(path, piece)
            for def_, one in enumerate(facts.ir.defs if facts else ()):
                if def_ and one.kind == "function":
                    yield path, piece, def_


def _compare(what: str, one: Iterable[str], other: Iterable[str]) -> bool:
    missing, new = set(one) - set(other), set(other) - set(one)
    for sign, texts in (("-", missing), ("+", new)):
        for text in sorted(texts):
            print(f"  {what}: {sign} {text[:400]}", flush=True)
    return bool(missing or new)


if __name__ == "__main__":
    sys.exit(main())
