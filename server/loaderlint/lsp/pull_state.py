"""What the client has pulled, text by text (a document, or a cell of a notebook), and when it is asked to pull again.

A client pulls by itself what it opens and edits. What such an edit changes elsewhere, in another file or in another
cell of the same notebook, it does not know: then the server sends `workspace/diagnostic/refresh`. A refresh makes the
client pull everything that it shows, so they are sent seldom.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lsprotocol import types

from loaderlint.lsp.documents import Snapshot
from loaderlint.lsp.protocol_diagnostics import Report, result_id

#: Seconds from one refresh to the next, at least.
APART = 1.0


@dataclass(frozen=True, slots=True)
class _Answer:
    """The diagnostics that were sent for one version of one opening of a text (see `Snapshot.serial`). Both are None
    where no version was looked at: such an answer is outdated by any finding."""

    serial: int | None
    version: int | None
    result_id: str

    def is_about(self, serial: int, version: int | None) -> bool:
        return self.serial in (None, serial) and (None in (self.version, version) or self.version == version)


class Pulled:
    """The last answer for each text, until the client is asked to pull again. Lives on the event loop.

    `shown` tells what is known now of the document with a URI, or of the notebook of a cell."""

    def __init__(self, shown: Callable[[str], Report | None], refresh: Callable[[], None]) -> None:
        self._shown = shown
        self._refresh = refresh
        self._answers: dict[str, _Answer] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._sent: float | None = None

    def answered(self, uri: str, snapshot: Snapshot, items: Sequence[types.Diagnostic]) -> str:
        """The client is sent these diagnostics of the text `uri`, a part of `snapshot`; their result id."""
        part = snapshot.part(uri)
        answer = _Answer(snapshot.serial, part.version if part else None, result_id(items))
        self._answers[uri] = answer
        return answer.result_id

    def answered_unknown(self, uri: str) -> None:
        """The client is sent no diagnostics, because the text is not open, or could not be looked at."""
        self._answers[uri] = _Answer(None, None, result_id(()))

    def forget(self, uris: Iterable[str]) -> None:
        """The client no longer shows these texts, or has just asked about them again."""
        for uri in uris:
            self._answers.pop(uri, None)

    def compare(self) -> None:
        """Ask the client to pull again if a text has other diagnostics now than it was sent for that very version; if
        it was asked a moment ago, look once more when that is over."""
        if self._timer is not None or not any(self._is_outdated(*known) for known in self._answers.items()):
            return
        loop = asyncio.get_running_loop()
        wait = 0.0 if self._sent is None else self._sent + APART - loop.time()
        if wait > 0:
            self._timer = loop.call_later(wait, self._compare_again)
            return
        self._sent = loop.time()
        self._answers.clear()
        self._refresh()

    def stop(self) -> None:
        """Send nothing more."""
        self._answers.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _compare_again(self) -> None:
        self._timer = None
        self.compare()

    def _is_outdated(self, uri: str, answer: _Answer) -> bool:
        report = self._shown(uri)
        if report is None:
            return False
        part = report.snapshot.part(uri)
        if not answer.is_about(report.snapshot.serial, part.version if part else None):
            return False  # the client asks by itself about what it has edited
        return result_id(report.shown_in(uri)) != answer.result_id
