"""What `check --fix` tells of its work: the findings that are gone, file by file, and the files that were edited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.report import shown_path, terminal

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic


def lines(
    before: Mapping[Path, Sequence[Diagnostic]],
    after: Mapping[Path, Sequence[Diagnostic]],
    written: Sequence[Path],
    named: Sequence[Path],
) -> Iterator[str]:
    """'Fixed 2 files.', then a line for each file. `before` and `after` are the findings of the files that are checked,
    `written` the files that fixes have changed, `named` the files and folders that the command names (absolute). A file
    that is checked under several names, because some are links, has one line."""
    yield f"Fixed {terminal.files(len(written))}."
    shown = {path.resolve(): path for path in (*sorted(before, reverse=True), *written)}
    told: dict[Path, Counter[str]] = {}
    for path in sorted(before):
        file = path.resolve()
        told[file] = told.get(file, Counter()) | _gone(before[path], after.get(path, ()))
    for file, gone in told.items():
        if gone:
            yield f"  {shown_path(shown[file], Path.cwd())}: {gone.total()} fixed ({_listed(gone)})"
    for path in written:
        if not told.get(path.resolve()):
            outside = "" if any(path.is_relative_to(one) for one in named) else ", which was not named"
            yield f"  {shown_path(path, Path.cwd())}: edited{outside}"


def _gone(before: Sequence[Diagnostic], after: Sequence[Diagnostic]) -> Counter[str]:
    """How many findings that had a fix are gone, by rule."""
    fixable = Counter(one.name for one in before if one.fixable)
    return fixable - Counter(one.name for one in after if one.fixable)


def _listed(gone: Counter[str]) -> str:
    """'shared-generator, 2 opencv-threads'."""
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in sorted(gone.items()))
