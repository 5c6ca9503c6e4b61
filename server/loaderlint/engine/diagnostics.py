"""What the engine says: findings as they are shown, and what could not be done."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loaderlint.findings import Certainty, Finding, Severity

if TYPE_CHECKING:
    from loaderlint.syntax.span import Span


class Note(NamedTuple):
    """A step of the reason, at its place."""

    path: Path
    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding as it is shown. `path` is absolute, `span` 0-based in characters; `fingerprint` does not change when
    lines move; `fixable`: the rule offers a fix here (`Workspace.repairs` tells which)."""

    code: str
    name: str
    severity: Severity
    certainty: Certainty
    message: str
    path: Path
    span: Span
    fingerprint: str
    evidence: tuple[Note, ...]
    fixable: bool
    finding: Finding


class Problem(NamedTuple):
    """Something that could not be done. `path` is None where no file is meant. `fatal`: the tool could not do its work
    (exit code 2)."""

    path: Path | None
    message: str
    fatal: bool


class ProjectInfo(NamedTuple):
    """What there is to say of a project for a bug report. `settings`: those that somebody set, with where; `runs_on`:
    a fact a line."""

    root: Path
    files: int
    links: int
    settings: tuple[str, ...]
    runs_on: tuple[str, ...]


def with_fingerprint(diagnostic: Diagnostic, root: Path, owner: str, seen: dict[str, int]) -> Diagnostic:
    """The diagnostic with its fingerprint: rule, file, def and subject, numbered where they repeat."""
    try:
        relative = diagnostic.path.relative_to(root).as_posix()
    except ValueError:
        relative = diagnostic.path.name
    base = "\0".join((diagnostic.code, relative, owner, diagnostic.finding.subject))
    seen[base] = seen.get(base, 0) + 1
    digest = hashlib.blake2b(f"{base}\0{seen[base]}".encode(), digest_size=8).hexdigest()
    return replace(diagnostic, fingerprint=digest)
