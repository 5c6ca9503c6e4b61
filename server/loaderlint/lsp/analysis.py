"""Decides when the engine checks the documents, and which of its answers are used. Runs on the event loop.

Every change (an edit, a file on disk, the settings) is noted, and a job is planned a moment later, so a burst of
changes causes one job. The job first passes all noted changes to the engine. If the engine then has to link a project
again, it says so, and is not asked again until the typing pauses. A linking that has begun runs to its end, although
its answer will be about an old text: work that restarted with every keystroke would never end while a user types. A
change of settings stops it, and so does an edit if the engine can answer something before the end (see below).

A document that has not been checked yet shows the findings of the last answer that still apply (`document_state`): at
once if a job is running, otherwise if none starts within a moment. The findings of exactly the present version replace
them, and only these are ever fixed. When several projects are checked for the first time, the findings of each are
shown as soon as it is done.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from loaderlint.lsp.async_engine import AsyncEngine
from loaderlint.lsp.document_state import DocumentState
from loaderlint.lsp.documents import Document, Notebook
from loaderlint.lsp.engine_jobs import Answer, Job, Setup
from loaderlint.lsp.notices import Notices
from loaderlint.lsp.protocol_diagnostics import Report
from loaderlint.lsp.shown_documents import ShownDocuments
from loaderlint.lsp.signals import Signal
from loaderlint.lsp.typing_pauses import Typing
from loaderlint.runtime.internal_errors import Postponed

logger = logging.getLogger(__name__)

#: Seconds from a change to its job, and the longest time for which further changes can delay it. Within a word, the
#: next keystroke comes sooner.
AT_ONCE, EDITED, ON_DISK, LONGEST = 0.0, 0.02, 0.2, 1.0
#: Seconds until the engine is asked again after its process has ended, one number for each attempt.
AGAIN = (0.1, 0.5, 2.0)
#: Seconds from a change until the findings of the last answer that still apply are shown. Most new answers come sooner.
STANDING = 0.05


class Analysis:
    """Plans the jobs of the engine and passes their findings on to the shown documents.

    `announce` is called when a document may have become settled or unsettled, `linked` when a project was linked again,
    `checked` when a job is done: with its answer, the seconds that it took, and whether a project was linked again."""

    def __init__(
        self,
        shown: ShownDocuments,
        engine: AsyncEngine,
        notices: Notices,
        *,
        linked: Callable[[], None],
        announce: Callable[[Document | Notebook, bool], None],
        checked: Callable[[Job, Answer, float, bool], None],
    ) -> None:
        self.begun = asyncio.Event()
        """Set when the settings are known and the first check is done."""
        self.news = Signal()
        """Sent when something was checked again, or when files that are not open may have new findings."""
        self._shown = shown
        self._engine = engine
        self._notices = notices
        self._linked = linked
        self._announce = announce
        self._checked = checked
        self._links = 0
        self._tries = 0
        self._setup: Setup | None = None
        self._edited: set[Path] = set()
        self._gone: set[Path] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._showing: asyncio.TimerHandle | None = None
        self._waiting_since: float | None = None
        self._planned = False
        self._typing = Typing()
        #: Seconds that the last linking took, while the next one waits for a pause in the typing.
        self._postponed: float | None = None
        self._job: Job | None = None
        self._settled = asyncio.Event()
        self._settled.set()
        self._closed = False

    # --- what changed -------------------------------------------------------------------------------------------------

    def configure(self, setup: Setup) -> None:
        """Use this setup from now on. Nothing is analysed before the first call, because the user's settings are not
        known yet."""
        if setup == self._setup:
            return
        self._setup = setup
        self._postponed = None
        self._notices.renew()
        self._stop_job()
        self._plan(AT_ONCE)

    def opened(self, document: Document | Notebook) -> None:
        """The document was opened, perhaps again."""
        self._shown.opened(document)
        if document.analysed:
            self._note(document, AT_ONCE)
        else:
            self._announce(document, True)

    def changed(self, document: Document | Notebook) -> None:
        """The document was edited."""
        if not document.analysed:
            return
        if self._shown.has_early:
            self._stop_job()
        self._shown.edited(document)
        self._typing.note(asyncio.get_running_loop().time())
        delay = max(EDITED, self._typing.next_key)
        self._note(document, delay)
        if self._job is not None or self._postponed is not None or delay >= STANDING:
            self._show_all()

    def closed(self, document: Document | Notebook) -> None:
        """The document is no longer open: from now on the file on disk counts, and nothing is shown for it."""
        self._shown.closed(document)
        if document.analysed:
            self._note(document, EDITED)

    def _note(self, document: Document | Notebook, delay: float) -> None:
        if document.path is not None:
            self._edited.add(document.path)
            self._plan(delay)

    def touched(self, paths: Iterable[Path]) -> None:
        """Files or folders (absolute) were created, changed, deleted or renamed on disk."""
        before = len(self._gone)
        self._gone.update(paths)
        if len(self._gone) > before:
            self._plan(ON_DISK)

    # --- waiting for the analysis -------------------------------------------------------------------------------------

    @property
    def is_settled(self) -> bool:
        """Whether everything that is known has been checked."""
        return self._settled.is_set()

    async def settled(self) -> None:
        """Wait until everything that is known has been checked, without the delay after an edit."""
        while not self._settled.is_set():
            self._hurry()
            await self._settled.wait()

    async def settles_within(self, seconds: float) -> bool:
        """Wait at most `seconds` for the analysis. Returns whether everything that is known has been checked."""
        if not self.is_settled:
            waiting = asyncio.ensure_future(self.settled())
            await asyncio.wait([waiting], timeout=seconds)
            waiting.cancel()
        return self.is_settled

    async def looked_at(self, state: DocumentState) -> Report | None:
        """Wait for the findings in the current text of the document, or for an early or stale report. None if there is
        no report when the analysis is complete."""
        while not self._settled.is_set():
            if (report := state.meanwhile) is not None:
                return report
            self._hurry()
            await self._shown.news.wait()
        return state.shown

    async def settled_report(self, uri: str) -> Report | None:
        """Wait until the analysis is complete, and return the findings in the current text of the document, or of the
        notebook of a cell. None if it is not analysed, or was edited meanwhile."""
        state = self._shown.state(uri)
        if state is None or not state.document.analysed:
            return None
        at = state.document.at
        await self.settled()
        return state.found if state.document.at == at else None

    async def load(self) -> None:
        """Load the engine now, so that the first job need not wait for it."""
        try:
            await self._engine.load()
        except Exception as error:
            self._notices.not_loaded(error)

    def stop(self) -> None:
        """Stop the running job and plan no others."""
        self._closed = True
        self._cancel_timer()
        self._cancel_showing()
        self._stop_job()
        self._engine.stop_asides()
        self._settled.set()
        self._shown.stop()

    # --- jobs ---------------------------------------------------------------------------------------------------------

    def _plan(self, delay: float) -> None:
        if self._closed:
            return
        if self._settled.is_set():
            self._settled.clear()
            self._announce_all(settled=False)
        self._engine.stop_asides()
        self._cancel_timer()
        loop = asyncio.get_running_loop()
        if self._waiting_since is None:
            self._waiting_since = loop.time()
        latest = self._waiting_since + LONGEST - loop.time()
        self._timer = loop.call_later(max(AT_ONCE, min(delay, latest), self._pause_left()), self._begin)
        if self._showing is None:
            self._showing = loop.call_later(STANDING, self._show_all)

    def _pause_left(self) -> float:
        """The remaining seconds of the pause that the next linking waits for."""
        return 0.0 if self._postponed is None else self._pause_left_after(self._postponed)

    def _pause_left_after(self, took: float) -> float:
        return self._typing.left(asyncio.get_running_loop().time(), took)

    def _hurry(self) -> None:
        """Start the planned job now, because a caller waits, unless it waits for a pause in the typing."""
        if self._timer is not None and self._postponed is None:
            self._plan(AT_ONCE)

    def _stop_job(self) -> None:
        """Stop the running job: its answer would be useless."""
        if self._job is not None:
            self._job.stopped.set()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cancel_showing(self) -> None:
        if self._showing is not None:
            self._showing.cancel()
            self._showing = None

    def _begin(self) -> None:
        self._timer = None
        if self._setup is None or self._closed:
            return  # `configure` plans again
        if self._job is not None:
            self._planned = True  # the end of the running job begins the next one
            return
        self._planned = False
        self._waiting_since = None
        job, loop = self._next_job(self._setup), asyncio.get_running_loop()
        self._job = job

        def early(answer: Answer) -> None:
            loop.call_soon_threadsafe(self._take_early, job, answer)

        done = partial(self._end, job, loop.time())
        self._engine.perform(job, early).add_done_callback(done)

    def _next_job(self, setup: Setup) -> Job:
        snapshots = self._shown.noted()
        current = self._shown.of_files(snapshots)
        # Texts are joined here and not at each edit: while a user types, most versions are never analysed.
        texts = {path: current[path].text if path in current else None for path in self._edited}
        typing = self._pause_left_after(math.inf if self._postponed is None else self._postponed) > 0
        told = tuple(current.values())
        job = Job(setup, texts, frozenset(self._gone), snapshots, told, self._shown.client, typing)
        self._edited.clear()
        self._gone.clear()
        return job

    def _end(self, job: Job, began: float, future: asyncio.Future[Answer | None]) -> None:
        self._job = None
        self._shown.end_early()
        if self._closed:
            return
        answer: Answer | None = None
        self._postponed = None
        try:
            answer = future.result()
        except Postponed as postponed:
            self._postpone(postponed.took)
        except OSError as error:  # the engine's process has ended, or cannot be started
            self._ask_again(error)
        except Exception as error:
            self._notices.failed(error)
        if answer is not None:
            self._tries = 0
            self._checked(job, answer, asyncio.get_running_loop().time() - began, answer.links != self._links)
            self._take(answer)
        if self._planned:
            self._begin()
        elif self._timer is None:
            self._settle()

    def _postpone(self, took: float) -> None:
        """Ask the engine again after a pause in the typing: it has to link code, which last took `took` seconds."""
        self._postponed = took
        self._planned = False
        self._plan(AT_ONCE)
        self._show_all()

    def _settle(self) -> None:
        """Complete the analysis: everything that is known has been analysed, or cannot be."""
        self._settled.set()
        self._cancel_showing()
        self._shown.settle()
        self._announce_all(settled=True)

    def _ask_again(self, error: OSError) -> None:
        """Ask again in a moment, a few times. After that, tell the user that the next edit tries again."""
        if self._tries < len(AGAIN):
            logger.warning("%s; asking again", error)
            self._plan(AGAIN[self._tries])
            self._tries += 1
            return
        self._tries = 0
        self._notices.gone(error)

    def _take_early(self, job: Job, answer: Answer) -> None:
        if job is not self._job or job.stopped.is_set():
            return
        if self._timer is not None or self._planned:
            job.stopped.set()  # the next job looks at the newer text
            return
        self._shown.take_early(answer.reports)

    def _take(self, answer: Answer) -> None:
        self._shown.take(answer.reports, answer.failed)
        if answer.links != self._links:
            self._links = answer.links
            self._linked()
        self.begun.set()
        self.news.send()
        if answer.failed:
            self._notices.incomplete()
        self._notices.problems(answer.problems)

    def _show_all(self) -> None:
        """Show what is known so far, because a new answer will take a while."""
        self._cancel_showing()
        if not self._settled.is_set():
            self._shown.show(self._shown)

    def _announce_all(self, *, settled: bool) -> None:
        for state in self._shown:
            self._announce(state.document, settled)
