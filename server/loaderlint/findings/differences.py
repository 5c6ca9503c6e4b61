"""The differences between two lists of findings of the same files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.findings.finding import Severity

_LEVELS = tuple(Severity)


class Changed(NamedTuple):
    """A finding before and after a change; None on the side that does not have it."""

    before: Diagnostic | None
    after: Diagnostic | None

    @property
    def shown(self) -> Diagnostic:
        """The finding after the change, if there is one, else the one before."""
        found = self.after or self.before
        assert found is not None
        return found


class Difference(NamedTuple):
    """The findings that appear, disappear, become louder (more severe, or proven instead of possible) and become
    quieter."""

    come: tuple[Changed, ...]
    gone: tuple[Changed, ...]
    louder: tuple[Changed, ...]
    quieter: tuple[Changed, ...]

    def all(self) -> Iterator[Changed]:
        """All changes."""
        for kind in self:
            yield from kind

    def without(self, others: Sequence[Difference]) -> Difference:
        """The changes that none of the others contains."""
        known = [{_told(one) for other in others for one in other[kind]} for kind in range(len(self))]
        kept = [tuple(one for one in own if _told(one) not in known[kind]) for kind, own in enumerate(self)]
        return Difference(*kept)


class Compared(NamedTuple):
    """The effect of a change ('python=3.14') on the findings. `together`: the effect that only several changes at once
    have."""

    change: str
    difference: Difference
    together: bool = False


def difference(before: Mapping[Path, Sequence[Diagnostic]], after: Mapping[Path, Sequence[Diagnostic]]) -> Difference:
    """Compare the findings of files before and after a change. Findings are the same if their rule, place and subject
    are."""
    old = {_key(one): one for path in sorted(before) for one in before[path]}
    new = {_key(one): one for path in sorted(after) for one in after[path]}
    both = [Changed(old[key], one) for key, one in new.items() if key in old]
    return Difference(
        tuple(Changed(None, one) for key, one in new.items() if key not in old),
        tuple(Changed(one, None) for key, one in old.items() if key not in new),
        tuple(one for one in both if _loudness(one.after) < _loudness(one.before)),
        tuple(one for one in both if _loudness(one.after) > _loudness(one.before)),
    )


def _key(one: Diagnostic) -> tuple[object, ...]:
    return one.path, one.code, one.span, one.finding.place, one.finding.subject


def _told(one: Changed) -> tuple[object, ...]:
    return _key(one.shown)


def _loudness(one: Diagnostic | None) -> tuple[int, bool]:
    assert one is not None
    return _LEVELS.index(one.severity), one.certainty == "possible"
