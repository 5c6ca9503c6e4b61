"""Faults if workers import the main script again. The rules on the main guard share it."""

from __future__ import annotations

from collections.abc import Set

from loaderlint.findings.finding import Certainty, Severity
from loaderlint.project.evaluation.values import Literal_
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.judgement import Unsaid, loudness

HEAD = 'if __name__ == "__main__":'


def fresh_starts(methods: Set[str]) -> str:
    """The start methods with which workers import the main script again, as text for messages; '' if none."""
    return " or ".join(sorted(methods - {"fork"}))


def severity(loader: Loader, methods: Set[str], model: Model, certainty: Certainty) -> Severity | Unsaid:
    """An error if a start method of that kind is set or is a platform's default; one step lower if the project calls
    `set_start_method` somewhere, but perhaps not here, or if only some of its Python versions start workers that way.
    Nothing is reported if workers are forked."""
    if methods <= {"fork"}:
        return Unsaid("its workers start by fork only, which do not run the script again")
    if "fork" in methods and _chooses_zero(loader):
        return Unsaid("the code gives it no workers in some cases, perhaps on such platforms")
    declared_elsewhere = "fork" in methods and model.environment(loader).default_start_methods() == {"fork"}
    in_some_versions = {"fork", "forkserver"} == methods  # platforms that do not fork use spawn
    return loudness(Severity.ERROR, certainty, 1 if declared_elsewhere or in_some_versions else 0)


def _chooses_zero(loader: Loader) -> bool:
    """Whether the loader has workers in some cases only: `0 if os.name == "nt" else 4` considers the platforms."""
    numbers = [atom for atom in loader.argument("num_workers").atoms if isinstance(atom, Literal_)]
    return len(numbers) > 1 and any(atom.value == 0 for atom in numbers)
