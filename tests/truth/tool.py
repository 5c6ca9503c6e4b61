"""What the tool says of the programs, and what its own fixes make of them."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import multiprocessing
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.truth import harness
from tests.truth.catalogue import Case

Found = list[dict[str, Any]]


def found(case: Case, folder: Path) -> Found:
    """What the case's rule says of its program, which is in `folder`."""
    return _check(case, folder)


def fix(case: Case, folder: Path) -> Found:
    """Apply the case's fix to the program in `folder`; what the rule says of it afterwards."""
    return _check(case, folder, "--fix", *(("--unsafe-fixes",) if case.fix == "unsafe" else ()))


def _check(case: Case, folder: Path, *more: str) -> Found:
    from loaderlint.cli import main

    out = io.StringIO()
    with _inside(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = main(["check", "--select", case.rule, "--output-format", "json", *more, *case.flags, "."])
    assert code in (0, 1), out.getvalue()
    said: Found = json.loads(out.getvalue())
    return said


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Have `folder` be the current one, and with it the whole project."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


class FixedPrograms:
    """The programs after the tool's own fix, each made when it is asked for the first time, by any thread."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        # A process has one current folder; importing the tool takes as long as its work on a small program.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["loaderlint.commands.check", "loaderlint.rules"])
        self._processes = ProcessPoolExecutor(max_workers=2, mp_context=context)
        self._fixed: dict[tuple[Path, Sequence[str]], tuple[Path, Future[Found]]] = {}

    def __enter__(self) -> FixedPrograms:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._processes.shutdown(cancel_futures=True)

    def folder(self, case: Case) -> Path:
        """Where the case's program is after the fix. Not to be written to."""
        key = (case.folder, case.flags)
        with self._lock:
            if key not in self._fixed:
                copy = harness.copied(case.folder, self._scratch / f"{next(self._numbers)}_{case.name}")
                self._fixed[key] = copy, self._processes.submit(fix, case, copy)
            folder, fixing = self._fixed[key]
        fixing.result()
        return folder
