"""What the tool says of the programs, and what its own fixes make of them."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import multiprocessing
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from tests.truth import harness
from tests.truth.catalogue import Case

Found = list[dict[str, Any]]
Answer = TypeVar("Answer")


def command(folder: str, arguments: Sequence[str]) -> tuple[int, str]:
    """Run `loaderlint check` in `folder`, in this process: the exit code, and what it prints."""
    from loaderlint.cli import main

    os.chdir(folder)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = main(["check", *arguments, "."])
    return code, out.getvalue()


class Tool:
    """Runs `loaderlint check`, once for each program and question, ahead of the tests that ask.

    Every program is copied into `scratch`, where it is a project of its own."""

    def __init__(self, scratch: Path, cases: Iterable[Case]) -> None:
        self._scratch = scratch
        self._numbers = itertools.count()
        self._pool = ThreadPoolExecutor(max_workers=2)
        # An import of the tool takes as long as its work on a small program: these processes do it once.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["loaderlint.commands.check", "loaderlint.rules"])
        self._processes = ProcessPoolExecutor(max_workers=2, mp_context=context)
        self._found: dict[tuple[object, ...], Future[Found]] = {}
        self._fixed: dict[tuple[object, ...], Future[tuple[Path, Found]]] = {}
        for case in cases:
            self._ask(self._found, case, self._find)
            if case.fix:
                self._ask(self._fixed, case, self._fix)

    def __enter__(self) -> Tool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._processes.shutdown(cancel_futures=True)

    def found(self, case: Case) -> Found:
        """What the case's rule says of its program."""
        return self._ask(self._found, case, self._find).result()

    def fixed(self, case: Case) -> Path:
        """Where the case's program is after the tool's own fix. Not to be written to."""
        return self._ask(self._fixed, case, self._fix).result()[0]

    def left(self, case: Case) -> Found:
        """What the rule says of the fixed program."""
        return self._ask(self._fixed, case, self._fix).result()[1]

    def _ask(
        self, asked: dict[tuple[object, ...], Future[Answer]], case: Case, question: Callable[[Case], Answer]
    ) -> Future[Answer]:
        key = (case.folder, case.flags)
        if key not in asked:
            asked[key] = self._pool.submit(question, case)
        return asked[key]

    def _find(self, case: Case) -> Found:
        return self._said(self._copy(case), case, ())

    def _fix(self, case: Case) -> tuple[Path, Found]:
        folder = self._copy(case)
        unsafe = ("--unsafe-fixes",) if case.fix == "unsafe" else ()
        return folder, self._said(folder, case, ("--fix", *unsafe))

    def _said(self, folder: Path, case: Case, more: Sequence[str]) -> Found:
        arguments = ("--select", case.rule, "--output-format", "json", *more, *case.flags)
        code, out = self._processes.submit(command, str(folder), arguments).result()
        assert code in (0, 1), out
        found: Found = json.loads(out)
        return found

    def _copy(self, case: Case) -> Path:
        return harness.copied(case.folder, self._scratch / f"{next(self._numbers)}_{case.name}")
