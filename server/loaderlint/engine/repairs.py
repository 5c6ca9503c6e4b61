"""From fix intents to edits, with access to the files for the fixes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.files.line_length import line_length
from loaderlint.files.symlinks import outside, written_for
from loaderlint.findings.finding import Finding, Fix, Intent, path_of
from loaderlint.runtime.internal_errors import Failure, contained
from loaderlint.sources.open_file import OpenFile
from loaderlint.sources.store import Store

if TYPE_CHECKING:
    from loaderlint.facts.piece_facts import PieceFacts
    from loaderlint.fixes.draft import Originals
    from loaderlint.fixes.file_edits import FileEdit, NoFix, Repair
    from loaderlint.syntax.cutter import Piece


#: Why a fix does not change a file that the user wants to keep.
NOT_NAMED = "it was not named"
#: How many other files are asked how the authors lay out code.
_BESIDE = 20


class Repairs:
    """The edits of one project. Equal intents are carried out once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._edits: dict[tuple[Intent, ...], tuple[FileEdit, ...] | NoFix] = {}
        self._failures: dict[tuple[Intent, ...], Failure] = {}
        self._files: dict[Path, Path | None] = {}
        self._known_at = -1
        self._originals: Originals | None = None
        self._locked: dict[Path, str] = {}
        self.may_change: Callable[[Path], bool] = lambda path: True
        """Whether the user allows fixes to change a file (the file itself, not a link)."""

    def lock(self, path: Path, reason: str) -> None:
        """From now on, refuse fixes that change this file, under any name."""
        self._locked[self.file(path) or path] = reason
        self._edits.clear()

    def file(self, path: Path) -> Path | None:
        """See `written_for`; looked up once until some file changes. `write_fixes.write` looks it up again."""
        self._renew()
        if path not in self._files:
            self._files[path] = written_for(path, self._store.root)
        return self._files[path]

    def _renew(self) -> None:
        if self._known_at != self._store.generation:
            self._known_at, self._edits, self._files, self._failures = self._store.generation, {}, {}, {}
            self._originals = None

    def refusal(self, path: Path) -> str:
        """Why no fix may change a file; '' if it may."""
        file = self.file(path)
        if file is None:
            return outside(path)
        return self._locked.get(file, "") if self.may_change(file) else NOT_NAMED

    def refused(self, findings: Sequence[Finding], unsafe: bool) -> dict[Path, str]:
        """The files that `merged` with the same arguments would change but must not, each with the reason."""
        paths = {path_of(intent) for group in _groups(findings, unsafe) for intent in group}
        reasons = {path: self.refusal(path) for path in paths}
        return {path: reason for path, reason in reasons.items() if reason and reason != NOT_NAMED}

    def of(self, finding: Finding) -> Iterator[Repair]:
        """The fixes of a finding that can be carried out, lazily, the preferred one first."""
        return (ready for fix in finding.fixes if (ready := self.repair(fix, finding.rule)) is not None)

    def preferred(self, finding: Finding) -> Repair | None:
        """The first fix of a finding that can be carried out."""
        return next(self.of(finding), None)

    def repair(self, fix: Fix, rule: str = "") -> Repair | None:
        """A fix (of a finding of `rule`) with its edits; None if it cannot be carried out."""
        from loaderlint.fixes.file_edits import NoFix, Repair

        edits = self._made(fix.intents, rule)
        return None if isinstance(edits, NoFix) else Repair(fix.title, fix.safety, edits)

    def _made(self, intents: tuple[Intent, ...], rule: str) -> tuple[FileEdit, ...] | NoFix:
        """The edits of one fix, or why there are none. Many findings share one fix."""
        from loaderlint.fixes.apply import edits_for
        from loaderlint.fixes.file_edits import NoFix

        self._renew()
        edits = self._edits.get(intents)
        if edits is None:
            edits = NoFix("an internal error")
            with self._contained(intents, rule):
                edits = edits_for(intents, self._access(), self._kept())
            self._edits[intents] = edits
        return edits

    def _contained(self, intents: tuple[Intent, ...], rule: str) -> AbstractContextManager[None]:
        """Catch an internal error: only the fix in which it occurs is lost."""

        def failed(failure: Failure) -> None:
            self._failures[intents] = failure

        return contained(failed, path_of(intents[0]) if intents else None, rule, "fix")

    def exhausted(self) -> Iterator[Path]:
        """The files for which not all fixes were computed, because that would take too much time."""
        if self._originals is not None and self._known_at == self._store.generation:
            yield from self._originals.exhausted()

    def failures(self) -> Iterator[Failure]:
        """The internal errors that prevented fixes since some file changed."""
        yield from self._failures.values()

    def merged(
        self, findings: Sequence[Finding], unsafe: bool, taken: Collection[Path | None] = ()
    ) -> tuple[FileEdit, ...]:
        """The edits of as many of the findings' preferred fixes as are compatible. Files in `taken` are not changed."""
        from loaderlint.fixes.apply import merge

        self._renew()
        groups = _groups(findings, unsafe)
        if not groups:
            return ()
        return merge(groups, self._access(taken), self._kept(), lambda one: self._contained(one, groups[one]))

    def _kept(self) -> Originals:
        """What fixes have computed about this version of the files."""
        from loaderlint.fixes.draft import Originals

        if self._originals is None:
            self._originals = Originals()
        return self._originals

    def _access(self, taken: Collection[Path | None] = ()) -> _Access:
        def refusal(path: Path) -> str:
            return "it is being fixed" if self.file(path) in taken else self.refusal(path)

        return _Access(self._store, self.file, refusal if taken else self.refusal)


