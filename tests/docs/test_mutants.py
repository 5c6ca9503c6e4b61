"""Mutants: how a function is changed, and which changes count as noticed by a test."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import mutants
from scripts.generate_docs import ROOT

MODULE = """\
def is_many(count):
    return count > 3


def at_least_none(count):
    return max(count, 0)


def unused(count):
    return not count
"""
TESTS = """\
from limits import at_least_none, is_many


def test_the_limit():
    assert is_many(4)
    assert not is_many(3)


def test_none():
    assert at_least_none(2) == 2


def test_what_is_imported_late():
    from late import is_few

    assert is_few(2)
    assert not is_few(3)


def test_guards():
    from guarded import size

    assert size(2) == "few"
    assert size(3) is None


def test_that_fails_anyway():
    assert is_many(0)
"""
LATE = """\
def is_few(count):
    return (
        count < 3
    )
"""
GUARDED = """\
def size(count):
    match count:
        case None:
            return "none"
        case _ if count < 3:
            return "few"
"""
CHANGED = [
    ("return a < b", ["return a <= b"]),
    ("return a and b and c", ["return b and c", "return a and c", "return a and b"]),
    ("return a if not b else c", ["return a", "return c", "return a if b else c"]),
    ("return [x for x in a if x]", ["return [x for x in a]"]),
    ("return f(True, 2)", ["return f(False, 2)", "return f(True, 3)"]),
    ("return a | b", ["return a", "return b"]),
    ("return any(a)", ["return all(a)"]),
    ("return {a, b}", ["return {b}", "return {a}"]),
    ("a += b", ["pass"]),
    ("f(a)", ["pass"]),
    ("while a:\n    break", ["while False:\n    break", "while a:\n    pass"]),
    ("a: int | None = 'text'", []),
    ("'A docstring.'", []),
]


@pytest.mark.parametrize(("body", "expected"), CHANGED)
def test_how_a_function_is_changed(tmp_path: Path, body: str, expected: list[str]) -> None:
    path = tmp_path / "module.py"
    path.write_text(f"def g():\n{_indented(body)}\n", encoding="utf-8")
    found = []
    for number in range(len(mutants.mutants(path))):
        mutant = mutants.mutants(path)[number]  # read again: applying one changes the tree that all share
        mutant.apply()
        found.append(ast.unparse(mutant.module))
    assert found == [f"def g():\n{_indented(each)}" for each in expected]


def test_what_the_tests_notice(tmp_path: Path) -> None:
    (tmp_path / "limits.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "late.py").write_text(LATE, encoding="utf-8")
    (tmp_path / "guarded.py").write_text(GUARDED, encoding="utf-8")
    (tmp_path / "test_limits.py").write_text(TESTS, encoding="utf-8")
    assert _run(tmp_path, "limits.py") == [
        "4 mutants",
        "4 of 5 groups of tests pass",
        "1/1 killed: limits.py:2 is_many: count > 3 -> GtE",
        "2/2 killed: limits.py:2 is_many: 3 -> 4",
        "2/3 survived: limits.py:6 at_least_none: 0 -> 1",
        "2/4 uncovered: limits.py:10 unused: not count -> without not",
        "2 of 4 mutants killed: 50%",
    ]
    assert _run(tmp_path, "late.py", "--jobs", "2")[2:] == [
        "1/1 killed: late.py:3 is_few: count < 3 -> LtE",
        "2/2 killed: late.py:3 is_few: 3 -> 4",
        "2 of 2 mutants killed: 100%",
    ]
    assert _run(tmp_path, "guarded.py")[-1] == "2 of 2 mutants killed: 100%"
    assert _run(tmp_path, "limits.py:2", "--seconds", "0")[-1] == "0 of 2 mutants killed: 0%"
    assert _run(tmp_path, "limits.py:6")[-1] == "0 of 1 mutants killed: 0%"
    assert _run(tmp_path, "--sample", "1", "limits.py:2")[-1] == "1 of 1 mutants killed: 100%"


def _run(folder: Path, *arguments: str) -> list[str]:
    """The lines that the tool prints for the tests of a folder."""
    command = [sys.executable, "-m", "scripts.mutants", *arguments, "--", "test_limits.py"]
    done = subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if "mutant" in line or "/" in line or "groups" in line]


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
