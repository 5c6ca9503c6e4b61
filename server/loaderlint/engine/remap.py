"""Updates the result of a linking after an edit that changed no answer but renumbered pieces."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from loaderlint.findings.finding import Finding, Place
from loaderlint.sources.open_file import Moves

if TYPE_CHECKING:
    from loaderlint.explanations.explanation import Told
    from loaderlint.project.evaluation.values import DefKey

_Value = TypeVar("_Value")


class Gone(Exception):
    """Something refers to a piece that no longer exists."""


def moved_findings(found: Mapping[Path, list[Finding]], moves: Mapping[Path, Moves]) -> dict[Path, list[Finding]]:
    """Findings with the places that they name updated.

    Raises Gone."""
    return {path: [moved(one, moves) for one in findings] for path, findings in found.items()}


def moved_told(told: Told, moves: Mapping[Path, Moves]) -> Told:
    """Explanations with the places that they name updated.

    Raises Gone."""

    def key(one: DefKey) -> DefKey:
        return one[0], _number(one[0], one[1], moves), one[2]

    return replace(
        told,
        map=moved(told.map, moves),
        functions={key(one): moved(what, moves) for one, what in told.functions.items()},
        holders={key(one): what for one, what in told.holders.items()},
        silences={path: moved(silences, moves) for path, silences in told.silences.items()},
        refactorings={moved(place, moves): moved(fix, moves) for place, fix in told.refactorings.items()},
    )


def moved(value: _Value, moves: Mapping[Path, Moves]) -> _Value:
    """A value of frozen data with the places in it updated; the same object if none of them moved.

    Raises Gone."""
    return cast("_Value", _moved(value, moves))


def _moved(value: object, moves: Mapping[Path, Moves]) -> object:
    if isinstance(value, Place):
        number = _number(value.path, value.piece, moves)
        return value if number == value.piece else replace(value, piece=number)
    if isinstance(value, tuple):
        parts: list[Any] = [_moved(one, moves) for one in value]
        if all(one is was for one, was in zip(parts, value, strict=True)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, Struct):
        kept = {name: getattr(value, name) for name in value.__struct_fields__}
        new = {name: _moved(what, moves) for name, what in kept.items()}
        changed = {name: what for name, what in new.items() if what is not kept[name]}
        return replace(value, **changed) if changed else value
    return value


def _number(path: Path, piece: int, moves: Mapping[Path, Moves]) -> int:
    to = moves.get(path)
    if to is None or piece < 0:
        return piece
    number = to[piece] if piece < len(to) else None
    if number is None:
        raise Gone
    return number
