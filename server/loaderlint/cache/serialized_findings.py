"""Serializes findings, with everything that reports show of them, as lists of strings and numbers, and back.

Only the classes listed here are ever created, and creating one runs no code: they are frozen data."""

from __future__ import annotations

from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, get_args

_TUPLE, _PATH, _SEVERITY = "", "Path", "Severity"


def plain(value: Any) -> Any:
    """A finding, a fix, or anything in them, as JSON has it. Raises ValueError for anything else."""
    if value is None or isinstance(value, bool | int | str) and not isinstance(value, Enum):
        return value
    if isinstance(value, Path):
        return [_PATH, str(value)]
    name = type(value).__name__
    if name == _SEVERITY:
        return [_SEVERITY, value.value]
    if type(value) is tuple:
        return [_TUPLE, *map(plain, value)]
    kind = _classes().get(name)
    if kind is not type(value):
        raise ValueError(f"{name} is not kept")
    return [name, *(plain(getattr(value, field)) for field in _fields(kind))]


def made(value: Any) -> Any:
    """The inverse of `plain`. Raises ValueError, TypeError or KeyError for other values."""
    if not isinstance(value, list):
        return value
    name, *rest = value
    if name == _TUPLE:
        return tuple(map(made, rest))
    if name == _PATH:
        return Path(rest[0])
    if name == _SEVERITY:
        from loaderlint.findings.finding import Severity

        return Severity(rest[0])
    return _classes()[name](*map(made, rest))


def _fields(kind: type) -> tuple[str, ...]:
    named: tuple[str, ...] | None = getattr(kind, "_fields", None)
    return named if named is not None else kind.__struct_fields__  # type: ignore[attr-defined]


@cache
def _classes() -> dict[str, type]:
    from loaderlint.findings.diagnostics import Diagnostic, Note, Problem
    from loaderlint.findings.finding import Evidence, Finding, Fix, Intent, Place
    from loaderlint.fixes.file_edits import FileEdit, Repair
    from loaderlint.syntax.span import Span, TextEdit

    shown = (Diagnostic, Note, Problem, Repair, FileEdit, TextEdit, Span)
    return {kind.__name__: kind for kind in (*shown, Finding, Evidence, Fix, Place, *get_args(Intent))}
