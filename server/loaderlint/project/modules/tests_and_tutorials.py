"""Tells tests and tutorials from code that people train with, by the names of files and folders and by what is in them.

Many projects call their evaluation script `test.py`, so a name alone does not make a file a test."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loaderlint.project.modules.project_files import Files

_TESTS = re.compile(r"tests?|testing|test_\w+|\w+_test|conftest")
#: The names of files that pytest looks into by itself: `test.py` is none of them.
_COLLECTED = re.compile(r"test_\w+|\w+_test|conftest")
_TUTORIALS = re.compile(r"(?:\w+_)?tutorials?(?:_\w+)?", re.IGNORECASE)
#: What pytest or unittest run, or an import of them.
_RUN_BY_TESTS = re.compile(
    r"^\s*(?:(?:async )?def test_\w|class Test\w|(?:import|from) (?:pytest|unittest)\b)", re.MULTILINE
)


def in_tests(path: Path | None, root: Path) -> bool:
    """Whether a file is called a test of the project at `root`, by its own name or that of a folder."""
    return path is not None and any(map(_TESTS.fullmatch, _names(path, root)))


def may_be_collected(path: Path, root: Path) -> bool:
    """Whether pytest may call the functions of a file, by the names of the file and its folders."""
    name, *folders = _names(path, root)
    return _COLLECTED.fullmatch(name) is not None or any(map(_TESTS.fullmatch, folders))


def is_test_or_tutorial(path: Path, files: Files) -> bool:
    """Whether a file of the project tests code or teaches it: a test by its name that pytest or unittest run, or a
    file in a folder of tutorials."""
    if any(map(_TUTORIALS.fullmatch, _names(path, files.root))):
        return True
    file = files.file(path) if in_tests(path, files.root) else None
    return file is not None and any(True for _ in file.asking(_is_run_by_tests))


def _names(path: Path, root: Path) -> tuple[str, ...]:
    inner = path.relative_to(root) if path.is_relative_to(root) else path
    return inner.stem, *inner.parts[:-1]


def _is_run_by_tests(text: str) -> bool:
    """Whether a piece is a test, or imports what runs tests."""
    return _RUN_BY_TESTS.search(text) is not None
