"""No input takes more than its share of time and memory, ends in an internal error, or hides what else is there."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.robustness.bounded import Bound, Ended, Runner
from tests.robustness.hostile_inputs import FINDING, KNOWN, ROWS, Hostile, write
from tests.robustness.scale import is_long, scaled

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork, RLIMIT_AS and /proc")

#: What is run beside the row's own command: all of them in the long form, else one of them a row.
OTHERS = (
    ("check", "--fix", "."),
    ("check", "--diff", "--unsafe-fixes", "--hints", "."),
    ("workers", "."),
    ("explain", "x.py:1"),
    ("check", "--output-format=json", "."),
    ("check", "--output-format=sarif", "x.py"),
)
#: Rows of which the first size takes ten seconds.
SLOW = frozenset({"suppressions", "more-loaders-than-are-read", "more-branches-than-are-read"})
#: Rows whose sizes are seeds: there are as many as one likes.
SEEDED = {"program": scaled(40), "damage": scaled(40)}

Record = Callable[[str, object], None]


def _inputs() -> Iterator[pytest.param]:
    for number, row in enumerate(ROWS):
        sizes = range(SEEDED[row.name]) if row.name in SEEDED else row.sizes if is_long() else row.sizes[:1]
        for size in sizes:
            others = OTHERS if is_long() else (OTHERS[(number + size) % len(OTHERS)],)
            marks = [pytest.mark.xfail(strict=True, reason=KNOWN[row.name])] if row.name in KNOWN else []
            marks += [pytest.mark.slow] if row.name in SLOW else []
            yield pytest.param(row, size, (row.command, *others), id=f"{row.name}-{size}", marks=marks)


@pytest.mark.parametrize(("row", "size", "commands"), list(_inputs()))
def test_input_is_bounded(
    row: Hostile,
    size: int,
    commands: tuple[tuple[str, ...], ...],
    tmp_path: Path,
    runner: Runner,
    record_property: Record,
) -> None:
    folder = tmp_path / "project"
    try:
        write(row, folder, size)
        for number, command in enumerate(commands):
            texts = _texts(folder)
            ended = runner.run(folder, command, row.bound)
            assert not (wrong := ended.wrong(row.bound)), f"{row.name} of {size}, {' '.join(command)}: {wrong}"
            if number == 0:
                _assert_found(row, ended)
            if "--fix" in command:
                _assert_sound(texts, _texts(folder))
        record_property("inputs", 1)
        record_property("command lines", len(commands))
    finally:
        # Deep folders are too much for pytest's own cleaning.
        shutil.rmtree(tmp_path, ignore_errors=True)


def _assert_found(row: Hostile, ended: Ended) -> None:
    said = ended.stdout + ended.stderr
    assert row.says in said
    if row.finds:
        assert f"train.py:{_LINE}" in said and FINDING in said, f"the finding in train.py is lost\n{said[-3000:]}"


_LINE = 14


def _texts(folder: Path) -> dict[str, bytes]:
    """The regular Python files."""
    found = {}
    for path in folder.glob("*.py"):
        if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK):
            found[path.name] = path.read_bytes()
    return found


def _assert_sound(before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """A fix breaks no file: what Python could read it can still read."""
    assert before.keys() == after.keys()
    for name, data in after.items():
        if data != before[name] and _compiles(before[name]):
            assert _compiles(data), f"{name} is broken by its fix"


def _compiles(data: bytes) -> bool:
    try:
        compile(data, "x.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


# --- the limits themselves -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ended", "wrong"),
    [
        (Ended(0, False, 0.1, 1 << 20, "", ""), ""),
        (Ended(2, False, 0.1, 1 << 20, "", "loaderlint: no such file"), ""),
        (Ended(2, False, 0.1, 1 << 20, "", ""), "said nothing"),
        (Ended(-24, False, 11, 1 << 20, "", ""), "ended with -24"),
        (Ended(-9, True, 0.1, 1 << 20, "", ""), "hangs"),
        (Ended(1, False, 0.1, 1 << 20, "", "Traceback (most recent call last):"), "internal error"),
        (Ended(0, False, 12, 1 << 20, "", ""), "processor time"),
        (Ended(0, False, 1, 2 << 30, "", ""), "MiB"),
        (Ended(0, False, 1, 1 << 20, "x" * 101, ""), "characters"),
    ],
)
def test_what_is_out_of_bounds_is_seen(ended: Ended, wrong: str) -> None:
    said = ended.wrong(Bound(output=100))
    assert wrong in said and bool(said) == bool(wrong)


def test_rows_have_names_of_their_own() -> None:
    names = {row.name for row in ROWS}
    assert len(names) == len(ROWS) and names >= KNOWN.keys()
