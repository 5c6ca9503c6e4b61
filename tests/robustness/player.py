"""Plays steps on a real server, compares what it shows with a fresh answer for the same texts, and shrinks failures."""

from __future__ import annotations

import pprint
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loaderlint.engine import Workspace
from loaderlint.findings.causes import by_cause, short_message
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.findings.finding import Severity
from loaderlint.lsp.text_positions import Encoding
from loaderlint.syntax.span import Span
from tests.engine.projects import parses
from tests.robustness.client import Client, ServerError
from tests.robustness.edits import Ask, Change, Close, Open, Pause, Rename, Replace, Step, Write, bounds
from tests.robustness.projects import TEXTS, write

_SEVERITY = {Severity.ERROR: 1, Severity.WARNING: 2, Severity.INFORMATION: 3, Severity.HINT: 4}
_CREATED, _CHANGED, _DELETED = 1, 2, 3
#: Replays that shrinking may take.
_REPLAYS = 60


class Different(AssertionError):
    """The server shows something else than a fresh answer."""


@dataclass(frozen=True, slots=True)
class Way:
    """How the client of a session talks: the encoding of its positions, and whether it asks for diagnostics."""

    encoding: Encoding
    pulls: bool


@dataclass(slots=True)
class Player:
    """A project on disk, an editor on it, and the server. Each comparison begins with what parses: the last text that
    did is put back where one does not, since the findings of half-typed code depend on what was there before."""

    root: Path
    way: Way
    client: Client
    disk: dict[str, str]
    opened: dict[str, str] = field(default_factory=dict)
    good: dict[str, str] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    #: What may stand in the log of the server (a regular expression).
    allowed: str = ""

    def play(self, step: Step) -> None:
        """Do one step. A step about a file that is not there, or not open, does nothing. Raises ServerError."""
        match step:
            case Change(name, changes) if name in self.opened:
                self._change(name, changes)
            case Open(name, text) if text is not None or name in self.disk:
                self._open(name, self.disk[name] if text is None else text)
            case Close(name) if name in self.opened:
                self._close(name)
            case Write(name, text):
                self._write(name, text)
            case Rename(name, new) if name in self.disk and name != new:
                self._rename(name, new)
            case Ask(name, method, at) if name in self.opened:
                self._ask(name, method, at)
            case Pause():
                self.client.settle()

    def _change(self, name: str, changes: Iterable[Replace | str]) -> None:
        text, events = self.opened[name], []
        for change in changes:
            self.counts["edits"] += 1
            if isinstance(change, str):
                events.append({"text": change})
                text = change
                continue
            start, end = bounds(text, change)
            place = {"start": position(text, start, self.way.encoding), "end": position(text, end, self.way.encoding)}
            events.append({"range": place, "text": change.text})
            text = text[:start] + change.text + text[end:]
        self.opened[name] = text
        self.versions[name] += 1
        document = {"uri": self.uri(name), "version": self.versions[name]}
        self.client.notify("textDocument/didChange", textDocument=document, contentChanges=events)

    def _open(self, name: str, text: str) -> None:
        self.opened[name], self.versions[name] = text, 1
        document = {"uri": self.uri(name), "languageId": "python", "version": 1, "text": text}
        self.client.notify("textDocument/didOpen", textDocument=document)

    def _close(self, name: str) -> None:
        del self.opened[name]
        self.client.notify("textDocument/didClose", textDocument={"uri": self.uri(name)})

    def _write(self, name: str, text: str | None) -> None:
        kind = _CHANGED if name in self.disk else _CREATED
        if text is not None:
            write(self.root, {name: text})
            self.disk[name] = text
        elif self.disk.pop(name, None) is not None:
            (self.root / name).unlink()
            kind = _DELETED
        self._tell((name, kind))

    def _rename(self, name: str, new: str) -> None:
        was_open = self.opened.get(name)
        if was_open is not None:
            self._close(name)
        existed = new in self.disk
        self.disk[new] = self.disk.pop(name)
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).replace(self.root / new)
        self._tell((name, _DELETED), (new, _CHANGED if existed else _CREATED))
        if was_open is not None:
            self._open(new, was_open)

    def _tell(self, *events: tuple[str, int]) -> None:
        changes = [{"uri": self.uri(name), "type": kind} for name, kind in events]
        self.client.notify("workspace/didChangeWatchedFiles", changes=changes)

    def _ask(self, name: str, method: str, at: int) -> None:
        if method == "textDocument/diagnostic" and not self.way.pulls:
            return
        place = position(self.opened[name], at, self.way.encoding)
        more = {
            "textDocument/hover": {"position": place},
            "textDocument/codeAction": {"range": {"start": place, "end": place}, "context": {"diagnostics": []}},
        }.get(method, {})
        self.client.request(method, textDocument={"uri": self.uri(name)}, **more)
        self.counts["requests"] += 1

    def compare(self) -> tuple[Step, ...]:
        """Wait until all is looked at, and compare. The steps that put back what parsed. Raises Different,
        ServerError."""
        self.client.settle()
        for name, text in self.opened.items():
            self._assert_inside(name, text)
        fresh = self.fresh()
        broken = [name for name in self.opened if not parses(fresh, self.root / name)]
        back = tuple(Change(name, (self.good.get(name, TEXTS[len(name) % len(TEXTS)]),)) for name in broken)
        for step in back:
            self.play(step)
        if back:
            self.client.settle()
            fresh = self.fresh()
        self._assert_same(fresh)
        self.good = dict(self.opened)
        self.counts["comparisons"] += 1
        return back

    def fresh(self) -> Workspace:
        """A new workspace with the texts of the editor."""
        workspace = Workspace([self.root])
        workspace.forget([self.root / "pyproject.toml"])  # what this process remembers of settings is forgotten
        for name, text in self.opened.items():
            workspace.set_text(self.root / name, text)
        return workspace

    def _assert_same(self, fresh: Workspace) -> None:
        found = fresh.check([self.root / name for name in self.opened]) if self.opened else {}
        for name in sorted(self.opened):
            here = found.get(self.root / name, ())
            firsts = {id(one): group[0] for group in by_cause(here) for one in group[1:]}
            wanted = [self._as_shown(one, firsts.get(id(one)), fresh) for one in here]
            shown = [_row(one) for one in self.client.shown(self.uri(name))]
            self.counts["findings"] += len(wanted)
            if shown != wanted:
                raise Different(f"{name}: shown\n{pprint.pformat(shown)}\na fresh answer\n{pprint.pformat(wanted)}")
        for uri, left in self.client.published.items():
            if left and uri not in map(self.uri, self.opened):
                raise Different(f"{uri} is not open, and has {left}")
        errors = self.client.errors()
        if self.allowed:
            errors = re.sub(self.allowed, "", errors)
        if errors:
            raise ServerError(f"the log of the server:\n{errors}")

    def _assert_inside(self, name: str, text: str) -> None:
        """Whatever is shown of a text, half typed or not, stands in it."""
        lines = split(text)
        for one in self.client.shown(self.uri(name)):
            for place in one["range"].values():
                inside = place["line"] < len(lines)
                if not inside or place["character"] > _units(lines[place["line"]], self.way.encoding):
                    raise Different(f"{name}: {one['range']} lies outside of the text: {one['message']}")

    def _as_shown(self, found: Diagnostic, first: Diagnostic | None, fresh: Workspace) -> tuple[Any, ...]:
        """A finding as the editor shows it; `first`: the one of the same cause that says all."""
        related = [
            (note.path.as_uri(), self._range(note.path, note.span, fresh), note.message) for note in found.evidence
        ]
        message = found.message
        if first is not None:
            related.insert(0, (first.path.as_uri(), self._range(first.path, first.span, fresh), first.message))
            message = short_message(found)
        place = self._range(found.path, found.span, fresh)
        return found.code, _SEVERITY[found.severity], place, message, found.fingerprint, related

    def _range(self, path: Path, span: Span, fresh: Workspace) -> tuple[int, int, int, int]:
        lines = split(fresh.text(path))
        first, last = lines[span.line][: span.column], lines[span.end_line][: span.end_column]
        encoding = self.way.encoding
        return span.line, _units(first, encoding), span.end_line, _units(last, encoding)

    def uri(self, name: str) -> str:
        """The URI of a file of the project."""
        return (self.root / name).as_uri()


