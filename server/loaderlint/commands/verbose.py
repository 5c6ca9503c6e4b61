"""The output of `check --verbose`: the files that were read, the settings and versions that apply to them and why, the
limits that were reached, and the time of each phase."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.commands.outcome import problem_line
from loaderlint.report import shown_path, terminal

if TYPE_CHECKING:
    from loaderlint.engine import Workspace


def lines(workspace: Workspace, checked: Iterable[Path], spent: Mapping[str, float]) -> Iterator[str]:
    """The lines about a check of these files. `spent`: the seconds of each phase."""
    for project, _ in workspace.answered():
        paths = project.store.paths()
        yield f"Read {terminal.files(len(paths))} in {project.root}:"
        yield from (f"  {_shown(path)}" for path in paths)
    yield from _facts(workspace, sorted({path.parent for path in checked}))
    limits = [problem for problem in workspace.problems if problem.is_limit]
    if limits:
        yield "Limits that were reached:"
        yield from (f"  {problem_line(problem)}" for problem in limits)
    yield f"Time: {sum(spent.values()):.2f} s"
    yield from (f"  {seconds:.2f} s {name}" for name, seconds in spent.items())


def _facts(workspace: Workspace, folders: Iterable[Path]) -> Iterator[str]:
    """The settings and versions that apply in these folders; folders with the same ones are listed together."""
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Path]] = {}
    for folder in folders:
        file = folder / "any.py"
        alike.setdefault((workspace.settings(file).told(), workspace.environment(file)), []).append(folder)
    for (settings, runs_on), known in alike.items():
        yield f"In {', '.join(map(_shown, known))}:"
        yield "  settings:"
        yield from (f"    {line}" for line in settings or ("the defaults",))
        yield "  runs on:"
        yield from (f"    {line}" for line in runs_on)


def _shown(path: Path) -> str:
    return shown_path(path, Path.cwd())
