"""Whether what is found depends on the order in which the rules ask. It must not.

    python -m benchmarks.question_orders FOLDER [FOLDER ...]

Checks each folder with the rules in their own order, backwards and shuffled, and prints what differs: findings, and
what `loaderlint workers` says of the loaders. Exits with 1 if findings do.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from loaderlint.engine import Workspace
from loaderlint.rules import RULES
from loaderlint.rules.base import Rule

_SHUFFLES = 3


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.question_orders", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("folders", type=Path, nargs="+")
    differing = [folder for folder in parser.parse_args().folders if differs(folder.resolve())]
    return 1 if differing else 0


def differs(folder: Path) -> bool:
    """Whether the findings in a folder differ between the orders; prints what does."""
    findings, loaders = answers(folder, RULES)
    print(f"{folder.name}: {len(findings)} findings, {len(loaders)} loaders", flush=True)
    found = False
    for name, order in orders(RULES):
        other_findings, other_loaders = answers(folder, order)
        found |= _compare(f"{name}: findings", findings, other_findings)
        _compare(f"{name}: loaders", loaders, other_loaders)
    return found


def orders(given: tuple[Rule, ...]) -> Iterator[tuple[str, tuple[Rule, ...]]]:
    """Other orders of the rules, each with its name."""
    yield "backwards", given[::-1]
    for seed in range(_SHUFFLES):
        yield f"shuffled {seed}", tuple(random.Random(seed).sample(given, len(given)))


def answers(folder: Path, order: Sequence[Rule]) -> tuple[frozenset[str], frozenset[str]]:
    """The findings and the loaders of a project, where the rules ask in this order."""
    settings = {"select": ["ALL"]}
    # What is told of the loaders is gathered before the rules ask, so the findings come from a check without.
    found = [str(one) for shown in Workspace([folder], settings, rules=order).check().values() for one in shown]
    loaders = Workspace([folder], settings, tells=True, rules=order).worker_map().loaders
    return frozenset(found), frozenset(map(str, loaders))


def _compare(what: str, one: Iterable[str], other: Iterable[str]) -> bool:
    missing, new = set(one) - set(other), set(other) - set(one)
    for sign, texts in (("-", missing), ("+", new)):
        for text in sorted(texts):
            print(f"  {what}: {sign} {text[:400]}", flush=True)
    return bool(missing or new)


if __name__ == "__main__":
    sys.exit(main())
