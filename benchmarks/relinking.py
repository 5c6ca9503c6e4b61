"""Measures CPU time of a keystroke that changes the findings of another file: in a project of 200 files, a helper in
transforms.py is edited, and the findings of datasets.py, which is open too, change."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import projects
from benchmarks.measures import MILLISECONDS, Measure, Options, percentile
from loaderlint.engine import Workspace

#: What the helper returns, and what is typed there: `images[index]` is stored data, which datasets.py changes in place;
#: an undefined name is not.
_RETURNED = "return images[index]"
_STATES = ("return image[index]", "return images[index]", "return images2[index]", "return images[index]")
_KEYS, _SOME_KEYS = 200, 20


def run(options: Options) -> Iterator[Measure]:
    """One value per round, for keystrokes that change findings, and for all of them."""
    changing: list[float] = []
    every: list[float] = []
    shares: list[float] = []
    for _ in range(options.rounds):
        times = _round(_SOME_KEYS if options.quick else _KEYS)
        changed = [spent for spent, changes in times if changes]
        changing.append(percentile(changed, 95))
        every.append(percentile([spent for spent, _ in times], 95))
        shares.append(len(changed) / len(times))
    yield Measure("p95, findings of the other file change", "ms", tuple(changing))
    yield Measure("p95, all keystrokes", "ms", tuple(every))
    yield Measure("keystrokes that change the other file's findings", "", tuple(shares))


def _round(keys: int) -> list[tuple[float, bool]]:
    """The milliseconds of each keystroke, and whether it changed the findings of datasets.py."""
    with tempfile.TemporaryDirectory() as folder:
        root = projects.of_many_files(Path(folder).resolve())
        edited, other = root / "transforms.py", root / "datasets.py"
        workspace = Workspace([root])
        for path in (edited, other):
            workspace.set_text(path, path.read_text(encoding="utf-8"))
        before = len(workspace.check()[other])
        times: list[tuple[float, bool]] = []
        for state in states(keys):
            start = time.process_time()
            workspace.set_text(edited, state)
            now = len(workspace.check([edited, other])[other])
            times.append(((time.process_time() - start) * MILLISECONDS, now != before))
            before = now
        return times


def states(keys: int) -> Iterator[str]:
    """The texts of transforms.py, one per keystroke."""
    for number in range(keys):
        yield projects.TRANSFORMS.replace(_RETURNED, _STATES[number % len(_STATES)])
