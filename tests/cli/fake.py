"""A workspace that finds words instead of faults, so that tests of the command line need no rules.

`BAD` is an error with a safe fix, `WORSE` a warning with an unsafe one, `MAYBE` a possible fault without a fix,
`MURMUR` a hint. The fixes of `PING` and `PONG` turn one into the other. The fix of `ACROSS` removes it and adds a line
to `other.py`. `TWICE` becomes `BAD`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from loaderlint.files.symlinks import outside, written_for
from loaderlint.findings.diagnostics import Diagnostic, Note, Problem
from loaderlint.findings.finding import Finding, Place, Severity
from loaderlint.fixes.file_edits import FileEdit, Repair
from loaderlint.syntax.positions import Span, TextEdit
from loaderlint.syntax.source import UnreadableSource, decode

WORDS = {
    "BAD": (Severity.ERROR, "proven", "safe", "GOOD"),
    "WORSE": (Severity.WARNING, "proven", "unsafe", "GOOD"),
    "MAYBE": (Severity.INFORMATION, "possible", None, ""),
    "MURMUR": (Severity.HINT, "proven", None, ""),
    "PING": (Severity.ERROR, "proven", "safe", "PONG"),
    "PONG": (Severity.ERROR, "proven", "safe", "PING"),
    "ACROSS": (Severity.ERROR, "proven", "safe", ""),
    "TWICE": (Severity.ERROR, "proven", "safe", "BAD"),
}


class Workspace:
    """The same interface as `loaderlint.engine.Workspace`."""

    made: list[Workspace] = []
    first_problems: list[Problem] = []

    def __init__(
        self,
        folders: Sequence[Path],
        overrides: Mapping[str, object] | None = None,
        cache: object = None,
        jobs: int = 1,
        reports_unread: bool = False,
        around: Sequence[Path] = (),
    ) -> None:
        self.folders = [*folders, *around]
        self.overrides = dict(overrides or {})
        self.problems = list(self.first_problems)
        self._overlay: dict[Path, str] = {}
        self._locked: dict[Path, str] = {}
        self.made.append(self)

    def set_text(self, path: Path, text: str | None) -> None:
        if text is None:
            self._overlay.pop(path, None)
        else:
            self._overlay[path] = text

    def forget(self, paths: Iterable[Path]) -> None:
        pass

    def text(self, path: Path) -> str:
        return self._overlay[path] if path in self._overlay else decode(path.read_bytes()).text

    def names(self, path: Path) -> tuple[Path, ...]:
        same = [one for one in path.parent.glob("*.py") if one.resolve() == path.resolve() and one != path]
        return (path, *same)

    def file(self, path: Path) -> Path | None:
        return written_for(path, self.folders[0])

    def confine(self, may_change: Callable[[Path], bool]) -> None:
        pass

    def lock(self, reasons: Mapping[Path, str]) -> None:
        self._locked.update({path.resolve(): reason for path, reason in reasons.items()})

    def refused(self, to_fix: Iterable[Path], *, unsafe: bool) -> dict[Path, str]:
        return {path: outside(path) for path in to_fix if self.file(path) is None}

    def cells(self, path: Path) -> tuple[int, ...]:
        return ()

    def keep(self) -> None:
        pass

    def answered(self) -> list[object]:
        return []

    def refuted(self) -> int:
        return 0

    def kept(self) -> dict[Path, object]:
        return {}

    def check(
        self,
        paths: Sequence[Path] | None = None,
        *,
        stop: Callable[[], bool] = lambda: False,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[Path, tuple[Diagnostic, ...]]:
        files = self._files(paths or self.folders)
        found: dict[Path, tuple[Diagnostic, ...]] = {}
        for index, path in enumerate(files):
            if progress:
                progress(index, len(files))
            try:
                found[path] = tuple(self._find(path))
            except UnreadableSource as error:
                self.problems.append(Problem(path, str(error), fatal=path in (paths or ())))
        return found

    def repairs(self, diagnostic: Diagnostic) -> tuple[Repair, ...]:
        word = diagnostic.name
        _, _, safety, good = WORDS[word]
        if safety is None:
            return ()
        files = [FileEdit(diagnostic.path, (TextEdit(diagnostic.span, good),))]
        if word == "ACROSS":
            files.append(FileEdit(diagnostic.path.parent / "other.py", (TextEdit(Span(0, 0, 0, 0), "fixed = 1\n"),)))
        return (Repair(f"Replace {word} by {good}", safety, tuple(files)),)  # type: ignore[arg-type]

    def preferred_repair(self, diagnostic: Diagnostic) -> Repair | None:
        return next(iter(self.repairs(diagnostic)), None)

    def to_fix(self, paths: Sequence[Path], *, hints: bool) -> dict[Path, tuple[Diagnostic, ...]]:
        return self.check(paths)

    def merged(self, to_fix: Mapping[Path, Sequence[Diagnostic]], *, unsafe: bool) -> tuple[FileEdit, ...]:
        wanted = ("safe", "unsafe") if unsafe else ("safe",)
        edits: dict[Path, list[TextEdit]] = {}
        for diagnostics in to_fix.values():
            for diagnostic in diagnostics:
                for repair in self.repairs(diagnostic):
                    for file in repair.files if repair.safety in wanted and self._may_change(repair, edits) else ():
                        edits.setdefault(file.path, []).extend(file.edits)
        return tuple(FileEdit(path, tuple(changes)) for path, changes in edits.items())

    def _may_change(self, repair: Repair, edits: Collection[Path]) -> bool:
        files = [(file.path, self.file(file.path)) for file in repair.files]
        planned = {(self.file(path), path) for path in edits}
        return all(
            real is not None
            and real not in self._locked
            and not any(real == one and path != name for one, name in planned)
            for path, real in files
        )

    def _files(self, paths: Iterable[Path]) -> list[Path]:
        files: set[Path] = set()
        for path in paths:
            files.update(path.rglob("*.py") if path.is_dir() else [path])
        return sorted(files)

    def _find(self, path: Path) -> Iterable[Diagnostic]:
        for number, line in enumerate(re.split(r"\r\n|\r|\n", self.text(path))):
            for found in re.finditer("|".join(rf"\b{word}\b" for word in WORDS), line):
                yield _diagnostic(path, Span(number, found.start(), number, found.end()), found[0])


def _diagnostic(path: Path, span: Span, word: str) -> Diagnostic:
    severity, certainty, safety, _ = WORDS[word]
    message = f"the word {word} stands here"
    note = Note(path, Span(0, 4, 0, 5), "runs in the workers of `train_loader` in train.py (num_workers=4): A > B")
    return Diagnostic(
        code="LDR999",
        name=word,
        severity=severity,
        certainty=certainty,  # type: ignore[arg-type]
        message=message,
        path=path,
        span=span,
        fingerprint=f"print-of-{word}",
        evidence=(note,) if word == "BAD" else (),
        fixable=safety is not None,
        finding=Finding("LDR999", severity, "proven", message, Place(path, 0, 0), word),
    )
