"""The summary that `check --fix` prints: the findings that are gone, file by file, and the files that were edited."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
            yield f"  {shown_path(shown[file], Path.cwd())}: {gone.total()} fixed ({listed(gone)})"
    for path in written:
        if not told.get(path.resolve()):
            is_inside = any(path.is_relative_to(one) for one in named)
            yield f"  {shown_path(path, Path.cwd())}: {'edited' if is_inside else 'also edited (it was not named)'}"


def _gone(before: Sequence[Diagnostic], after: Sequence[Diagnostic]) -> Counter[str]:
    """The number of findings with a fix that are gone, by rule."""
    fixable = Counter(one.name for one in before if one.fixable)
    return fixable - Counter(one.name for one in after if one.fixable)


def kept_back(found: Mapping[Path, Sequence[Diagnostic]], named: Sequence[Path], unsafe: bool) -> Iterator[str]:
    """For each file, how many of its findings are not fixed because their fix would edit files that are not `named`,
    and which files these are."""
    counts: Counter[tuple[Path, tuple[Path, ...]]] = Counter()
    for path, diagnostics in found.items():
        for one in diagnostics:
            fix = next((fix for fix in one.finding.fixes if unsafe or fix.safety == "safe"), None)
            outside = sorted(file for file in (fix.files if fix else ()) if not is_named(file, named))
            counts[path, tuple(outside)] += bool(outside)
    for (path, files), count in sorted(counts.items()):
        if count:
            whose = "1 finding is not fixed: its" if count == 1 else f"{count} findings are not fixed: their"
            names = ", ".join(shown_path(file, Path.cwd()) for file in files)
            yield f"{shown_path(path, Path.cwd())}: {whose} fix edits {names}, which --only-named leaves alone"


def is_named(path: Path, named: Iterable[Path]) -> bool:
    """Whether a file is, or is below, one of the named files and folders (absolute), following links."""
    real = Path(os.path.realpath(path))
    return any(path.is_relative_to(one) or real.is_relative_to(os.path.realpath(one)) for one in named)


def listed(rules: Counter[str]) -> str:
    """'shared-generator, 2 opencv-threads'."""
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in sorted(rules.items()))
