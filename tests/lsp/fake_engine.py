"""A tiny engine for the tests of the protocol. It finds words in capital letters:

* `BUG`: a finding; its safe fix writes FIXED. `BUG2` is fixed to BUG, so that fixing all takes two rounds.
* `FAR(name)`: a finding whose fix also puts a line on top of the file `name` beside it; the evidence is there, too.
  `RISK(name)`: the same with an unsafe fix.
* `GUESS`: a finding with an unsafe fix. `STUCK`: a finding whose fix has no edits.
* `HUSH`: no `GUESS` in the file is reported.
* `HANG`: the check runs until the test releases it, or until it is stopped.
* `CRASH`, `LEAVE`: it raises an error, a SystemExit.
* `EARLY`: `BUG`s are reported early; then the check runs until the test releases it, or until it is stopped.
* `TWICE`, together with `EARLY`: once the test releases the check, all findings are reported early, too.
* `PAUSE`: the check is postponed while the user types.
* `SLOW`: the check runs until the test releases it, even if it is stopped.
* `LOADER(4)`: a loader with this many workers, which run the function `work`.
* `LATER`: a finding only if the setting `target-python` is 3.14.
* `PRINT`: it prints to stdout and lets a child process read stdin.

A file 'loud.txt' in a folder makes every finding an error. It stands for files on disk that findings depend on.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from loaderlint.explanations.explanation import Explanation
from loaderlint.explanations.worker_map import MappedFunction, MappedLoader, MappedObject, WorkerMap
from loaderlint.findings.finding import AddImport, Finding, Fix, Place, Replace, Severity
from loaderlint.runtime.internal_errors import Postponed

WORDS = re.compile(r"\b(?:BUG2?|GUESS|STUCK|LATER|(?:FAR|RISK)\((?P<file>[\w.]+)\))")
LINE = re.compile(r"\r\n|\r|\n")


class Cancelled(Exception):
    pass


class Span(NamedTuple):
    line: int
    column: int
    end_line: int
    end_column: int


class TextEdit(NamedTuple):
    span: Span
    text: str


class FileEdit(NamedTuple):
    path: Path
    edits: tuple[TextEdit, ...]


class Repair(NamedTuple):
    title: str
    safety: str
    files: tuple[FileEdit, ...]


class Note(NamedTuple):
    path: Path
    span: Span
    message: str


class ProjectInfo(NamedTuple):
    root: Path
    files: int
    links: int
    settings: tuple[str, ...]
    runs_on: tuple[str, ...]


class Problem(NamedTuple):
    path: Path | None
    message: str
    fatal: bool = False


class Diagnostic(Struct, frozen=True):
    code: str
    name: str
    severity: Severity
    certainty: str
    message: str
    path: Path
    span: Span
    fingerprint: str
    evidence: tuple[Note, ...]
    fixable: bool
    finding: Finding
    word: str
    audit: str = ""


class FakeWorkspace:
    def __init__(self, backend: FakeBackend, folders: Sequence[Path], overrides: Mapping[str, object]) -> None:
        self.backend, self.folders = backend, tuple(folders)
        self.problems: list[Problem] = []
        self.links = 0
        self.texts: dict[Path, str] = {}
        self.disk: dict[Path, str] = {}
        self.configure(overrides)

    def configure(self, overrides: Mapping[str, object]) -> None:
        self.overrides = dict(overrides)
        self.problems = [Problem(None, f"settings: {sorted(overrides)}")] if overrides else []
        self.backend.setups.append((self.folders, self.overrides))

    def set_text(self, path: Path, text: str | None) -> None:
        if text is None:
            self.texts.pop(path, None)
            self.disk.pop(path, None)
        else:
            self.texts[path] = text

    def forget(self, paths: Iterable[Path]) -> None:
        self.backend.forgotten.extend(paths)
        for path in paths:
            self.disk.pop(path, None)

    def unreadable(self, path: Path) -> str:
        return ""

    def text(self, path: Path) -> str:
        if path in self.texts:
            return self.texts[path]
        if path not in self.disk:
            with path.open(encoding="utf-8", newline="") as file:
                self.disk[path] = file.read()
        return self.disk[path]

    def cells(self, path: Path) -> tuple[int, ...]:
        """A cell every two lines."""
        return tuple(range(0, len(LINE.split(self.text(path))), 2)) if path.suffix == ".ipynb" else ()

    def projects(self) -> tuple[ProjectInfo, ...]:
        facts = ("torch 2.4.1, from uv.lock",)
        return tuple(ProjectInfo(folder, 3, self.links, (), facts) for folder in self.folders)

    def environment(self, path: Path) -> tuple[str, ...]:
        return ("torch 2.4.1, from uv.lock", "Python not known")

    def check(
        self,
        paths: Sequence[Path] | None = None,
        *,
        stop: Callable[[], bool] = lambda: False,
        typing: bool = False,
        progress: Callable[[int, int], None] | None = None,
        early: Callable[[Mapping[Path, tuple[Diagnostic, ...]]], None] | None = None,
    ) -> dict[Path, tuple[Diagnostic, ...]]:
        if paths is None:
            paths = sorted(path for folder in self.folders for path in [*folder.glob("*.py"), *folder.glob("*.ipynb")])
        self.backend.checks.append(tuple(sorted(path.name for path in paths)))
        self.links += "relink" in "".join(self.texts.values())
        if early is not None and any("EARLY" in self.texts.get(path, "") for path in paths):
            early({path: tuple(one for one in self._find(path, stop) if one.word == "BUG") for path in paths})
            if any("TWICE" in self.texts.get(path, "") for path in paths):
                self._wait(self.backend.release_early, stop)
                early({path: tuple(self._find(path, stop)) for path in paths})
            self._wait(self.backend.release, stop)
        if typing and any("PAUSE" in self.texts.get(path, "") for path in paths):
            self.backend.hanging.append("PAUSE")
            raise Postponed(1.0)
        found = {}
        for done, path in enumerate(paths, 1):
            found[path] = tuple(self._find(path, stop))
            if progress is not None:
                progress(done, len(paths))
        return found

    def rest(self) -> Iterable[None]:
        return iter(())

    def worker_map(self, paths: Sequence[Path] | None = None) -> WorkerMap:
        if paths is None:
            paths = sorted(path for folder in self.folders for path in folder.glob("*.py"))
        found = [loader for path in paths for loader in self._loaders(path)]
        return WorkerMap(tuple(found))

    def _loaders(self, path: Path) -> Iterable[MappedLoader]:
        for line, content in enumerate(LINE.split(self.text(path))):
            for word in re.finditer(r"LOADER\((\d+)\)", content):
                place = Place(path, line, word.start())
                function = MappedFunction("work", place, ("sample",), "proven")
                rng = MappedObject("Data", "rng", "Random(...)", place, "proven")
                number = MappedObject("Data", "size", "3", place, "proven")
                workers, yes = f"num_workers={word[1]}", "yes" if word[1] != "0" else "no"
                yield MappedLoader(
                    0, "loader", "`loader`", "Loader", place, workers, yes, False, ("fork",), "the default of linux",
                    "", (), (), (function,), (rng, number),
                )  # fmt: skip

    def locate(self, place: Place) -> Span:
        return Span(place.piece, place.anchor, place.piece, place.anchor + 6)

    def refactorings(self, path: Path, line: int) -> tuple[Fix, ...]:
        made = [one.place for one in self._loaders(path) if one.place and one.place.piece == line]
        return tuple(Fix("Seed this loader", "safe", (Replace(place, "SEEDED"),)) for place in made)

    def repair(self, path: Path, fix: Fix) -> Repair:
        place = fix.intents[0].place
        return Repair(fix.title, fix.safety, (FileEdit(path, (TextEdit(self.locate(place), "SEEDED"),)),))

    def answer(self, question: Callable[..., Any], *about: Any, **named: Any) -> Any:
        return question(self, *about, **named)

    def explain(self, path: Path, line: int, column: int | None = None) -> Explanation:
        made = tuple(one for one in self._loaders(path) if one.place and one.place.piece == line)
        return Explanation(path, line, column, (), made, ("torch 2.4.1, from uv.lock",), (), (), (), 0, WorkerMap())

    def repairs(self, diagnostic: Any) -> tuple[Repair, ...]:
        path, span = diagnostic.path, diagnostic.span
        if diagnostic.word == "STUCK":
            return ()
        fix = diagnostic.finding.fixes[0]
        files = [FileEdit(path, (TextEdit(span, "BUG" if diagnostic.word == "BUG2" else "FIXED"),))]
        if diagnostic.evidence:
            files.append(FileEdit(diagnostic.evidence[0].path, (TextEdit(Span(0, 0, 0, 0), "import fix\n"),)))
        return (Repair(fix.title, fix.safety, tuple(files)),)

    def fix_all(
        self, paths: Sequence[Path], *, unsafe: bool = False, rules: Collection[str] | None = None
    ) -> tuple[FileEdit, ...]:
        edits = []
        for path in paths:
            found = [
                one.files[0].edits[0]
                for diagnostic in self._find(path, lambda: False)
                if diagnostic.word in ("BUG", "BUG2") and (not rules or diagnostic.name in rules)
                for one in self.repairs(diagnostic)
            ]
            if found:
                edits.append(FileEdit(path, tuple(found)))
        return tuple(edits)

    def _find(self, path: Path, stop: Callable[[], bool]) -> Iterable[Diagnostic]:
        text = self.text(path)
        self._misbehave(text, stop)
        loud = any((folder / "loud.txt").exists() for folder in self.folders)
        for line, content in enumerate(LINE.split(text)):
            for word in WORDS.finditer(content):
                if word[0] == "GUESS" and "HUSH" in text:
                    continue
                if word[0] == "LATER" and self.overrides.get("target-python") != "3.14":
                    continue
                if f"ignore[fake-{word[0][:3].lower()}" not in content:
                    yield self._diagnostic(path, line, word, loud)

    def _misbehave(self, text: str, stop: Callable[[], bool]) -> None:
        if "CRASH" in text:
            raise ValueError("a crash that was asked for")
        if "LEAVE" in text:
            raise SystemExit("an exit that was asked for")
        if "PRINT" in text:
            print("Content-Length: 3\r\n\r\n{}!", flush=True)
            subprocess.run([sys.executable, "-c", "import sys; sys.stdin.read()"], check=True)
        if "SLOW" in text:
            self.backend.hanging.append(text)
            self.backend.release.wait(20)
        if "HANG" in text:
            self.backend.hanging.append(text)
            self._wait(self.backend.release, stop)

    def _wait(self, released: threading.Event, stop: Callable[[], bool]) -> None:
        while not released.wait(0.002):
            if stop():
                raise Cancelled

    def _diagnostic(self, path: Path, line: int, word: re.Match[str], loud: bool) -> Diagnostic:
        kind = word[0].partition("(")[0]
        evidence: tuple[Note, ...] = ()
        if word["file"]:
            evidence = (Note(path.with_name(word["file"]), Span(0, 0, 0, 3), "the loader is here"),)
        imports = tuple(AddImport(note.path, "fix") for note in evidence)
        fix = Fix(f"Fix this {kind}", "unsafe" if kind in ("GUESS", "RISK") else "safe", imports)
        severity = Severity.ERROR if loud else Severity.WARNING
        message = f"{word[0]} is a fault"
        finding = Finding(f"fake-{kind.lower()}", severity, "proven", message, Place(path, 0, 0), kind, (), (fix,))
        return Diagnostic(
            code=f"FAK{len(kind):03}",
            name=f"fake-{kind[:3].lower()}",
            severity=severity,
            certainty="proven",
            message=message,
            path=path,
            span=Span(line, word.start(), line, word.end()),
            fingerprint=f"{path.name}:{word[0]}:{line}:{word.start()}",
            evidence=evidence,
            fixable=True,
            finding=finding,
            word=kind,
        )


class FakeBackend:
    """The backend. It also records the questions."""

    def __init__(self) -> None:
        self.cancelled: type[Exception] = Cancelled
        self.pages = {"fake-bug": "# fake-bug (FAK003)\n\n## What it does\nNothing.", "fake-gue": "# fake-gue (FAK005)"}
        self.setups: list[tuple[tuple[Path, ...], dict[str, object]]] = []
        self.workspaces: list[FakeWorkspace] = []
        self.checks: list[tuple[str, ...]] = []
        self.forgotten: list[Path] = []
        self.hanging: list[str] = []
        self.closed = False
        self.release = threading.Event()
        self.release_early = threading.Event()

    def close(self) -> None:
        self.closed = True
        self.release.set()
        self.release_early.set()

    def workspace(self, folders: Sequence[Path], overrides: Mapping[str, object]) -> FakeWorkspace:
        self.workspaces.append(FakeWorkspace(self, folders, overrides))
        return self.workspaces[-1]
