"""What is known of a line, as Markdown for a hover. Pure functions; called on the worker's thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.lsp.backend import Workspace

if TYPE_CHECKING:
    from loaderlint.explanation import Explanation, Run, Subject
    from loaderlint.worker_map import MappedLoader

#: How many functions and objects are named before the others are counted.
_MAX_NAMED = 8


def about_line(workspace: Workspace, path: Path, line: int) -> str:
    """What a loader that is made on the line (0-based) does, or where the function whose name stands there runs; '' if
    neither is so."""
    known = workspace.explain(path, line)
    if known.loaders:
        return "\n\n---\n\n".join(_loader(loader) for loader in known.loaders[:2])
    return "\n\n".join(text for subject in known.subjects for text in _function(subject, known, workspace))


def _loader(loader: MappedLoader) -> str:
    idle = loader.starts_workers == "no"
    lines = [f"**`{loader.name}`** {loader.library}, {loader.workers}"]
    if not idle:
        lives = " and live on over the epochs" if loader.persistent else ""
        lines.append(f"Workers start by {' or '.join(loader.start_methods)} ({loader.start_source}){lives}.")
    if loader.late:
        lines.append(f"Which dataset it holds is out of sight: {loader.late}.")
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
    """Nothing for the lines inside of a function: a hover on each of them would be in the way."""
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
        text = f"- {process} any loader of it (none is in sight)"
    else:
        text = f"- {process} `{loader.name}` in {loader.place.path.name} ({loader.workers})"
    if len(run.chain) > 1:
        text += ": " + " > ".join(f"`{link.name}`" for link in run.chain)
    return f"{text}. Only possible: {run.doubt}" if run.doubt else text
