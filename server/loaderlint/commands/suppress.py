"""Creates suppression comments for findings, for `check --suppress`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loaderlint.commands import fix_summary
from loaderlint.commands.write_fixes import Change
from loaderlint.findings.insert_suppressions import Suppressing
from loaderlint.report import shown_path, terminal
from loaderlint.rules.unused_suppression import RULE as UNUSED
from loaderlint.syntax.bare_tree import is_same_code
from loaderlint.syntax.source import whole_lines

if TYPE_CHECKING:
    from loaderlint.engine import Workspace
    from loaderlint.findings.diagnostics import Diagnostic


class Suppressed(NamedTuple):
    """The comments for the findings of one file: what to write, which findings they silence, and the findings for which
    no comment can be written."""

    change: Change
    silenced: tuple[Diagnostic, ...]
    left: tuple[Diagnostic, ...]


def suppressed(workspace: Workspace, found: Iterable[Diagnostic]) -> Iterator[Suppressed]:
    """The comments that silence these findings, file by file. Nothing is written yet. Findings about unused
    suppressions get no comment: a fix removes the suppression."""
    by_file: dict[Path, list[Diagnostic]] = {}
    for one in found:
        if one.name != UNUSED.name:
            by_file.setdefault(workspace.file(one.path) or one.path, []).append(one)
    for file, diagnostics in sorted(by_file.items()):
        yield _in_file(workspace, file, diagnostics)


def _in_file(workspace: Workspace, file: Path, found: Sequence[Diagnostic]) -> Suppressed:
    before = workspace.text(found[0].path)
    nothing = Suppressed(Change(file, before, before), (), tuple(found))
    if workspace.file(found[0].path) is None:  # a link out of the project
        return nothing
    comments = Suppressing(whole_lines(before))
    silenced = [one for one in found if comments.suppress(one.span, one.name, one.code)]
    if not is_same_code(before, comments.text):
        return nothing
    left = tuple(one for one in found if one not in silenced)
    return Suppressed(Change(file, before, comments.text), tuple(silenced), left)


def lines(written: Sequence[Suppressed], left: Sequence[Diagnostic]) -> Iterator[str]:
    """'Suppressed 3 findings in 2 files.', a line for each of these files, and one for each finding that is left."""
    count = sum(len(one.silenced) for one in written)
    findings = "1 finding" if count == 1 else f"{count} findings"
    yield f"Suppressed {findings} in {terminal.files(len(written))}." if written else "Nothing was suppressed."
    for one in written:
        rules = Counter(diagnostic.name for diagnostic in one.silenced)
        yield f"  {shown_path(one.change.path, Path.cwd())}: {fix_summary.listed(rules)}"
    for diagnostic in left:
        place = f"{shown_path(diagnostic.path, Path.cwd())}:{diagnostic.span.line + 1}"
        yield f"  {place}: {diagnostic.name} is not suppressed: no comment can be written there"


def shown(found: Mapping[Path, Sequence[Diagnostic]], hints: bool) -> Iterator[Diagnostic]:
    """The findings that a report shows: hints only if `hints`."""
    from loaderlint.findings.finding import Severity

    for path in sorted(found):
        yield from (one for one in found[path] if hints or one.severity is not Severity.HINT)
