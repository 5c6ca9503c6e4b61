"""From fix intents to edits, and the files as the fixes read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.findings import Finding, Fix, Intent
from loaderlint.store import OpenFile, Store

if TYPE_CHECKING:
    from loaderlint.facts.ir import PieceFacts
    from loaderlint.fixes.edits import FileEdit, NoFix, Repair
    from loaderlint.syntax.cutter import Piece


class Repairs:
    """The edits of one project; those of equal intents are made once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._edits: dict[tuple[Intent, ...], tuple[FileEdit, ...] | NoFix] = {}
        self._edits_at = -1

    def of(self, finding: Finding) -> Iterator[Repair]:
        """The fixes of a finding that can be carried out, the preferred one first, each made when its turn comes."""
        return (ready for fix in finding.fixes if (ready := self.repair(fix)) is not None)

    def preferred(self, finding: Finding) -> Repair | None:
        """The first fix of a finding that can be carried out."""
        return next(self.of(finding), None)

    def repair(self, fix: Fix) -> Repair | None:
        """A fix with its edits; None if it cannot be carried out."""
        from loaderlint.fixes.apply import edits_for
        from loaderlint.fixes.edits import NoFix, Repair

        if self._edits_at != self._store.generation:
            self._edits_at, self._edits = self._store.generation, {}
        edits = self._edits.get(fix.intents)
        if edits is None:  # many findings share one fix
            edits = self._edits[fix.intents] = edits_for(fix.intents, _Access(self._store))
        return None if isinstance(edits, NoFix) else Repair(fix.title, fix.safety, edits)

    def merged(self, findings: Sequence[Finding], unsafe: bool) -> tuple[FileEdit, ...]:
        """The edits of as many of the findings' preferred fixes as fit together."""
        from loaderlint.fixes.apply import merge

        groups = []
        for finding in findings:
            fix = next((f for f in finding.fixes if f.safety == "safe" or unsafe), None)
            if fix is not None and fix.intents not in groups:
                groups.append(fix.intents)
        return merge(groups, _Access(self._store)) if groups else ()


class _Access:
    """The files as the fixes read them (see `loaderlint.fixes.edits.FileAccess`)."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def _file(self, path: Path) -> OpenFile | None:
        return self._store.open(path)

    def pieces(self, path: Path) -> tuple[Piece, ...]:
        """The pieces of the file."""
        opened = self._file(path)
        return opened.pieces if opened else ()

    def text(self, path: Path) -> str:
        """The whole text."""
        opened = self._file(path)
        return opened.text if opened else ""

    def oddities(self, path: Path) -> tuple[str, ...]:
        """Reasons why the file must not be edited."""
        opened = self._file(path)
        return opened.source.oddities if opened else ("cannot be read",)

    def facts(self, path: Path, piece: int) -> PieceFacts | None:
        """The facts of a piece as it stands."""
        opened = self._file(path)
        return opened.own_facts(piece) if opened else None
