"""When the engine looks at what, and which of its answers may be shown. Lives on the event loop.

Every change (an edit, a file on disk, the settings) is noted and a job is planned a moment later, so that a burst of
changes makes one job. It begins by telling the engine all that was noted. Where the engine has to link a project again,
it waits for a pause in the typing first, and an edit in that pause ends the job. Once it links, it goes on to its end,
though its answer will be about a text that is gone: one that began again with every key would not end while somebody
types. Other settings do stop it, and so does an edit of which the engine can say something before the end (see below).

What is shown of a document that is not looked at yet is what stands in it of the last answer (`standing`): at once if a
job is at hand, else if none comes in a moment. What was found in exactly the present version takes its place, and only
that is ever repaired. While a project is looked at for the first time, what is certain of a file without its project is
shown early, and replaced in the end.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from lsprotocol import types

from loaderlint import HOME
from loaderlint.lsp.backend import Backend, Workspace
from loaderlint.lsp.client_capabilities import Client
from loaderlint.lsp.documents import Document, Documents, Notebook, Snapshot
from loaderlint.lsp.engine_jobs import Answer, Engine, Job, Setup
from loaderlint.lsp.engine_thread import Worker
from loaderlint.lsp.protocol_diagnostics import Report, cleared
from loaderlint.lsp.pull_state import Pulled
from loaderlint.lsp.stale_diagnostics import History, standing

logger = logging.getLogger(__name__)

#: Seconds from a change to the job that looks at it, and the longest that further changes can put it off.
AT_ONCE, EDITED, ON_DISK, LONGEST = 0.0, 0.02, 0.2, 1.0
#: Seconds until the engine is asked once more after its process has ended, one number a try.
AGAIN = (0.1, 0.5, 2.0)
#: Seconds from a change until what stands of the last answer is shown, if no new one has come. Most come before.
STANDING = 0.05

_INTERNAL = (
    "loaderlint: an internal error kept some code from being checked. The last findings stay, and the next edit tries"
    f" again. Please report it with what the server's log says: {HOME}"
)
#: What people can do in every editor when the engine does not come back.
RESTART = "restart the server (VS Code: 'loaderlint: Restart Server')"

_Result = TypeVar("_Result")


class Analysis:
    """Plans jobs and keeps the last report of every open document."""

    def __init__(
        self,
        documents: Documents,
        worker: Worker,
        load: Callable[[], Backend],
        *,
        publish: Callable[[types.PublishDiagnosticsParams], None],
        refresh: Callable[[], None] = lambda: None,
        refresh_lenses: Callable[[], None] = lambda: None,
        announce: Callable[[Document | Notebook, bool], None] = lambda document, settled: None,
        say: Callable[[str], None] = lambda message: None,
        alert: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.client = Client()
        self.pages: Mapping[str, str] = {}
        self.pulled = Pulled(self.shown, refresh)
        self._documents = documents
        self._worker = worker
        self._engine = Engine(load)
        self._publish = publish
        self._refresh_lenses = refresh_lenses
        self._links = 0
        self._announce = announce
        self._say = say
        self._alert = alert
        self._reports: dict[str, Report] = {}
        self._early: dict[str, Report] = {}
        self._standing: dict[str, Report] = {}
        self._histories: dict[str, History] = {}
        self._showing: asyncio.TimerHandle | None = None
        self._looked = asyncio.Event()
        self._published: dict[str, dict[str, types.PublishDiagnosticsParams]] = {}
        self._begun = asyncio.Event()
        self._news = asyncio.Event()
        self._asides: set[threading.Event] = set()
        self._said: set[str] = set()
        self._tries = 0
        self._setup: Setup | None = None
        self._edited: set[Path] = set()
        #: The URI under which each file was opened or edited last.
        self._latest: dict[Path, str] = {}
        self._gone: set[Path] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._waiting_since: float | None = None
        self._planned = False
        self._job: Job | None = None
        self._settled = asyncio.Event()
        self._settled.set()
        self._closed = False

    # --- what changed -------------------------------------------------------------------------------------------------

    def configure(self, setup: Setup) -> None:
        """Work with this setup from now on. Until the first call nothing is analysed: the answers would come from
        settings that are not the user's."""
        if setup == self._setup:
            return
        self._setup = setup
        self._said.clear()
        self._stop_job()
        self._plan(AT_ONCE)

    def opened(self, document: Document | Notebook) -> None:
        """The document was opened, perhaps once more."""
        self._forget(document)
        if document.analysed:
            self._note(document, AT_ONCE)
        else:
            self._announce(document, True)

    def changed(self, document: Document | Notebook) -> None:
        """The document was edited."""
        if not document.analysed:
            return
        if self._early:
            self._stop_job()
        self._note(document, EDITED)
        if self._job is not None:
            self._job.edited.set()
            self._show(document)

    def closed(self, document: Document | Notebook) -> None:
        """The document is no longer open: the file on disk counts, and nothing is shown for it."""
        self._forget(document)
        self.pulled.forget(document.uris)
        for uri in self._published.pop(document.uri, ()):
            self._publish(cleared(uri))
        if document.analysed:
            self._note(document, EDITED)
        if document.path is not None:
            self._latest.pop(document.path, None)

    def _forget(self, document: Document | Notebook) -> None:
        for known in (self._reports, self._early, self._standing):
            known.pop(document.uri, None)
        self._histories.pop(document.uri, None)

    def _note(self, document: Document | Notebook, delay: float) -> None:
        if document.path is not None:
            self._edited.add(document.path)
            self._latest[document.path] = document.uri
            self._plan(delay)

    def touched(self, paths: Iterable[Path]) -> None:
        """Files or folders (absolute) were created, changed, deleted or renamed on disk."""
        before = len(self._gone)
        self._gone.update(paths)
        if len(self._gone) > before:
            self._plan(ON_DISK)

    # --- what is known ------------------------------------------------------------------------------------------------

    @property
    def is_settled(self) -> bool:
        """Whether everything that is known has been looked at."""
        return self._settled.is_set()

    async def settled(self) -> None:
        """Wait until everything that is known has been looked at; the delay after an edit is cut short."""
        while not self._settled.is_set():
            if self._timer is not None:
                self._plan(AT_ONCE)
            await self._settled.wait()

    async def settles_within(self, seconds: float) -> bool:
        """Whether everything that is known has been looked at, or is within some seconds."""
        if not self.is_settled:
            waiting = asyncio.ensure_future(self.settled())
            await asyncio.wait([waiting], timeout=seconds)
            waiting.cancel()
        return self.is_settled

    def report(self, document: Document | Notebook) -> Report | None:
        """What was found in this very version of the document; None if it was not looked at (yet)."""
        for known in (self._reports, self._early):
            report = known.get(document.uri)
            if report is not None and document.at == report.snapshot.at:
                return report
        return None

    async def looked_at(self, document: Document | Notebook) -> Report | None:
        """What was found in the document as it is now, or what can be said of it by now; waits for either. None if
        nothing is known of it in the end."""
        while not self._settled.is_set():
            for known in (self._standing, self._early):
                report = known.get(document.uri)
                if report is not None and document.at == report.snapshot.at:
                    return report
            if self._timer is not None:
                self._plan(AT_ONCE)
            await self._looked.wait()
        return self.report(document) or self._still_standing(document)

    def _still_standing(self, document: Document | Notebook) -> Report | None:
        """What stands in the document where it could not be looked at."""
        known = self._standing.get(document.uri)
        return known if known is not None and document.at == known.snapshot.at else None

    async def settled_report(self, uri: str) -> Report | None:
        """What was found in the document, or in the notebook of a cell, as it is now; waits until all is settled. None
        if it is not analysed, or edited meanwhile."""
        document = self._documents.get(uri)
        if document is None or not document.analysed:
            return None
        at = document.at
        await self.settled()
        return self.report(document) if document.at == at else None

    def shown(self, uri: str) -> Report | None:
        """What is shown now of the document, or of the notebook of a cell, in its present version; None if nothing is
        known of that yet."""
        document = self._documents.get(uri)
        if document is None:
            return None
        standing = self._standing.get(document.uri)
        if standing is not None and document.at == standing.snapshot.at:
            return standing
        return self.report(document)

    async def begun(self) -> None:
        """Wait until the settings are known and something was looked at for the first time."""
        await self._begun.wait()

    async def news(self) -> None:
        """Wait until something was looked at again, or `announce_news` says that there is something new."""
        await self._news.wait()

    def announce_news(self) -> None:
        """Wake who waits for `news`."""
        self._news.set()
        self._news = asyncio.Event()

    def snapshots(self, preferred: Snapshot | None = None) -> tuple[Snapshot, ...]:
        """The open documents that are analysed, as they are now: one for each file. A file that is open under several
        URIs (through a linked folder) is what was edited last, which the engine is told; or `preferred`, if that is the
        very same text."""
        found = self._of_files(self._all_snapshots())
        if preferred is not None and preferred.path in found and found[preferred.path].lines == preferred.lines:
            found[preferred.path] = preferred
        return tuple(found.values())

    def _all_snapshots(self) -> tuple[Snapshot, ...]:
        return tuple(document.snapshot() for document in self._documents if document.analysed)

    def _of_files(self, snapshots: Iterable[Snapshot]) -> dict[Path, Snapshot]:
        found: dict[Path, Snapshot] = {}
        for snapshot in snapshots:
            if snapshot.path not in found or self._latest.get(snapshot.path) == snapshot.uri:
                found[snapshot.path] = snapshot
        return found

    async def ask(self, question: Callable[[Workspace], _Result]) -> _Result:
        """Put a question to the engine, on its thread."""
        return await self._worker.run(lambda: self._engine.answer(question))

    async def try_asking(self, question: Callable[[Workspace], _Result]) -> _Result | None:
        """As `ask`; None if an error keeps the engine from answering, which is logged once."""
        try:
            return await self.ask(question)
        except Exception as error:
            self.unanswered(error)
            return None

    def unanswered(self, error: Exception) -> None:
        """Log what kept a question from being answered, once."""
        self._engine.unanswered(error)

    async def ask_aside(self, question: Callable[[Workspace, Callable[[], bool]], _Result]) -> _Result | None:
        """Put a long question to the engine, with a `stop` for it. None if a change came in between: who asks waits
        until all is settled, and asks again."""
        stopped, engine = threading.Event(), self._engine

        def asked() -> _Result | None:
            try:
                return None if stopped.is_set() else question(engine.workspace(), stopped.is_set)
            except engine.backend().cancelled:
                return None

        self._asides.add(stopped)
        try:
            return await self._worker.run(asked)
        finally:
            stopped.set()  # whoever asked may have been cancelled
            self._asides.discard(stopped)

    async def load(self) -> None:
        """Load the engine now, so that the first analysis need not wait for it."""
        try:
            self.pages = await self._worker.run(lambda: self._engine.backend().pages)
        except Exception as error:
            logger.exception("the engine cannot be loaded")
            self._say(f"loaderlint cannot work: {error}")

    def stop(self) -> None:
        """Plan nothing more and stop the job at hand."""
        self._closed = True
        self._cancel_timer()
        self._cancel_showing()
        self.pulled.stop()
        self._stop_job()
        self._stop_asides()
        self._settled.set()
        self._wake()

    def close(self) -> None:
        """End the engine, whatever it does."""
        self._engine.close()

    # --- jobs ---------------------------------------------------------------------------------------------------------

    def _plan(self, delay: float) -> None:
        if self._closed:
            return
        if self._settled.is_set():
            self._settled.clear()
            self._announce_all(settled=False)
        self._stop_asides()
        self._cancel_timer()
        loop = asyncio.get_running_loop()
        if self._waiting_since is None:
            self._waiting_since = loop.time()
        latest = self._waiting_since + LONGEST - loop.time()
        self._timer = loop.call_later(max(AT_ONCE, min(delay, latest)), self._begin)
        if self._showing is None:
            self._showing = loop.call_later(STANDING, self._show_all)

    def _stop_job(self) -> None:
        """What is being computed is of no use."""
        if self._job is not None:
            self._job.stopped.set()

    def _stop_asides(self) -> None:
        """Those who asked aside wait until all is settled, and ask again."""
        for stopped in self._asides:
            stopped.set()

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
            self._planned = True  # the end of the job at hand begins the next one
            return
        self._planned = False
        self._waiting_since = None
        job, engine, loop = self._next_job(self._setup), self._engine, asyncio.get_running_loop()
        self._job = job

        def early(answer: Answer) -> None:
            loop.call_soon_threadsafe(self._take_early, job, answer)

        self._worker.run(lambda: engine.perform(job, early)).add_done_callback(self._end)

    def _next_job(self, setup: Setup) -> Job:
        snapshots = self._all_snapshots()
        current = self._of_files(snapshots)
        for snapshot in snapshots:
            self._histories.setdefault(snapshot.uri, History(snapshot)).note(snapshot)
        # Texts are joined here and not at each edit: while somebody types, most versions are never looked at.
        texts = {path: current[path].text if path in current else None for path in self._edited}
        job = Job(setup, texts, frozenset(self._gone), snapshots, tuple(current.values()), self.client)
        self._edited.clear()
        self._gone.clear()
        return job

    def _end(self, future: asyncio.Future[Answer | None]) -> None:
        job, self._job = self._job, None
        self._early.clear()
        if self._closed:
            return
        answer: Answer | None = None
        try:
            answer = future.result()
        except OSError as error:  # the engine's process has ended, or cannot be started
            self._ask_again(error)
        except Exception as error:
            self._tell_of(error)
        if answer is not None and job is not None:
            self._tries = 0
            self._take(job, answer)
        if self._planned:
            self._begin()
        elif self._timer is None:
            self._settle()

    def _settle(self) -> None:
        """All that is known has been looked at, as far as that can be done."""
        self._settled.set()
        self._cancel_showing()
        self._standing.clear()
        for document in self._documents:
            if self.report(document) is None:
                self._show(document)  # the last findings of what could not be looked at
        self._wake()
        self._announce_all(settled=True)

    def _ask_again(self, error: OSError) -> None:
        """Ask once more in a moment, a few times; then say that the next edit does."""
        if self._tries < len(AGAIN):
            logger.warning("%s; asking again", error)
            self._plan(AGAIN[self._tries])
            self._tries += 1
            return
        self._tries = 0
        self._tell_once(f"{error}, again and again. Edit a file to try once more, or {RESTART}.", logger.error)

    def _tell_of(self, error: Exception) -> None:
        """The engine raised an error: what was found last stays, the next edit tries again."""
        from loaderlint.runtime.internal_errors import failure_of

        failure = failure_of(error)
        if failure.error not in self._said:
            self._said.add(failure.error)
            logger.error("the analysis failed: %s\n%s", failure.error, failure.traceback)
        self._tell_once(_INTERNAL, logger.debug)

    def _tell_once(self, message: str, log: Callable[[str], None]) -> None:
        if message not in self._said:
            self._said.add(message)
            log(message)
            self._alert(message)

    def _wake(self) -> None:
        """There is something for who waits in `looked_at`."""
        self._looked.set()
        self._looked = asyncio.Event()

    def _take_early(self, job: Job, answer: Answer) -> None:
        if job is not self._job or job.stopped.is_set():
            return
        if self._timer is not None or self._planned:
            job.stopped.set()  # it is told to look at what is newer, and has an early answer for that, too
            return
        for report in answer.reports:
            document = self._documents.get(report.snapshot.uri)
            if document is None or document.uri in self._reports or document.at != report.snapshot.at:
                continue  # closed or edited meanwhile, or more is known
            self._early[document.uri] = report
            if not self.client.pulls:
                self._push(report)
        self.pulled.compare()  # a second early answer may say more than the first
        self._wake()

    def _with_last(self, report: Report, failed: frozenset[str]) -> Report | None:
        """A report with what still stands of the last findings of rules that failed now; None if the document was
        edited meanwhile, and the last report has to stay until the next one."""
        last, history = self._reports.get(report.snapshot.uri), self._histories.get(report.snapshot.uri)
        if not failed or last is None or history is None:
            return report
        if history.now.at != report.snapshot.at:
            return None
        histories = {one.now.path: one for one in self._histories.values()}
        kept = standing(last, histories, self.client)
        return report.with_unsure(
            [number for number, one in enumerate(kept.findings) if not failed.isdisjoint(("", one.name))], kept
        )

    def _take(self, job: Job, answer: Answer) -> None:
        whole = [self._with_last(report, answer.failed) for report in answer.reports]
        answer = replace(answer, reports=tuple(report for report in whole if report is not None))
        for snapshot in [report.snapshot for report in answer.reports]:
            history = self._histories.get(snapshot.uri)
            if history is not None and history.now.serial == snapshot.serial:
                history.begin(snapshot)
        self._standing.clear()
        for report in answer.reports:
            document = self._documents.get(report.snapshot.uri)
            if document is None or document.serial != report.snapshot.serial:
                continue  # closed meanwhile
            self._reports[document.uri] = report
            self._show(document)
        self.pulled.compare()
        if answer.links != self._links:
            self._links = answer.links
            self._refresh_lenses()
        self._begun.set()
        self.announce_news()
        if answer.failed:
            self._tell_once(_INTERNAL, logger.debug)
        for problem in answer.problems:
            if problem not in self._said:
                self._said.add(problem)
                self._say(problem)

    def _show_all(self) -> None:
        """The engine is at work for a while."""
        self._showing = None
        if not self._settled.is_set():
            for document in self._documents:
                self._show(document)

    def _show(self, document: Document | Notebook) -> None:
        """Show what is known of the document in its present version: what was found in it, or what stands in it of
        what was found before."""
        report = self._reports.get(document.uri)
        if report is None:
            return
        if document.at != report.snapshot.at:
            known = self._standing.get(document.uri)
            if known is None or document.at != known.snapshot.at:
                own = self._histories[document.uri]
                own.note(document.snapshot())
                others = {history.now.path: history for history in self._histories.values()}
                known = standing(report, {**others, own.now.path: own}, self.client)
            report = known
        self._standing[document.uri] = report
        if self.client.pulls:
            self._wake()
        else:
            self._push(report)

    def _push(self, report: Report) -> None:
        """Show what is new of a document, cell by cell if it is a notebook; cells that are gone lose theirs."""
        before = self._published.get(report.snapshot.uri, {})
        now = {params.uri: params for params in report.messages()}
        self._published[report.snapshot.uri] = now
        for uri in before.keys() - now.keys():
            self._publish(cleared(uri))
        for uri, params in now.items():
            if before.get(uri) != params:
                self._publish(params)

    def _announce_all(self, *, settled: bool) -> None:
        for document in self._documents:
            self._announce(document, settled)
