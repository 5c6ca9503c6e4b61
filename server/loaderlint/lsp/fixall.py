"""Fix all: round after round, because a fix can make room for the next one. For the worker's thread."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from loaderlint.lsp.backend import Workspace
from loaderlint.lsp.documents import Snapshot
from loaderlint.lsp.edits import FileEdit, TextEdit
from loaderlint.lsp.text import Place, content, split_lines

#: More rounds than any chain of fixes needs; the end of a circle.
_ROUNDS = 10


class _Edit(NamedTuple):
    span: Place
    text: str


class _File(NamedTuple):
    path: Path
    edits: tuple[_Edit, ...]


def fix_all(
    workspace: Workspace, path: Path, snapshots: Sequence[Snapshot], rules: Collection[str] | None
) -> Sequence[FileEdit]:
    """The edits that make all safe fixes of the findings in the file at `path`, of the named rules only if any are
    named.

    The workspace sees each round's result and is put back to what `snapshots` (all open documents) say."""
    first = workspace.fix_all([path], rules=rules)
    if not first:
        return ()
    before: dict[Path, str] = {}
    rounds = 1
    edits = first
    try:
        while edits and rounds < _ROUNDS:
            for file in edits:
                text = workspace.text(file.path)
                before.setdefault(file.path, text)
                workspace.set_text(file.path, applied(text, file.edits))
            edits = workspace.fix_all([path], rules=rules)
            rounds += bool(edits)
        after = {changed: workspace.text(changed) for changed in before}
    finally:
        texts = {snapshot.path: snapshot.text for snapshot in snapshots}
        for changed in before:
            workspace.set_text(changed, texts.get(changed))
    if rounds == 1:
        return first
    return [_File(changed, (_difference(before[changed], after[changed]),)) for changed in before]


def applied(text: str, edits: Sequence[TextEdit]) -> str:
    """`text` after `edits`, which are sorted and do not overlap."""
    lines = split_lines(text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    parts: list[str] = []
    done = 0
    for edit in edits:
        start, end = (starts[edit.span.line] + edit.span.column, starts[edit.span.end_line] + edit.span.end_column)
        parts += (text[done:start], edit.text)
        done = end
    return "".join((*parts, text[done:]))


def _difference(before: str, after: str) -> _Edit:
    """One edit, of whole lines, that makes `after` of `before`."""
    old, new = split_lines(before), split_lines(after)
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    end = len(old) - tail
    if end == len(old):
        place = Place(same, 0, end - 1, len(content(old[-1]))) if same < end else _end_of(old)
    else:
        place = Place(same, 0, end, 0)
    return _Edit(place, "".join(new[same : len(new) - tail]))


def _end_of(lines: Sequence[str]) -> Place:
    column = len(content(lines[-1]))
    return Place(len(lines) - 1, column, len(lines) - 1, column)