def _row(shown: dict[str, Any]) -> tuple[Any, ...]:
    """A diagnostic of the protocol as it is compared."""
    related = [
        (one["location"]["uri"], _corners(one["location"]["range"]), one["message"])
        for one in shown.get("relatedInformation") or ()
    ]
    place, about = _corners(shown["range"]), shown["data"]["id"]
    return shown["code"], shown["severity"], place, shown["message"], about, related


def _corners(place: dict[str, Any]) -> tuple[int, int, int, int]:
    start, end = place["start"], place["end"]
    return start["line"], start["character"], end["line"], end["character"]


# Positions are counted here once more, and not by the server's own functions, which they are to check.


def split(text: str) -> list[str]:
    """The lines of a text as the protocol has them, without their ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def position(text: str, at: int, encoding: Encoding) -> dict[str, int]:
    """The offset `at` as a position of the protocol."""
    lines = split(text[:at])
    return {"line": len(lines) - 1, "character": _units(lines[-1], encoding)}


def _units(text: str, encoding: Encoding) -> int:
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    return len(text.encode(f"{encoding}-le" if width > 1 else encoding)) // width


# --- failures --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, with all that it takes to see it again."""

    way: Way
    files: dict[str, str]
    steps: tuple[Step, ...]
    said: str

    def __str__(self) -> str:
        steps = ",\n    ".join(map(repr, self.steps))
        return (
            f"{self.said}\n\nAs a row of tests/robustness/replays.py:\n\nReplay(\n    {self.way!r},\n"
            f"    {pprint.pformat(self.files, width=110)},\n    (\n    {steps},\n    ),\n)"
        )


