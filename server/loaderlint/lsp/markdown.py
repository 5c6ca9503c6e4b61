"""Texts about a line, as Markdown for a hover, and about loaders, for lenses. Pure functions, called in the engine's
process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.lsp.backend import Workspace
from loaderlint.lsp.text_formats import with_code

if TYPE_CHECKING:
    from loaderlint.explanations.explanation import Explanation, Run, Subject
    from loaderlint.explanations.worker_map import MappedLoader
    from loaderlint.syntax.span import Span

#: The maximum number of functions and objects that are named; the rest is counted.
_MAX_NAMED = 8


def about_line(workspace: Workspace, path: Path, line: int) -> str:
    """What the loader created on this line (0-based) does, or where the function named there runs; '' if there is
    neither, or the file cannot be read."""
    if workspace.unreadable(path):
        return ""
    known = workspace.explain(path, line)
    if known.loaders:
        return "\n\n---\n\n".join(_loader(loader) for loader in known.loaders[:2])
    return "\n\n".join(text for subject in known.subjects for text in _function(subject, known, workspace))


def _loader(loader: MappedLoader) -> str:
    idle = loader.starts_workers == "no"
    lines = [f"**{with_code(loader.called)}** {loader.library}, {loader.workers}"]
    if not idle:
        lives = " and persist across epochs" if loader.persistent else ""
        lines.append(f"Workers start by {' or '.join(loader.start_methods)} ({loader.start_source}){lives}.")
    if loader.late:
        lines.append(f"Its dataset is not known: {loader.late}.")
    where = "the main process" if idle else "its workers"
    functions = list(dict.fromkeys(f"`{one.name}`" for one in loader.functions))
    if functions:
        lines.append(f"Runs in {where}: {_named(functions)}.")
    copied = [f"`{one.owner}.{one.name}` ({one.value})" for one in loader.objects if not one.plain]
    if copied and not idle:
        lines.append(f"Copied into each worker: {_named(copied)}.")
    return "\n\n".join(lines)


def _named(items: Sequence[str]) -> str:
    rest = len(items) - _MAX_NAMED
    return ", ".join(items[:_MAX_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _function(subject: Subject, known: Explanation, workspace: Workspace) -> Iterator[str]:
    """Where a function runs. Nothing for the lines inside it: a hover on each of them would be in the way."""
    told = subject.told
    if told is None or not told.runs:
        return
    name = workspace.locate(told.runs[0].chain[-1].place)
    if name is None or name.line != known.line:
        return
    lines = [_run(run, known) for run in told.runs]
    if told.others:
        lines.append(f"- and {told.others} other loader{'s' if told.others > 1 else ''}")
    yield "\n".join([f"**`{subject.standing.name}`** runs", *lines])


def _run(run: Run, known: Explanation) -> str:
    loader = known.map.loaders[run.loader]
    process = "in the main process for" if loader.starts_workers == "no" else "in the workers of"
    if loader.place is None:
        text = f"- {process} any loader of it (none is known)"
    else:
        text = f"- {process} {with_code(loader.described)} ({loader.workers})"
    if len(run.chain) > 1:
        text += ": " + " > ".join(f"`{link.name}`" for link in run.chain)
    return f"{text}. Only possible: {run.doubt}" if run.doubt else text


# --- texts ------------------------------------------------------------------------------------------------------------


def explanation(
    workspace: Workspace, path: Path, line: int, cells: Mapping[Path, tuple[int, ...]], base: Path | None
) -> list[str]:
    """The explanation of a line (from 0), as `loaderlint explain` prints it: first 'train.py:12: x = f()'. `cells`: the
    lines at which cells of open notebooks begin; `base`: the folder that paths are relative to."""
    from loaderlint.report import explanation_report, shown_path
    from loaderlint.report.locations import Spots

    base = base or Path("/")
    if reason := workspace.unreadable(path):
        return [f"{shown_path(path, base)}: {reason}"]
    return list(explanation_report.text(workspace.explain(path, line), Spots(workspace, base, cells)))


def map_of_workers(
    workspace: Workspace, path: Path | None, cells: Mapping[Path, tuple[int, ...]], base: Path | None
) -> list[str]:
    """The worker map of a file or of the workspace, as `loaderlint workers` prints it."""
    from loaderlint.report import worker_map_report
    from loaderlint.report.locations import Spots

    known = workspace.worker_map([path] if path else None)
    return list(worker_map_report.text(known, Spots(workspace, base or Path("/"), cells), whole=True))


# --- lenses -----------------------------------------------------------------------------------------------------------


def titles(workspace: Workspace, path: Path) -> list[tuple[Span, str]]:
    """The places of the loaders in a file, each with its text."""
    places: dict[Span, list[MappedLoader]] = {}
    for loader in workspace.worker_map([path]).loaders:
        span = workspace.locate(loader.place) if loader.place is not None else None
        if span is not None:
            places.setdefault(span, []).append(loader)
    return [(span, title(loaders)) for span, loaders in places.items()]


def title(loaders: Sequence[MappedLoader]) -> str:
    """'num_workers=4: 9 functions run in its workers, 6 objects are copied into each'. If a call creates several
    loaders (it is in a function with several callers), the text is that of a loader with workers."""
    order = {"yes": 0, "maybe": 1, "no": 2}
    loader = min(loaders, key=lambda one: (order[one.starts_workers], -len(one.functions)))
    ways = f" ({len(loaders)} ways to get here)" if len(loaders) > 1 else ""
    functions = _count({one.name for one in loader.functions}, "function")
    if loader.starts_workers == "no":
        return f"{loader.workers}: {functions} in the main process{ways}"
    copied = _count([one for one in loader.objects if not one.plain], "object")
    return f"{loader.workers}: {functions} in its workers, {copied} copied into each{ways}"


def _count(things: Iterable[object], word: str) -> str:
    number = len(list(things))
    return f"{number} {word}{'' if number == 1 else 's'}"
