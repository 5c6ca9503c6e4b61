"""From what a program printed to the findings of its project that may be the cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from loaderlint.explanations.tracebacks import Call
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.knowledge.symptoms import Match

#: So many findings are told.
_MOST = 5
#: How near a finding is to the calls of the tracebacks: its line is one of them, its chain passes one, its file holds
#: one.
_ON_LINE, _IN_CHAIN, _IN_FILE, _ELSEWHERE = range(4)


class Located(NamedTuple):
    """A finding that may be the cause, and the call of a traceback that is nearest to it, if one is near."""

    diagnostic: Diagnostic
    call: Call | None


class Diagnosis(NamedTuple):
    """What was recognised; the findings that may be the cause, the likeliest first; and what the tracebacks told of the
    settings, by their names in pyproject.toml."""

    matches: tuple[Match, ...]
    located: tuple[Located, ...]
    observed: Mapping[str, object]


class _Spot(NamedTuple):
    distance: int
    call: Call | None


def located(
    found: Mapping[Path, Sequence[Diagnostic]], matches: Sequence[Match], calls: Sequence[Call]
) -> tuple[Located, ...]:
    """Those of the findings that the symptoms lead to; where none was recognised, those at the calls. The nearest to
    the calls comes first, then the one that the symptoms name first."""
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
    """The calls in files of the project, by file. What was printed on another machine, or in a container, is recognised
    by the end of its path, as long as no other file ends so."""
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
    """How many parts at the end of two paths are equal."""
    count = 0
    for left, right in zip(reversed(one.parts), reversed(other.parts), strict=False):
        if left != right:
            break
        count += 1
    return count
