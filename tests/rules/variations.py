"""Variations of the cases of all pages, which differ from them in one statement, argument, condition, number or name.

    python -m tests.rules.variations > before.txt
    python -m tests.rules.variations --one-of 50 stored-data-mutation unsorted-listing

prints each variation of which something else is said than of its case, and the difference:

    ## Made in the dataset [shared-generator]
    train.py:24 `DataLoader` without `num_workers=4`
      - train.py:11 error [shared-generator], safe fix of 2
      + train.py:11 silent: no workers (num_workers=0)

A line with `-` is no longer said, one with `+` is said instead; variations with the same difference stand above each
other. Findings are those of all rules, silences those of the page's rule. `safe fix of 2` changes two things.

Nobody has judged these answers. Run this before and after a change of a rule: the diff shows which neighbours of a case
the rule judges anew.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from loaderlint.engine.file_settings import Configuration
from loaderlint.engine.finding_positions import Places
from loaderlint.engine.run_rules import ask_rules
from loaderlint.findings.finding import Finding, Place, Silence
from loaderlint.project.reach.model import Model
from loaderlint.rules import RULES
from loaderlint.sources.configuration_files import ConfigurationFiles
from loaderlint.sources.snapshot import Snapshot
from loaderlint.sources.store import Store
from tests.late_binding.test_shapes import PAGES as LATE_BINDING
from tests.rules import pages
from tests.rules.answers import raise_error
from tests.rules.cases import PAGES as OF_RULES
from tests.rules.cases import Project
from tests.wrappers.test_wrappers import PAGES as WRAPPERS

PAGES = (*OF_RULES, *WRAPPERS, *LATE_BINDING)
_LONGEST_TEXT = 60
_EXCHANGED = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Delete)
_NEVER_LEFT_OUT = (ast.Pass, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Node = ast.stmt | ast.expr | ast.keyword


class Variation(NamedTuple):
    """A file of a case with one change. `name` says which: 'case.py:12 without `seed(0)`'. Lines keep their numbers."""

    name: str
    file: str
    text: str


class _Change(NamedTuple):
    """The text from `start` to `end` (offsets in the file's bytes) becomes `new`. `what` says so for people."""

    what: str
    line: int
    start: int
    end: int
    new: str


def variations(case: pages.Case) -> list[Variation]:
    """All variations of a case, each with another name."""
    found: dict[str, Variation] = {}
    for block in case.files:
        if block.name.endswith(".py"):
            text = block.text.encode()
            for change in _Changes(text).below(ast.parse(text)):
                name = f"{block.name}:{change.line} {change.what}"
                found[name] = Variation(name, block.name, _applied(change, text))
    return list(found.values())


def _applied(change: _Change, text: bytes) -> str:
    missing = text.count(b"\n", change.start, change.end) - change.new.count("\n")
    new = change.new.encode() + b"\n" * missing
    return (text[: change.start] + new + text[change.end :]).decode()


class _Changes:
    """The changes of one file."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._begins = [0]
        for line in text.split(b"\n"):
            self._begins.append(self._begins[-1] + len(line) + 1)

    def below(self, node: ast.AST) -> Iterator[_Change]:
        """The changes in the children of a node."""
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield from self._in_another_order(block)
        for child in ast.iter_child_nodes(node):
            yield from self._of(child, node)
            if not isinstance(child, ast.JoinedStr):  # before Python 3.12, places in it are wrong
                yield from self.below(child)

    def _of(self, node: ast.AST, parent: ast.AST) -> Iterator[_Change]:
        match node:
            case ast.stmt() if not isinstance(node, _NEVER_LEFT_OUT) and not _is_docstring(node):
                yield self._replaced(node, "pass", f"without `{self._short(node)}`")
                if isinstance(node, ast.If | ast.While):
                    yield self._reversed(node.test)
            case ast.IfExp(test=test):
                yield self._reversed(test)
            case ast.Call():
                yield self._replaced(node, "unknown()")
                yield from self._without_arguments(node)
            case ast.Constant(value=bool(value)):
                yield self._replaced(node, str(not value))
            case ast.Constant(value=int(value)):
                yield self._replaced(node, "0" if value else "2")
            case ast.Name(ctx=ast.Load()) if not (isinstance(parent, ast.Call) and parent.func is node):
                yield self._replaced(node, "unknown_name")

    def _in_another_order(self, block: list[ast.stmt]) -> Iterator[_Change]:
        for first, second in pairwise(block):
            if isinstance(first, _EXCHANGED) and isinstance(second, _EXCHANGED) and not _is_docstring(first):
                between = self._text[self._end(first) : self._start(second)].decode()
                new = f"{self._source(second)}{between}{self._source(first)}"
                what = f"`{self._short(first)}` after `{self._short(second)}`"
                yield _Change(what, first.lineno, self._start(first), self._end(second), new)

    def _without_arguments(self, call: ast.Call) -> Iterator[_Change]:
        given: list[ast.expr | ast.keyword] = sorted([*call.args, *call.keywords], key=self._start)
        if isinstance(given[0] if given else None, ast.GeneratorExp):
            return  # on its own, its place includes the parentheses of the call
        for index, one in enumerate(given):
            is_last = index + 1 == len(given)
            start = self._end(given[index - 1]) if is_last and index else self._start(one)
            end = self._end(one) if is_last else self._start(given[index + 1])
            yield _Change(f"`{self._short(call.func)}` without `{self._short(one)}`", one.lineno, start, end, "")

    def _reversed(self, test: ast.expr) -> _Change:
        return self._replaced(test, f"not ({self._source(test)})", f"not `{self._short(test)}`")

    def _replaced(self, node: ast.stmt | ast.expr, new: str, what: str = "") -> _Change:
        what = what or f"`{self._short(node)}` -> `{new}`"
        return _Change(what, node.lineno, self._start(node), self._end(node), new)

    def _start(self, node: _Node) -> int:
        return self._begins[node.lineno - 1] + node.col_offset

    def _end(self, node: _Node) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None, "parsed from text"
        return self._begins[node.end_lineno - 1] + node.end_col_offset

    def _source(self, node: _Node) -> str:
        return self._text[self._start(node) : self._end(node)].decode()

    def _short(self, node: _Node) -> str:
        text = " ".join(self._source(node).split())
        return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 3]}..."


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


# --- what is said about them ------------------------------------------------------------------------------------------


class VariedProject:
    """A case in a folder, in which one file at a time is varied."""

    def __init__(self, folder: Path, page: pages.Page, case: pages.Case) -> None:
        self._project = Project(folder, case)
        self._project.write((block.name, block.text) for block in case.files)
        self._rule = page.rule
        self._store = Store(self._project.root)
        self._configuration = Configuration(self._project.root, self._project.overrides, None)
        self._configurations = ConfigurationFiles(self._store.root)
        self._places = Places(self._store)
        self._as_written = self._answer()

    def answer(self, variation: Variation) -> list[str]:
        """What is said about the variation. An internal error is raised."""
        path = self._project.root / variation.file
        self._store.set_text(path, variation.text)
        said = self._answer()
        self._store.set_text(path, None)
        return said

    def differences(self, variation: Variation) -> Iterator[str]:
        """What is no longer said once a file is varied (`  - ...`), and what is said instead."""
        now = self.answer(variation)
        if self._as_written and not now:
            yield "  nothing is said"
            return
        yield from (f"  - {one}" for one in self._as_written if one not in now)
        yield from (f"  + {one}" for one in now if one not in self._as_written)

    def _answer(self) -> list[str]:
        """The findings of all rules, and the silences of the page's rule, in the order of lines."""
        self._store.find()
        snapshot = Snapshot(self._store, lambda: False, lambda: None, configurations=self._configurations)
        model = Model(snapshot, self._configuration.environment, self._configuration.declared, explains=True)
        silences: list[Silence] = []
        found = ask_rules(model, RULES, lambda: False, silences.append, raise_error)
        model.take_apart()
        said = [(self._place(one.place), f"{_loudness(one)} [{one.rule}]{_fixes(one)}") for one in found]
        said += [(self._place(one.place), f"silent: {one.reason}") for one in silences if one.rule == self._rule]
        return [f"{file}:{line} {words}" for (file, line), words in sorted(set(said))]

    def _place(self, place: Place) -> tuple[str, int]:
        span = self._places.span(place)
        assert span is not None
        return self._project.name(place.path), span.line + 1


def _loudness(finding: Finding) -> str:
    return f"{'possible ' * (finding.certainty == 'possible')}{finding.severity.value}"


def _fixes(finding: Finding) -> str:
    return "".join(f", {fix.safety} fix of {len(fix.intents)}" for fix in finding.fixes)


def _shown(page: pages.Page, case: pages.Case, one_of: int) -> Iterator[str]:
    taken = [one for one in variations(case) if zlib.crc32(f"{case.heading} {one.name}".encode()) % one_of == 0]
    names: dict[tuple[str, ...], list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="loaderlint-variations-") as folder:
        project = VariedProject(Path(folder), page, case)
        for one in taken:
            names.setdefault(tuple(project.differences(one)), []).append(one.name)
    for differences, same in names.items():
        yield from (*same, *differences) if differences else ()


def main(arguments: Sequence[str]) -> None:
    """Print the differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="the names of pages; all of them if none is given")
    parser.add_argument("--one-of", type=int, default=10, help="take one variation of so many (default: 10)")
    options = parser.parse_args(arguments)
    for page in PAGES:
        for case in page.cases if not options.pages or page.rule in options.pages else ():
            if shown := list(_shown(page, case, options.one_of)):
                print(f"## {case.heading} [{page.rule}]", *shown, "", sep="\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