def _groups(findings: Sequence[Finding], unsafe: bool) -> dict[tuple[Intent, ...], str]:
    """The distinct intents of the findings' preferred fixes, each with its rule."""
    groups: dict[tuple[Intent, ...], str] = {}
    for finding in findings:
        fix = next((f for f in finding.fixes if f.safety == "safe" or unsafe), None)
        if fix is not None:
            groups.setdefault(fix.intents, finding.rule)
    return groups


class _Access:
    """Access to the files for fixes (see `loaderlint.fixes.file_edits.FileAccess`)."""

    def __init__(self, store: Store, written: Callable[[Path], Path | None], refusal: Callable[[Path], str]) -> None:
        self._store = store
        self._written = written
        self._refusal = refusal

    def _file(self, path: Path) -> OpenFile | None:
        return self._store.open(path)

    def file(self, path: Path) -> Path:
        """The file that edits of `path` are written to."""
        return self._written(path) or path

    def pieces(self, path: Path) -> tuple[Piece, ...]:
        """The pieces of the file."""
        opened = self._file(path)
        return opened.pieces if opened else ()

    def text(self, path: Path) -> str:
        """The whole text."""
        opened = self._file(path)
        return opened.text if opened else ""

    def oddities(self, path: Path) -> tuple[str, ...]:
        """What in the text prevents edits of the file."""
        opened = self._file(path)
        if opened is None:
            return ("cannot be read",)
        return opened.source.oddities

    def refusals(self, path: Path) -> tuple[str, ...]:
        """Reasons outside the file's text: it is locked, or a link out of the project."""
        refusal = self._refusal(path)
        return (refusal,) if refusal else ()

    def line_length(self, path: Path) -> int | None:
        """The line length of the project's formatter for the file, in characters; None if unknown."""
        return line_length(path.parent, self._store.root)

    def beside(self, path: Path) -> Iterator[Iterator[bytes]]:
        """The bytes of other files of the project: those of the same folder, and the rest."""
        others = [one for one in self._store.paths() if one != path and one.suffix == ".py"]
        for is_near in (True, False):
            files = [one for one in others if (one.parent == path.parent) is is_near]
            yield map(self._store.data, files[:_BESIDE])

    def facts(self, path: Path, piece: int) -> PieceFacts | None:
        """The facts of the current version of a piece."""
        opened = self._file(path)
        return opened.own_facts(piece) if opened else None
