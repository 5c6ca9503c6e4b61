"""A case on disk: written, checked, fixed."""

from __future__ import annotations

import atexit
import functools
import io
import json
import re
import tempfile
import tokenize
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from loaderlint.engine import Workspace
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.findings.read_suppressions import suppressions
from loaderlint.fixes.file_edits import FileEdit, Repair
from loaderlint.report import worker_map_report
from loaderlint.report.locations import Spots
from loaderlint.syntax.positions import apply_edits
from tests.rules import pages

FOLDER = Path(__file__).parent
PAGES = [pages.read_page(path) for path in sorted(FOLDER.glob("*.md")) if path.name != "README.md"]
DEFAULTS: pages.Settings = {"target-python": "3.11", "platforms": ["linux"]}
MOST_ROUNDS = 10
#: What messages call the loader that is presumed where none is in sight.
OUT_OF_SIGHT = "a loader of this dataset"
#: What the title of a fix says before the loaders that it leaves as they are.
EXCEPTED = " except those of "


class Row(NamedTuple):
    """A finding or an expectation as it is compared and shown; `line` is 1-based."""

    file: str
    line: int
    severity: str
    rule: str
    certainty: str


class Project:
    """A case on disk."""

    def __init__(self, root: Path, case: pages.Case) -> None:
        self.root = root.resolve()
        self.overrides = {name: value for name, value in (DEFAULTS | case.settings).items() if value is not None}

    def write(self, files: Iterable[tuple[str, str]]) -> None:
        """Write files by name."""
        for name, text in files:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_notebook(text) if path.suffix == ".ipynb" else text, encoding="utf-8", newline="")

    def workspace(self) -> Workspace:
        """A fresh workspace over the folder; nothing may go wrong in it."""
        return Workspace([self.root], dict(self.overrides), reports_unread=True)

    def check(self, workspace: Workspace) -> list[Diagnostic]:
        """All findings of the project."""
        found = [diagnostic for each in workspace.check([self.root]).values() for diagnostic in each]
        assert all(one.is_limit for one in workspace.problems)
        return found

    def name(self, path: Path) -> str:
        """The file's name in the case."""
        return path.resolve().relative_to(self.root).as_posix()

    def texts(self) -> dict[str, str]:
        """The Python files as they are on disk."""
        return {self.name(path): path.read_text(encoding="utf-8") for path in sorted(self.root.rglob("*.py"))}

    def apply(self, edits: Sequence[FileEdit]) -> None:
        """Write the edits to disk."""
        self.write((self.name(e.path), apply_edits(e.path.read_text(encoding="utf-8"), e.edits)) for e in edits)


class Checked(NamedTuple):
    """A project, what is found in it, the fixes of that, where rules are silent and why, and the worker map as
    `loaderlint workers --all` prints it."""

    project: Project
    found: list[Diagnostic]
    repairs: list[tuple[Diagnostic, Repair]]
    silences: list[Silent]
    workers: list[str]


class Silent(NamedTuple):
    """Where a rule is silent ('case.py:12'), and why."""

    place: str
    rule: str
    reason: str


def checked(project: Project, told: Collection[str] = ()) -> Checked:
    """The project, checked. `told`: the rules whose silences are asked for; without any there is no worker map."""
    workspace = Workspace([project.root], dict(project.overrides), reports_unread=True, tells=bool(told))
    found = project.check(workspace)
    repairs = [(one, repair) for one in found if one.fixable for repair in workspace.repairs(one)]
    if not told:
        return Checked(project, found, repairs, [], [])
    workers = worker_map_report.text(workspace.worker_map(), Spots(workspace, project.root), whole=True)
    return Checked(project, found, repairs, list(_silences(project, workspace, told)), list(workers))


@functools.cache
def as_written(rule: str, slug: str) -> Checked:
    """A case of the page of `rule`, not to be written to: most tests begin with what is found in it, so it is checked
    once a process."""
    case = next(case for page in PAGES if page.rule == rule for case in page.cases if case.slug == slug)
    return written(f"{rule}/{slug}", case, [rule])


def reader(room: str, told_by: Sequence[pages.Page], told: Collection[str]) -> Callable[[str, str], Checked]:
    """What is found in a case, by its page and slug, as `as_written` says for the pages of rules. `room`: the folder of
    tests that holds the pages; `told`: the rules of which silences are told."""

    @functools.cache
    def as_written(page: str, slug: str) -> Checked:
        case = next(case for one in told_by if one.rule == page for case in one.cases if case.slug == slug)
        return written(f"{room}/{page}/{slug}", case, told)

    return as_written


def written(name: str, case: pages.Case, told: Collection[str]) -> Checked:
    """A case, checked in a folder of this name that is not to be written to."""
    project = Project(_scratch() / name, case)
    project.write((block.name, block.text) for block in case.files)
    return checked(project, told)


