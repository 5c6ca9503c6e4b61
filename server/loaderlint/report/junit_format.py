"""JUnit's XML, which most CI servers show: a test suite for each file, and a failed test for each finding in it.

There is no official schema. The elements and attributes are those that Jenkins and GitLab read ('JUnit XML format' of
testmoapp/junitxml describes the common part)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from loaderlint.report import Item, Report, shown_path
from loaderlint.report.repository_places import Places
from loaderlint.report.terminal import printable

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Problem


def render(report: Report) -> Iterator[str]:
    """The document: a suite for each file with findings (hints only if `report.hints`), then one with an error for each
    internal error. If there are none, one test that passed."""
    places = Places(report)
    root = ElementTree.Element("testsuites", name="loaderlint")
    for path, items in groupby(report.shown, key=lambda item: item.diagnostic.path):
        suite = ElementTree.SubElement(root, "testsuite", name=printable(shown_path(path, places.root)))
        for item in items:
            _add_finding(suite, item, places)
    internal = [problem for problem in report.problems if problem.is_internal]
    if internal or not len(root):
        suite = ElementTree.SubElement(root, "testsuite", name="loaderlint")
        for problem in internal:
            _add_internal_error(suite, problem, places)
        if not internal:
            ElementTree.SubElement(suite, "testcase", name="no findings", classname="loaderlint")
    for suite in root:
        _count(suite, [suite])
    _count(root, list(root))
    ElementTree.indent(root)
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield from ElementTree.tostring(root, encoding="unicode").splitlines()


def _add_finding(suite: ElementTree.Element, item: Item, places: Places) -> None:
    found = item.diagnostic
    span = places.span(found.path, found.span)
    file = printable(shown_path(found.path, places.root))
    name = f"{found.code} {found.name} at {span.line + 1}:{span.column + 1}"
    case = ElementTree.SubElement(suite, "testcase", name=name, classname=file, file=file, line=str(span.line + 1))
    message = printable(places.message(found))
    failure = ElementTree.SubElement(case, "failure", type=found.severity.value, message=message)
    lines = [f"{file}:{span.line + 1}:{span.column + 1}: {message}"]
    for note in found.evidence:
        where = places.span(note.path, note.span)
        shown = printable(shown_path(note.path, places.root))
        lines.append(f"{printable(note.message)} ({shown}:{where.line + 1})")
    failure.text = "\n".join(lines)


def _add_internal_error(suite: ElementTree.Element, problem: Problem, places: Places) -> None:
    file = printable(shown_path(problem.path, places.root)) if problem.path else "loaderlint"
    case = ElementTree.SubElement(suite, "testcase", name="internal error", classname=file)
    ElementTree.SubElement(case, "error", message=printable(problem.message))


def _count(element: ElementTree.Element, suites: list[ElementTree.Element]) -> None:
    for key, path in {"tests": "testcase", "failures": "testcase/failure", "errors": "testcase/error"}.items():
        element.set(key, str(sum(len(suite.findall(path)) for suite in suites)))
