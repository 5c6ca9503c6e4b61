"""Finds the findings of a project that may be the cause of what its program printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from loaderlint.explanations.tracebacks import Call
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.knowledge.symptoms import Match

#: The maximum number of findings.
_MOST = 5
#: How near a finding is to the calls of the tracebacks: its line is one of them, its call chain contains one, its file
#: contains one.
_ON_LINE, _IN_CHAIN, _IN_FILE, _ELSEWHERE = range(4)


class Located(NamedTuple):
    """A finding that may be the cause, and the nearest call of a traceback, if one is near."""

    diagnostic: Diagnostic
    call: Call | None


class Diagnosis(NamedTuple):
    """The recognised symptoms; the findings that may be the cause, the likeliest first; and the settings that the
    tracebacks reveal, by their names in pyproject.toml."""

    matches: tuple[Match, ...]
    located: tuple[Located, ...]
    observed: Mapping[str, object]


class _Spot(NamedTuple):
    distance: int
    call: Call | None


def located(
    found: Mapping[Path, Sequence[Diagnostic]], matches: Sequence[Match], calls: Sequence[Call]
) -> tuple[Located, ...]:
    """The findings that the symptoms lead to; if no symptom was recognised, those at the calls. They are sorted by
    distance from the calls, then in the order of the symptoms."""
    here = _in_project(calls, list(found))
    names = dict.fromkeys(name for one in matches for name in one.symptom.rules)
    rules = {name: rank for rank, name in enumerate(names)}
    ranked = []
    for one in (one for diagnostics in found.values() for one in diagnostics):
        spot = _nearest(one, here)
        if one.name in rules or (not matches and spot.distance < _IN_FILE):
            ranked.append(((spot.distance, rules.get(one.name, 0), str(one.path), one.span), Located(one, spot.call)))
    ranked.sort(key=lambda pair: pair[0])
    return tuple(one for _, one in ranked[:_MOST])


def _nearest(found: Diagnostic, calls: Mapping[Path, Sequence[Call]]) -> _Spot:
    """The call that is nearest to a finding."""
    spots = [_Spot(_ELSEWHERE, None)]
    for path, span in ((found.path, found.span), *((note.path, note.span) for note in found.evidence)):
        near = _ON_LINE if span is found.span else _IN_CHAIN
        for call in calls.get(path, ()):
            is_there = span.line <= call.line - 1 <= span.end_line
            spots.append(_Spot(near, call) if is_there else _Spot(_IN_FILE, None))
    return min(spots, key=lambda spot: spot.distance)


def _in_project(calls: Sequence[Call], files: Sequence[Path]) -> dict[Path, list[Call]]:
    """The calls in files of the project, by file. A path from another machine, or from a container, is recognised by
    its end, if no other file has the same end."""
    by_name: dict[str, list[Path]] = {}
    for file in files:
        by_name.setdefault(file.name, []).append(file)
    known: dict[Path, list[Call]] = {}
    for call in calls:
        lengths = {file: _common_end(call.path, file) for file in by_name.get(call.path.name, ())}
        best = [file for file, length in lengths.items() if length == max(lengths.values())]
        if len(best) == 1:
            known.setdefault(best[0], []).append(call)
    return known


def _common_end(one: PurePath, other: PurePath) -> int:
    """The number of equal parts at the end of two paths."""
    count = 0
    for left, right in zip(reversed(one.parts), reversed(other.parts), strict=False):
        if left != right:
            break
        count += 1
    return count
