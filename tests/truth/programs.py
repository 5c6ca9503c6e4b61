"""The programs, run ahead of the tests that ask, a few at a time, each forked from a process that has PyTorch."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.truth import harness
from tests.truth.catalogue import Case, Run
from tests.truth.harness import Zygote
from tests.truth.tool import FixedPrograms
from tests.truth.verdicts import Phase

Asked = tuple[Case, Run, Phase]
#: Programs that run at one time: some of them only wait until it is sure that they hang.
AT_ONCE = 3
#: Modules that take longer to import than their programs to run. What needs one is forked from a process that has it.
SLOW = frozenset({"albumentations", "monai"})


class Programs:
    """Runs programs before and after the tool's fix. `scratch`: where they are copied to."""

    def __init__(self, scratch: Path, fixed: FixedPrograms, asked: Iterable[Asked]) -> None:
        self._scratch = scratch
        self._fixed = fixed
        self._numbers = itertools.count()
        self._all: list[Zygote] = []
        self._idle: defaultdict[tuple[str, ...], list[Zygote]] = defaultdict(list)
        self._turns = threading.Semaphore(AT_ONCE)
        self._pool = ThreadPoolExecutor(max_workers=AT_ONCE)
        self._answers: dict[tuple[Path, tuple[str, ...], str, Phase], Future[frozenset[str]]] = {}
        for case, run, phase in asked:
            if harness.lacking(case.modules) is None:
                self._ask(case, run, phase)

    def __enter__(self) -> Programs:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._pool.shutdown(cancel_futures=True)
        for zygote in self._all:
            zygote.close()

    def symptoms(self, case: Case, run: Run, phase: Phase) -> frozenset[str]:
        """What is seen of a program. Raises AssertionError if it fails in a way that is no symptom."""
        return self._ask(case, run, phase).result()

    def measure(
        self,
        folder: Path,
        oracle: str,
        loader: Mapping[str, Any],
        arguments: Mapping[str, Any],
        timeout: float = harness.PATIENCE,
        module: str = "train",
        needs: Iterable[str] = (),
    ) -> dict[str, Any]:
        """`Zygote.measure` in one that is idle. `needs`: what the program imports beside `harness.NEEDED`."""
        imported = tuple(name for name in needs if name in SLOW)
        with self._turns:
            zygote = self._idle_zygote(imported)
            try:
                return zygote.measure(folder, oracle, loader, arguments, timeout, module)
            finally:
                self._idle[imported].append(zygote)

    def _idle_zygote(self, imported: tuple[str, ...]) -> Zygote:
        """One that has imported these modules, started if there is none."""
        with contextlib.suppress(IndexError):
            return self._idle[imported].pop()
        zygote = Zygote(imported)
        self._all.append(zygote)
        return zygote

    def _ask(self, case: Case, run: Run, phase: Phase) -> Future[frozenset[str]]:
        key = (case.folder, case.flags, run.name, phase)
        if key not in self._answers:
            self._answers[key] = self._pool.submit(self._run, case, run, phase)
        return self._answers[key]

    def _run(self, case: Case, run: Run, phase: Phase) -> frozenset[str]:
        program = self._fixed.folder(case) if phase == "after" else case.folder
        folder = harness.copied(program, self._scratch / f"{next(self._numbers)}_{case.name}")
        more = case.after if phase == "after" else {}
        arguments = {**case.common, **more, **run.arguments}
        timeout = run.timeout if phase == "before" else harness.PATIENCE
        return harness.symptoms(self.measure(folder, case.oracle, run.loader, arguments, timeout, needs=case.modules))
