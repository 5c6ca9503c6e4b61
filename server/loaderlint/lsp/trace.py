"""`$/setTrace` and `$/logTrace`: the log of what the server does, for clients that ask for it.

With 'messages' the server writes one line for each check: how many documents it was about, and how long it took. With
'verbose' it adds which files were edited or changed on disk, and whether the project was linked again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from loaderlint.lsp.engine_jobs import Answer, Job

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server


def begin(ls: Server, params: types.InitializeParams) -> None:
    """Trace from the start, as the client asks in `initialize`."""
    ls.protocol.trace = params.trace or types.TraceValue.Off


def checked(ls: Server, job: Job, answer: Answer, seconds: float, linked: bool) -> None:
    """Write into the client's trace that a job is done, `seconds` after it began. `linked`: the project was linked
    again."""
    if ls.protocol.trace == types.TraceValue.Off:
        return
    count = len(answer.reports)
    documents = "1 document" if count == 1 else f"{count} documents"
    details = None
    if ls.protocol.trace == types.TraceValue.Verbose:
        lines = [f"edited: {path}" for path in sorted(job.texts)]
        lines += [f"changed on disk: {path}" for path in sorted(job.gone)]
        details = "\n".join([*lines, "linked again" if linked else "not linked again"])
    ls.log_trace(types.LogTraceParams(f"checked {documents} in {seconds * 1000:.0f} ms", details))