@functools.cache
def _scratch() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="loaderlint-cases-", ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _notebook(text: str) -> str:
    """A notebook with this code; a cell starts at each line `# %%`."""
    cells = [part for part in re.split(r"(?m)^(?=# %%$)", text) if part]
    listed = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.removesuffix("\n")} for cell in cells]
    return json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def row(project: Project, diagnostic: Diagnostic) -> Row:
    """The diagnostic as a row."""
    name = project.name(diagnostic.path)
    return Row(name, diagnostic.span.line + 1, diagnostic.severity.value, diagnostic.name, diagnostic.certainty)


def comments(text: str) -> Counter[str]:
    """The comments of a Python file, those apart that silence findings: a fix may take them away."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return Counter(comment for comment in found if not suppressions(comment))


def assert_sound(before: dict[str, str], after: dict[str, str]) -> None:
    """The files after a fix compile and keep their comments."""
    for name, text in after.items():
        compile(text, name, "exec")
        assert not comments(before[name]) - comments(text), f"comments of {name} are lost:\n{text}"


def tally(project: Project, found: Iterable[Diagnostic]) -> Counter[tuple[str, str]]:
    """How many findings each rule has in each file."""
    return Counter((diagnostic.name, project.name(diagnostic.path)) for diagnostic in found)


def faulty_loaders(found: Iterable[Diagnostic]) -> int:
    """How many loaders the findings name, each for itself."""
    return sum(note.is_loader for diagnostic in found for note in diagnostic.evidence)


def _silences(project: Project, workspace: Workspace, told: Collection[str]) -> Iterator[Silent]:
    """Where these rules are silent: each reason once where lines in a row have it."""
    before: set[tuple[str, str]] = set()
    for path in sorted(workspace.check([project.root])):
        for number, line in enumerate(workspace.text(path).splitlines()):
            if not before and not line.strip():
                continue  # nothing begins on an empty line
            silent = [one for one in workspace.explain(path, number).silent if one.name in told]
            reasons = [(one.name, reason) for one in silent for reason in one.reasons]
            yield from (Silent(f"{project.name(path)}:{number + 1}", *one) for one in reasons if one not in before)
            before = set(reasons)


def source_line(project: Project, diagnostic: Diagnostic) -> tuple[str, str, str]:
    """The rule, the file and the text of the line: what stays when other lines come and go."""
    name = project.name(diagnostic.path)
    return diagnostic.name, name, project.texts()[name].split("\n")[diagnostic.span.line]


def assert_found(case: pages.Case, checked: Checked) -> None:
    """What is found in the project is what the case expects, no more and no less."""
    project, found = checked.project, checked.found
    expected = [
        (Row(block.name, e.line + 1, e.severity, e.rule, e.certainty), e.text)
        for block in case.files
        for e in block.expectations
    ]
    wanted = Counter(each for each, _ in expected)
    rows = Counter(row(project, diagnostic) for diagnostic in found)
    lines = [f"missing {each}" for each in (wanted - rows).elements()]
    lines += [f"extra {row(project, d)}: {d.message}" for d in found if row(project, d) in rows - wanted]
    assert not lines, "\n".join(["", *lines])
    for each, text in expected:
        messages = [d.message for d in found if row(project, d) == each]
        assert text is None or any(text in message for message in messages), f"'{text}' is not said: {messages}"


def assert_each_fix(case: pages.Case, checked: Checked, folder: Path) -> None:
    """Each fix, applied by itself in a copy of the case in `folder`, removes its finding and adds none. What is left of
    it may be about a loader that is not in sight, which no fix changes, or about those that the title of an unsafe fix
    excepts."""
    project, found = checked.project, checked.found
    before = project.texts()
    for number, (diagnostic, repair) in enumerate(checked.repairs):
        fixed = Project(folder / f"fixed{number}", case)
        fixed.write((block.name, block.text) for block in case.files)
        fixed.apply([FileEdit(fixed.root / project.name(each.path), each.edits) for each in repair.files])
        assert_sound(before, fixed.texts())
        assert fixed.texts() != before, f"'{repair.title}' changes nothing"
        left = fixed.check(fixed.workspace())
        subject = f"'{repair.title}' for {row(project, diagnostic)}"
        was, now = tally(project, found), tally(fixed, left)
        if EXCEPTED in repair.title:
            assert repair.safety == "unsafe" and faulty_loaders(left) < faulty_loaders(found), subject
            continue
        if repair.safety == "unsafe":  # a guess is involved, but not whether it cures what it is offered for
            assert (
                now[diagnostic.name, project.name(diagnostic.path)]
                < was[diagnostic.name, project.name(diagnostic.path)]
            )
            continue
        assert not now - was, f"{subject} adds {[row(fixed, d) for d in left]}"
        if OUT_OF_SIGHT not in diagnostic.message:
            left = [each for each in left if OUT_OF_SIGHT not in each.message]
        rule = (diagnostic.name, project.name(diagnostic.path))
        assert tally(fixed, left)[rule] < was[rule], f"{subject} removes nothing"
        line = source_line(project, diagnostic)
        was_there = [source_line(project, each) for each in found].count(line)
        assert [source_line(fixed, each) for each in left].count(line) < was_there, f"{subject} removes another finding"
