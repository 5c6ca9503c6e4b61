"""Turns one repository into one result. This runs in a separate process, here or on another machine: its argument and
result can be pickled, and it reads only the repository's files."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from loaderlint import __version__
from loaderlint.engine import Project
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.project.reach.model import Loader, Model
from loaderlint.project.versions.environment import VersionSet
from loaderlint.settings import settings
from loaderlint.survey.affected_datasets import Holding, Reach, concerned, reach
from loaderlint.survey.repositories import commit, content_key
from loaderlint.survey.results import (
    READINGS,
    Count,
    Dataset,
    Declared,
    Loaders,
    Measured,
    Reading,
    Repository,
    Result,
    Torch,
    Workers,
)

#: The platform that every repository is assumed to run on, so that a survey gives the same answer on every machine.
_PLATFORM: dict[str, object] = {"platforms": ["linux"]}
#: No torch before 1.9 runs on Python 3.10 or later.
_OVERRIDES: dict[Reading, dict[str, object]] = {
    "declared": _PLATFORM,
    "before_1_9": {**_PLATFORM, "target-torch": "<1.9", "target-python": "<3.10"},
}
_ABOUT_COMMENTS = "LDR0"
"""The rules about suppressions and settings, which are not hazards."""


def measure(repository: Repository, known: str = "") -> Result | None:
    """Read one repository with the versions that it declares, and again with torch before 1.9. None if its content key
    is still `known`.

    Raises whatever a broken repository makes loaderlint raise."""
    started = time.process_time()
    root = Path(repository.path)
    key = content_key(root)
    if key == known:
        return None
    settings.clear()
    measured = _measured(root)
    spent = round(time.process_time() - started, 3)
    return Result(repository.name, __version__, key, commit(root), measured, None, spent)


class _Read:
    """Collects the facts of one reading from its model, before the model is released."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.reach = Reach()
        self.loaders = Loaders(0, 0, 0)
        self.torch: Torch | None = None

    def __call__(self, model: Model) -> None:
        self.reach = reach(model, self._root)
        self.loaders = _loaders(model.loaders)
        self.torch = _torch(model)


def _measured(root: Path) -> Measured:
    project = Project(root, _OVERRIDES["declared"])
    reads: dict[Reading, _Read] = {}
    found: dict[Reading, list[Diagnostic]] = {}
    for reading in READINGS:
        settings.clear()
        project.configure(_OVERRIDES[reading])
        reads[reading] = _Read(root)
        project.on_linked(reads[reading])
        found[reading] = [one for shown in project.check([root]).values() for one in shown if _is_hazard(one)]
    paths = project.store.paths()
    declared = reads["declared"]
    return Measured(
        files=len(paths),
        lines=sum(project.store.data(path).count(b"\n") for path in paths),
        unreadable=len(project.store.unreadable),
        torch=declared.torch or Torch("not known", "none"),
        loaders=declared.loaders,
        datasets=_datasets(
            declared.reach.holdings, {one: _concerned(reads[one].reach, found[one]) for one in READINGS}
        ),
        findings={reading: _counts(found[reading]) for reading in READINGS},
    )


def _is_hazard(diagnostic: Diagnostic) -> bool:
    return not diagnostic.code.startswith(_ABOUT_COMMENTS)


def _concerned(known: Reach, found: Iterable[Diagnostic]) -> dict[str, list[Diagnostic]]:
    by_dataset: dict[str, list[Diagnostic]] = {}
    for diagnostic in found:
        for dataset in concerned(diagnostic.finding, known):
            by_dataset.setdefault(dataset, []).append(diagnostic)
    return by_dataset


def _datasets(held: Iterable[Holding], hazards: dict[Reading, dict[str, list[Diagnostic]]]) -> tuple[Dataset, ...]:
    grouped: dict[str, list[Holding]] = {}
    for one in held:
        grouped.setdefault(one.dataset, []).append(one)
    return tuple(
        Dataset(
            name,
            "proven" if any(one.certainty == "proven" for one in group) else "possible",
            _loudest(one.workers for one in group),
            any(one.draws_numpy for one in group),
            {reading: _counts(found.get(name, ())) for reading, found in hazards.items()},
        )
        for name, group in sorted(grouped.items())
    )


def _loudest(answers: Iterable[Workers]) -> Workers:
    given = set(answers)
    return "yes" if "yes" in given else "maybe" if "maybe" in given else "no"


def _loaders(loaders: Iterable[Loader]) -> Loaders:
    """The places of known loaders; a loader that is reached in several contexts counts once."""
    answers: dict[tuple[Path, int, int], list[Workers]] = {}
    for one in loaders:
        if one.site is not None:
            answers.setdefault((one.site.frame.path, one.site.frame.piece, one.site.expr), []).append(one.has_workers())
    count = Counter(_loudest(given) for given in answers.values())
    return Loaders(count["yes"], count["maybe"], count["no"])


def _torch(model: Model) -> Torch:
    """The torch that is declared where loaders are made; if no loader is known, at the root."""
    in_sight = [loader for loader in model.loaders if not loader.out_of_sight]
    sets = [model.environment(loader).torch for loader in in_sight] or [model.environment().torch]
    answers = {_before(one) for one in sets}
    answer = answers.pop() if len(answers) == 1 else "maybe"
    return Torch("; ".join(dict.fromkeys(one.described for one in sets)), answer)


def _before(torch: VersionSet) -> Declared:
    answer = torch.before("1.9")
    if answer != "unknown":
        return answer
    return "open" if torch.known else "none"


def _counts(found: Iterable[Diagnostic]) -> tuple[Count, ...]:
    counted = Counter((one.code, one.severity.value, one.certainty) for one in found)
    return tuple(Count(*key, count) for key, count in sorted(counted.items()))
