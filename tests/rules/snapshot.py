"""What a user sees of a case, kept in a folder `snapshots`, one file a page: each finding with its evidence and its
fixes, where rules are silent, and what runs where. README.md next to this file says how to read and renew it."""

from __future__ import annotations

import difflib
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path

from loaderlint.fixes.file_edits import Repair
from loaderlint.syntax.positions import apply_edits
from loaderlint.syntax.span import Span
from tests.rules import pages
from tests.rules.cases import Checked, Project

UPDATES = bool(os.environ.get("LOADERLINT_UPDATE"))
RENEW = "if the new text is right: LOADERLINT_UPDATE=1 python -m pytest tests/rules -k <rule> writes it; read the diff"


class Snapshots:
    """The snapshots in a folder: a file a page, in it a text for each case."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def kept(self, page: pages.Page) -> dict[str, str]:
        """The snapshots of a page by the headings of their cases. A case of which nothing is shown has none."""
        path = self._path(page)
        return _read(path, path.stat().st_mtime_ns) if path.exists() else {}

    def compare(self, page: pages.Page, case: pages.Case, shown: str) -> None:
        """What is shown of a case with its snapshot. LOADERLINT_UPDATE replaces the snapshot, and drops those of cases
        that the page no longer has."""
        kept = self.kept(page)
        if not UPDATES:
            assert shown == kept.get(case.heading, ""), RENEW
            return
        texts = kept | {case.heading: shown}
        told = [(one.heading, texts.get(one.heading)) for one in page.cases]
        self._folder.mkdir(exist_ok=True)
        text = "\n".join(f"## {heading}\n{text}" for heading, text in told if text)
        self._path(page).write_text(text, encoding="utf-8")

    def _path(self, page: pages.Page) -> Path:
        return self._folder / f"{page.rule}.txt"


@functools.cache
def _read(path: Path, changed: int) -> dict[str, str]:
    parts = re.split(r"(?m)^## (.*)\n", path.read_text(encoding="utf-8"))
    return {heading: text.rstrip("\n") + "\n" for heading, text in zip(parts[1::2], parts[2::2], strict=True)}


def found(checked: Checked) -> str:
    """The findings of a case, and where the page's rule is silent."""
    lines = [*_findings(checked), *(f"{one.place}: silent: {one.reason}" for one in checked.silences)]
    return _text(lines)


def found_and_run(checked: Checked) -> str:
    """The findings of a case, where any rule is silent, and the worker map."""
    silences = (f"{one.place}: [{one.rule}] is silent: {one.reason}" for one in checked.silences)
    return _text([*_findings(checked), *silences, *(f"| {line}".rstrip() for line in checked.workers)])


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _findings(checked: Checked) -> Iterator[str]:
    project = checked.project
    for one in checked.found:
        yield f"{_place(project, one.path, one.span)}: {one.certainty} {one.severity.value} [{one.name}] {one.message}"
        yield from (f"  {_place(project, *note[:2])}: {note.message}" for note in one.evidence)
        for repair in (repair for found, repair in checked.repairs if found is one):
            yield f"  {repair.safety} fix: {repair.title}"
            yield from _changes(project, repair)


def _place(project: Project, path: Path, span: Span) -> str:
    end = f"{span.end_line + 1}:" if span.end_line != span.line else ""
    return f"{project.name(path)}:{span.line + 1}:{span.column + 1}-{end}{span.end_column + 1}"


def _changes(project: Project, repair: Repair) -> Iterator[str]:
    """The changed lines, file by file, without any around them."""
    for path, edits in ((each.path, each.edits) for each in repair.files):
        before = path.read_text(encoding="utf-8")
        lines = difflib.unified_diff(before.split("\n"), apply_edits(before, edits).split("\n"), n=0, lineterm="")
        yield f"    {project.name(path)}"
        yield from (f"    {line}" for line in list(lines)[2:])