def failing(way: Way, files: dict[str, str], steps: Sequence[Step]) -> str:
    """Play the steps in a new project with a new server, and compare at the end. What goes wrong, '' if all is well."""
    folder = Path(tempfile.mkdtemp(prefix="loaderlint-replay-")).resolve()
    try:
        root = write(folder / "project", files)
        with Client(root, folder / "log", encoding=way.encoding, pulls=way.pulls) as client:
            player = Player(root, way, client, dict(files))
            for step in steps:
                player.play(step)
            player.compare()
    except AssertionError as error:
        return str(error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return ""


def shrunk(failure: Failure, again: Callable[[Failure], str] | None = None) -> Failure:
    """A smaller failure: with as few steps and files as a number of replays can find."""
    again = again or (lambda one: failing(one.way, one.files, one.steps))
    left = _REPLAYS
    size = max(1, len(failure.steps) // 2)
    while left > 0:
        smaller = None
        for first in range(0, len(failure.steps), size):
            if left <= 0:
                break
            left -= 1
            steps = failure.steps[:first] + failure.steps[first + size :]
            said = again(Failure(failure.way, failure.files, steps, ""))
            if said:
                smaller = Failure(failure.way, failure.files, steps, said)
                break
        if smaller is not None:
            failure = smaller
            size = max(1, min(size, len(failure.steps) // 2))
        elif size == 1:
            break
        else:
            size //= 2
    for name in list(failure.files):
        files = {other: text for other, text in failure.files.items() if other != name}
        if said := again(Failure(failure.way, files, failure.steps, "")):
            failure = Failure(failure.way, files, failure.steps, said)
    return failure
