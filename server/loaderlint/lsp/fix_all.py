"""Fix all: round after round, because a fix can make room for the next one. Runs on the worker's thread."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from loaderlint.lsp.backend import Workspace
from loaderlint.lsp.documents import Snapshot
from loaderlint.lsp.workspace_edits import Edit, FileEdit, NotMade, applied, difference

#: More rounds than any chain of fixes needs: if there are still fixes after them, they undo each other.
_ROUNDS = 10


class _File(NamedTuple):
    path: Path
    edits: tuple[Edit, ...]


def fix_all(
    workspace: Workspace, paths: Sequence[Path], snapshots: Sequence[Snapshot], rules: Collection[str] | None
) -> Sequence[FileEdit]:
    """The edits that make all safe fixes of the findings in the files at `paths`. `rules`: only the fixes of these
    rules, by name.

    The workspace sees the result of each round and is then reset to `snapshots` (all open documents). Raises NotMade if
    the rounds do not end."""
    first = workspace.fix_all(paths, rules=rules)
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
            edits = workspace.fix_all(paths, rules=rules)
            rounds += bool(edits)
        if edits:
            names = ", ".join(sorted({file.path.name for file in edits}))
            raise NotMade(f"the fixes of {names} undo each other; fix one finding at a time, and please report it")
        after = {changed: workspace.text(changed) for changed in before}
    finally:
        texts = {snapshot.path: snapshot.text for snapshot in snapshots}
        for changed in before:
            workspace.set_text(changed, texts.get(changed))
    if rounds == 1:
        return first
    return [_File(changed, (difference(before[changed], after[changed]),)) for changed in before]
