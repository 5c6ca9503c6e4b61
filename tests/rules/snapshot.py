"""All that a user sees of a case, kept in `snapshots/`, one file a page: each finding with its evidence and its fixes,
and where the page's rule is silent. README.md next to this file says how to read and renew it."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterator
from pathlib import Path

from loaderlint.fixes.file_edits import Repair
from loaderlint.syntax.positions import apply_edits
from loaderlint.syntax.span import Span
from tests.rules import pages
from tests.rules.cases import Checked, Project

FOLDER = Path(__file__).parent / "snapshots"


def shown(checked: Checked) -> str:
    """What a user sees of a checked case, a fact a line."""
    return "".join(f"{line}\n" for line in _lines(checked))


def kept(rule: str) -> dict[str, str]:
    """The snapshots of a page by the headings of their cases. A case of which nothing is shown has none."""
    path = _path(rule)
    return _read(path, path.stat().st_mtime_ns) if path.exists() else {}


def keep(page: pages.Page, case: pages.Case, text: str) -> None:
    """Replace the snapshot of one case. Those of cases that the page no longer has are dropped."""
    texts = kept(page.rule) | {case.heading: text}
    told = [(one.heading, texts.get(one.heading)) for one in page.cases]
    FOLDER.mkdir(exist_ok=True)
    _path(page.rule).write_text("\n".join(f"## {heading}\n{text}" for heading, text in told if text), encoding="utf-8")


def _path(rule: str) -> Path:
    return FOLDER / f"{rule}.txt"


@functools.cache
def _read(path: Path, changed: int) -> dict[str, str]:
    parts = re.split(r"(?m)^## (.*)\n", path.read_text(encoding="utf-8"))
    return {heading: text.rstrip("\n") + "\n" for heading, text in zip(parts[1::2], parts[2::2], strict=True)}


def _lines(checked: Checked) -> Iterator[str]:
    project = checked.project
    for one in checked.found:
        yield f"{_place(project, one.path, one.span)}: {one.certainty} {one.severity.value} [{one.name}] {one.message}"
        yield from (f"  {_place(project, *note[:2])}: {note.message}" for note in one.evidence)
        for repair in (repair for found, repair in checked.repairs if found is one):
            yield f"  {repair.safety} fix: {repair.title}"
            yield from _changes(project, repair)
    yield from (f"{place}: silent: {reason}" for place, reason in checked.silences)


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
