"""Runs the rules on their subjects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from loaderlint.engine.half_fixes import with_half_fixes_unsafe
from loaderlint.findings.finding import (
    AddImport,
    Evidence,
    Finding,
    Fix,
    InsertFunction,
    Place,
    Severity,
    Silence,
    place_of,
)
from loaderlint.runtime.internal_errors import Cancelled, Failure, contained

if TYPE_CHECKING:
    from loaderlint.project.reach.model import Model, WorkerFunction
    from loaderlint.project.reach.project_places import ProjectPlaces
    from loaderlint.rules.base import Rule

#: Rules on faults that the call of a loader shows, whether or not anything iterates over it. They are silent themselves
#: about what only the first iteration shows.
_AT_CREATION = frozenset({"conflicting-loader-arguments"})

#: A mark of a package that not every project needs, in the source of a fix.
_PACKAGE = re.compile(r"\{(cv2|numpy|h5py|lmdb|torchvision)\b")


def unheard(silence: Silence) -> None:
    """Ignore a silence."""


def ask_rules(
    model: Model,
    rules: Sequence[Rule],
    stop: Callable[[], bool],
    heard: Callable[[Silence], None],
    failed: Callable[[Failure], None],
) -> list[Finding]:
    """Run every rule on each of its subjects; one finding for each rule and place, the most severe. `heard` is called
    with each silence, `failed` with each internal error of a rule.

    Raises Cancelled when `stop` returns True."""
    from loaderlint.project.reach.model import Loader
    from loaderlint.project.reach.project_places import ProjectPlaces

    found: dict[tuple[str, Place, str], Finding] = {}
    stopped: dict[tuple[str, Place, str], set[int]] = {}
    places = ProjectPlaces(model)
    for one in rules:
        if stop():
            raise Cancelled
        subjects: Sequence[object] = ()
        with contained(failed, None, one.name):
            subjects = subjects_of(one, model)
        for subject in subjects:
            with contained(failed, _file_of(subject, places), one.name):
                for finding in one.find(subject, model):
                    if isinstance(finding, Silence):
                        if not places.is_library(finding.place.path):
                            heard(finding)
                    elif (own := of_project(finding, places, model)) is not None:
                        own = _without_new_requirements(own, model)
                        is_hint = _is_unused(subject, one, model)
                        _add(found, _as_hint(own) if is_hint else _quieter(own, subject, model))
                        if one.stops_start and isinstance(subject, Loader):
                            stopped.setdefault(_key(own), set()).add(subject.index)
    loaders = {found[key]: frozenset(indices) for key, indices in stopped.items()}
    return with_half_fixes_unsafe(tuple(found.values()), loaders)


def of_project(finding: Finding, places: ProjectPlaces, model: Model) -> Finding | None:
    """The finding with its places in the project instead of in an installed library; None if the fault is the
    library's."""
    place = finding.place
    if places.is_library(place.path):
        led = places.leading_to(place)
        if led is None:
            return None
        inside = f"inside an installed library: {model.installed_at(place)}"
        evidence = (Evidence(led, inside), *finding.evidence)
        finding = replace(finding, place=led, evidence=evidence, fixes=())
    evidence = tuple(one for one in finding.evidence if not places.is_library(one.place.path))
    fixes = tuple(fix for fix in finding.fixes if not _changes_library(fix, places))
    if len(evidence) == len(finding.evidence) and len(fixes) == len(finding.fixes):
        return finding
    return replace(finding, evidence=evidence, fixes=fixes)


def _without_new_requirements(finding: Finding, model: Model) -> Finding:
    """The finding, whose fixes are unsafe if they make a file need a package that it only uses where it is
    installed."""
    fixes = tuple(replace(fix, safety="unsafe") if _requires_more(fix, model) else fix for fix in finding.fixes)
    return finding if fixes == finding.fixes else replace(finding, fixes=fixes)


def _requires_more(fix: Fix, model: Model) -> bool:
    from loaderlint.project.reach.optional_packages import is_optional

    if fix.safety == "unsafe":
        return False
    return any(is_optional(package, path, model) for path, package in _required(fix))


