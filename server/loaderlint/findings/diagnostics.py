"""The results of the engine: findings as they are shown, and problems."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from loaderlint import HOME
from loaderlint.findings.finding import Certainty, Finding, Severity
from loaderlint.runtime.internal_errors import Cost, Failure

if TYPE_CHECKING:
    from loaderlint.syntax.span import Span


#: The environment variable that shows the tracebacks of internal errors.
DEBUG = "LOADERLINT_DEBUG"
HOW_TO_REPORT = f"Please report it with its traceback ({DEBUG}=1 shows it): {HOME}"


class Note(NamedTuple):
    """A step of the explanation, at its place. `is_loader` as in `Evidence`."""

    path: Path
    span: Span
    message: str
    is_loader: bool = False


class Diagnostic(Struct, frozen=True):
    """A finding as it is shown. `path` is absolute, `span` 0-based in characters; `fingerprint` does not change when
    lines move; `fixable`: whether the rule offers a fix (see `Workspace.repairs`); `audit`: how an audit confirmed it,
    '' if none did."""

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
    audit: str = ""


class Problem(NamedTuple):
    """Something that could not be done. `path` is None if it is not about a file. `fatal`: the tool could not do its
    work (exit code 2). An internal error has a `traceback`, the `rule` in which it happened, if any, and a `cost`: what
    is missing because of it. `is_limit`: something was skipped because there is too much of it."""

    path: Path | None
    message: str
    fatal: bool
    rule: str = ""
    traceback: str = ""
    cost: Cost = "findings"
    is_limit: bool = False

    @property
    def is_internal(self) -> bool:
        """Whether this is an internal error of loaderlint."""
        return bool(self.traceback)


def internal_problem(failure: Failure) -> Problem:
    """The message about an internal error, in one line."""
    where = {"findings": failure.rule, "fix": f"a fix of {failure.rule}" if failure.rule else "a fix", "answer": ""}
    rest = {
        "findings": "everything else was checked",
        "fix": "this fix is skipped",
        "answer": "its code is not explained",
    }
    place = f" in {where[failure.cost]}" if where[failure.cost] else ""
    message = f"internal error{place}: {failure.error}; {rest[failure.cost]}. {HOW_TO_REPORT}"
    return Problem(failure.path, message, True, failure.rule, failure.traceback, failure.cost)


class ProjectInfo(NamedTuple):
    """Facts about a project for a bug report. `settings`: those that are set, with their source; `runs_on`: the
    environment, one fact per line."""

    root: Path
    files: int
    links: int
    settings: tuple[str, ...]
    runs_on: tuple[str, ...]


def with_fingerprint(diagnostic: Diagnostic, root: Path, owner: str, seen: dict[str, int]) -> Diagnostic:
    """The diagnostic with its fingerprint, made of rule, file, def and subject; repeated ones are numbered (`seen`)."""
    try:
        relative = diagnostic.path.relative_to(root).as_posix()
    except ValueError:
        relative = diagnostic.path.name
    base = "\0".join((diagnostic.code, relative, owner, diagnostic.finding.subject))
    seen[base] = seen.get(base, 0) + 1
    digest = hashlib.blake2b(f"{base}\0{seen[base]}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return replace(diagnostic, fingerprint=digest)
