"""The process of the engine. The server's event loop has its own process, so nothing that the engine does (libcst's
parser and the garbage collector hold the interpreter from start to end) keeps a message waiting.

While a project is linked for the first time, which can take long, the engine continues even if an edit makes its answer
useless: most of what it has computed stays valid, and an index that restarts with every keystroke never ends. Questions
that come meanwhile wait.
"""

from __future__ import annotations

import logging
import os
import pickle
import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loaderlint.lsp import engine_messages, memory
from loaderlint.lsp.backend import LocalBackend, LocalWorkspace
from loaderlint.lsp.engine_messages import Call, Reply, Stop, Told
from loaderlint.lsp.failure_log import FailureLog, costs_a_fix
from loaderlint.runtime import child_processes
from loaderlint.runtime.internal_errors import Postponed, failure_of

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic

logger = logging.getLogger(__name__)

#: Bytes; libcst's parser recurses in native code, and threads get 8 MiB or less by default (512 KiB on macOS).
_STACK = 64 * 1024 * 1024
#: The number of findings in one message: a larger one would block the server while it is read.
_PART = 200

#: Seconds without a question after which the engine does other work.
_PAUSE = 0.5
_RESTED = object()

Message = Call | Stop


class EngineLoop:
    """Answers calls, one at a time. Another thread fills `inbox`; `send` is called with the replies."""

    def __init__(
        self, load: Callable[[], LocalBackend], inbox: queue.SimpleQueue[Message], send: Callable[[Reply], None]
    ):
        self._load = load
        self._inbox = inbox
        self._send = send
        self._backend: LocalBackend | None = None
        self._workspace: LocalWorkspace | None = None
        self._waiting: deque[Call] = deque()
        self._number: int | None = None
        self._goes_on = False
        self._given_up = False
        self._resting: Iterator[None] | None = None
        self._links = 0
        self._log = FailureLog(logger)

    def step(self) -> None:
        """Wait for the next call and answer it."""
        message = self._waiting.popleft() if self._waiting else self._next()
        if isinstance(message, Call):
            self._answer(message)

    def _answer(self, call: Call) -> None:
        self._number, self._goes_on, self._given_up = call.number, False, False
        backend = self._backend = self._backend or self._load()
        try:
            for told in call.told:
                self._take(backend, told)
            if call.method:
                self._reply("done", self._asked(backend, call))
        except Postponed as postponed:
            self._resting = None  # the typing pauses before the next question
            self._reply("postponed", postponed.took)
        except backend.cancelled:
            self._reply("cancelled", None)
        except Exception as error:
            failure = failure_of(error)
            self._log.note(f"{call.method} failed", failure)
            self._reply("failed", failure.error)
        self._number = None

    def _next(self) -> Message:
        if self._resting is not None:
            try:
                return self._inbox.get(timeout=_PAUSE)
            except queue.Empty:
                self._rest()
        return self._inbox.get()

    def _rest(self) -> None:
        """While there are no questions, store what is known for the next session, and release memory."""
        try:
            while self._resting is not None and not self._waiting and self._inbox.empty():
                if next(self._resting, _RESTED) is _RESTED:
                    self._resting = None
                    self._give_back()
        except Exception:  # the last results are still valid
            logger.debug("the work between questions failed", exc_info=True)
            self._resting = None

    def _give_back(self) -> None:
        """Return free memory to the system, but only after a linking, because it takes a moment."""
        links = self._workspace.links if self._workspace else 0
        if links != self._links:
            self._links = links
            memory.give_back()

    def _take(self, backend: LocalBackend, told: Told) -> None:
        if told.method == "workspace":
            self._workspace = backend.workspace(*told.about)
            self._resting, self._links = None, 0
            return
        try:
            getattr(self._workspace, told.method)(*told.about)
        except Exception:
            logger.exception("the engine does not take %s", told.method)

    def _asked(self, backend: LocalBackend, call: Call) -> Any:
        if call.method == "pages":
            return dict(backend.pages)
        workspace = self._workspace
        assert workspace is not None, "a workspace comes before any question about it"
        if call.method == "check":
            return self._checked(workspace, *call.about)
        value = getattr(workspace, call.method)(*call.about, **call.named)
        self._log.note_problems(workspace.problems, costs_a_fix)
        return value, workspace.links

    def _checked(self, workspace: LocalWorkspace, paths: Sequence[Path] | None, typing: bool) -> Any:
        found = workspace.check(paths, stop=self._stop, typing=typing, progress=self._progress, early=self._early)
        if self._resting is None:
            self._resting = workspace.rest()
        part: dict[Path, tuple[Diagnostic, ...]] = {}
        count = 0
        for path, diagnostics in found.items():
            part[path] = diagnostics
            count += 1 + len(diagnostics)
            if count >= _PART:
                self._reply("part", part)
                part, count = {}, 0
        environments = {path: workspace.environment(path) for path in paths or () if found.get(path)}
        return part, environments, list(workspace.problems), workspace.links

    # --- while it works -----------------------------------------------------------------------------------------------

    def _reply(self, kind: engine_messages.Kind, value: Any) -> None:
        if self._number is not None:
            self._send(Reply(self._number, kind, value))

    def _progress(self, done: int, total: int) -> None:
        if done == total or 100 * done // total > 100 * (done - 1) // total:
            self._reply("progress", (done, total))

    def _early(self, found: Mapping[Path, tuple[Diagnostic, ...]]) -> None:
        """Some projects are done while another one is linked for the first time."""
        self._goes_on = True
        self._reply("early", dict(found))

    def _stop(self) -> bool:
        while not self._inbox.empty():
            message = self._inbox.get()
            if isinstance(message, Call):
                self._meanwhile(message)
            else:
                self._stopped(message.number)
        return self._given_up

    def _stopped(self, number: int) -> None:
        if number == self._number:
            if self._goes_on:
                self._number = None
            else:
                self._given_up = True
        for index, call in enumerate(self._waiting):
            if call.number == number:
                self._waiting[index] = call._replace(method="")

    def _meanwhile(self, call: Call) -> None:
        """Handle a call that comes during another one: its information is used for the calls after that."""
        self._waiting.append(call)
        for told in call.told:
            if told.method not in ("set_text", "forget"):
                self._given_up = True  # other folders or settings: the running check is useless


def main(cache: str | None = None) -> None:
    """Read calls from stdin and answer them on stdout until the end of stdin; then end at once. `cache`: the folder in
    which facts of files are stored between sessions."""
    from loaderlint.lsp.backend import Loaderlint

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    child_processes.ignore_interrupts()
    source, sink = child_processes.claim_stdio()
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    folder = Path(cache) if cache else None
    loop = EngineLoop(lambda: Loaderlint(folder), inbox, lambda reply: child_processes.write(sink, reply))

    def work() -> None:
        try:
            while True:
                loop.step()
        except OSError:  # the server has ended
            os._exit(0)
        except BaseException:
            logger.exception("the engine's process ends")
            os._exit(1)

    threading.stack_size(_STACK)
    threading.Thread(target=work, name="loaderlint-engine", daemon=True).start()
    child_processes.each_message(source, lambda data: inbox.put(pickle.loads(data)))