def _required(fix: Fix) -> Iterator[tuple[Path, str]]:
    """The packages that a fix imports into a file, or that a function which it inserts uses."""
    for intent in fix.intents:
        if isinstance(intent, AddImport) and not intent.module.startswith("."):
            yield intent.path, intent.module.partition(".")[0]
        elif isinstance(intent, InsertFunction):
            yield from ((intent.path, package) for package in dict.fromkeys(_PACKAGE.findall(intent.source)))


def _quieter(finding: Finding, subject: object, model: Model) -> Finding:
    """The finding, one step less severe in a test or a tutorial, or about a loader that is created there though a
    program of the project creates others, but at least a hint. (`judged` does so for what workers run.)"""
    from loaderlint.project.reach.model import Loader

    severity = finding.severity.lowered(1)
    tried = isinstance(subject, Loader) and model.shows_use and model.in_test_or_tutorial(subject.path)
    if severity is None or not (tried or model.in_test_or_tutorial(finding.place.path)):
        return finding
    return replace(finding, severity=severity)


def _is_unused(subject: object, rule: Rule, model: Model) -> bool:
    """Whether no program of the project runs the subject of a rule: a loader, or a function of the main process. A
    loader that nothing iterates over is created all the same."""
    from loaderlint.project.reach.model import Loader, MainFunction

    if isinstance(subject, MainFunction):
        return model.is_unused(subject.path, subject.piece, subject.def_)
    return isinstance(subject, Loader) and subject.unused and not (subject.idle and rule.name in _AT_CREATION)


def _as_hint(finding: Finding) -> Finding:
    return replace(finding, severity=Severity.HINT)


def _changes_library(fix: Fix, places: ProjectPlaces) -> bool:
    """Whether a fix would change a library, or pass a loader's argument to a library function."""
    if any(map(places.is_library, fix.files)):
        return True
    return any(place_of(intent) in places.calls_making_loaders for intent in fix.intents)


def _file_of(subject: object, places: ProjectPlaces) -> Path | None:
    """The file of the project that contains a subject of a rule; None for a presumed loader."""
    path = getattr(subject, "path", None)
    return path if isinstance(path, Path) and not places.is_library(path) else None


def merged_findings(units: Sequence[Mapping[Path, list[Finding]]]) -> dict[Path, list[Finding]]:
    """The findings of all units, in the order of files. The same finding of two units is included once."""
    found: dict[Path, dict[tuple[str, Place, str], Finding]] = {}
    for unit in units:
        for path, findings in unit.items():
            here = found.setdefault(path, {})
            for finding in findings:
                _add(here, finding)
    return {path: list(found[path].values()) for path in sorted(found)}


def _key(finding: Finding) -> tuple[str, Place, str]:
    return (finding.rule, finding.place, finding.subject)


def _add(found: dict[tuple[str, Place, str], Finding], new: Finding) -> None:
    key = _key(new)
    known = found.get(key)
    if known is None or _louder(new, known):
        found[key] = new


def _louder(new: Finding, old: Finding) -> bool:
    order = list(Severity)
    return (order.index(new.severity), new.certainty == "possible") < (
        order.index(old.severity),
        old.certainty == "possible",
    )


def subjects_of(rule: Rule, model: Model) -> Sequence[object]:
    """The subjects of a rule: loaders, functions that workers run, their modules, or functions of the main process."""
    if rule.over == "loader":
        return tuple(loader for loader in model.loaders if not loader.presumed and not loader.installed)
    if rule.over == "worker function":
        return model.worker_functions()
    if rule.over == "main function":
        return tuple(model.main_functions(rule.words))
    from loaderlint.rules.base import WorkerModule

    grouped: dict[Path, list[WorkerFunction]] = {}
    for function in model.worker_functions():
        if model.ev.installed.holds(function.path):
            continue
        grouped.setdefault(function.path, []).append(function)
    return [WorkerModule(path, tuple(functions)) for path, functions in grouped.items()]
