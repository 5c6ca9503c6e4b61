"""The engine in a process of its own, for the server: a backend whose workspace asks `loaderlint.lsp.engine_process`.

The process starts with the backend. It ends with the server, because that closes its stdin. If it dies (some code
crashes libcst's parser), a new one gets the state of the old one and the same question, once."""

from __future__ import annotations

import logging
import pickle
import queue
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from loaderlint.lsp import memory
from loaderlint.lsp.backend import Loaderlint, Questions
from loaderlint.lsp.engine_messages import Call, Reply, Stop, Told
from loaderlint.runtime.child_processes import Child
from loaderlint.runtime.internal_errors import Postponed

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic, Problem
    from loaderlint.lsp.backend import Backend, Checks, Found, Workspace

logger = logging.getLogger(__name__)

#: Seconds between two checks of whether an answer is still wanted.
_LOOK = 0.005

_About = ParamSpec("_About")
_Answer = TypeVar("_Answer")


class Cancelled(Exception):
    """The caller's `stop` returned True."""


class Died(ConnectionError):
    """The engine's process ended during a question."""


class Failed(Exception):
    """The engine raised an error; the message is its type and text. Its process has logged it."""

    is_logged = True


def load(cache: Callable[[], Path | None] = lambda: None) -> Backend:
    """The engine: in a process of its own, or in this one if none can be started. `cache` returns the folder in which
    facts of files are stored between sessions."""
    folder = cache()
    try:
        return Remote(folder)
    except (OSError, Died, Failed):
        logger.warning("no process for the analysis; it runs in the server's", exc_info=True)
    return Loaderlint(folder)


class Remote:
    """A backend in another process; see `load`. Raises OSError or Died if the process cannot be started."""

    cancelled: type[Exception] = Cancelled

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache
        self._process = _Process(cache)
        self._told: list[Told] = []
        self._workspace: RemoteWorkspace | None = None
        self._numbers = 0
        self.pages: Mapping[str, str] = self.ask("pages")

    def workspace(self, folders: Sequence[Path], overrides: Mapping[str, object]) -> Workspace:
        """The workspace; it replaces the one before."""
        self._workspace = RemoteWorkspace(self, folders, overrides)
        checks: Checks = self._workspace
        return cast("Workspace", checks)  # it forwards all other methods of the protocol

    def close(self) -> None:
        """End the process, even if it is busy."""
        self._process.end()

    def tell(self, told: Told) -> None:
        """Send something to the engine before the next question."""
        self._told.append(told)

    def ask(
        self,
        method: str,
        about: tuple[Any, ...] = (),
        named: Mapping[str, Any] | None = None,
        *,
        stop: Callable[[], bool] | None = None,
        heard: Callable[[Reply], None] = lambda reply: None,
    ) -> Any:
        """The answer to a question. `heard` is called with every reply before the last. Raises Cancelled once `stop`
        returns True, Postponed if the engine postpones the work, Failed if it raises an error, Died if its process ends
        twice."""
        self._numbers += 1
        call = Call(self._numbers, tuple(self._told), method, about, named or {})
        self._told.clear()
        try:
            return self._asked(call, stop, heard)
        except Died as death:
            logger.error("%s; it is started again", death)
            self._process = _Process(self._cache)
            state = self._workspace.state() if self._workspace is not None else ()
            return self._asked(call._replace(told=tuple(state)), stop, heard)

    def _asked(self, call: Call, stop: Callable[[], bool] | None, heard: Callable[[Reply], None]) -> Any:
        self._process.send(call)
        while True:
            reply = self._process.receive(None if stop is None else _LOOK)
            if reply is None or reply.number != call.number:
                if stop is not None and stop():
                    self._process.send(Stop(call.number))
                    raise Cancelled
            elif reply.kind == "done":
                return reply.value
            elif reply.kind == "failed":
                raise Failed(reply.value)
            elif reply.kind == "cancelled":
                raise Cancelled
            elif reply.kind == "postponed":
                raise Postponed(reply.value)
            else:
                heard(reply)


class RemoteWorkspace:
    """The workspace of a `Remote`, used on the worker's thread only. All `backend.Questions` are forwarded by name;
    calls with more than one message and its answer (`backend.Checks`) are implemented here."""

    def __init__(self, remote: Remote, folders: Sequence[Path], overrides: Mapping[str, object]) -> None:
        self._remote = remote
        self._folders = tuple(folders)
        self._overrides = dict(overrides)
        self._overlays: dict[Path, str] = {}
        self._environments: Mapping[Path, tuple[str, ...]] = {}
        self.problems: Sequence[Problem] = ()
        self.links = 0
        """The number of linkings at the time of the last answer."""
        remote.tell(self._itself())

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in vars(Questions):
            raise AttributeError(f"{name!r} is not a question to a workspace")
        return partial(self._ask, name)

    def _ask(self, question: str, *about: Any, **named: Any) -> Any:
        answer, self.links = self._remote.ask(question, about, named)
        return answer

    def _itself(self) -> Told:
        return Told("workspace", (self._folders, self._overrides))

    def state(self) -> Iterable[Told]:
        """The calls that bring a new process to the present state."""
        return self._itself(), *(Told("set_text", overlay) for overlay in self._overlays.items())

    def set_text(self, path: Path, text: str | None) -> None:
        """See `Checks.set_text`."""
        if text is None:
            self._overlays.pop(path, None)
        else:
            self._overlays[path] = text
        self._remote.tell(Told("set_text", (path, text)))

    def configure(self, overrides: Mapping[str, object]) -> None:
        """See `Checks.configure`."""
        self._overrides = dict(overrides)
        self._remote.tell(Told("configure", (self._overrides,)))

    def forget(self, paths: Iterable[Path]) -> None:
        """See `Checks.forget`."""
        self._remote.tell(Told("forget", (tuple(paths),)))

    def check(
        self,
        paths: Sequence[Path] | None = None,
        *,
        stop: Callable[[], bool] = lambda: False,
        typing: bool = False,
        progress: Callable[[int, int], None] | None = None,
        early: Callable[[Found], None] | None = None,
    ) -> dict[Path, tuple[Diagnostic, ...]]:
        """See `Checks.check`."""
        found: dict[Path, tuple[Diagnostic, ...]] = {}

        def heard(reply: Reply) -> None:
            if reply.kind == "part":
                found.update(reply.value)
            elif reply.kind == "early" and early is not None:
                early(reply.value)
            elif reply.kind == "progress" and progress is not None:
                progress(*reply.value)

        asked = None if paths is None else tuple(paths)
        rest, self._environments, self.problems, self.links = self._remote.ask(
            "check", (asked, typing), stop=stop, heard=heard
        )
        return {**found, **rest}

    def answer(
        self, question: Callable[Concatenate[Workspace, _About], _Answer], *about: _About.args, **named: _About.kwargs
    ) -> _Answer:
        """See `Checks.answer`."""
        found: _Answer = self._ask("answer", question, *about, **named)
        return found

    def environment(self, path: Path) -> tuple[str, ...]:
        """See `Questions.environment`. Every check returns the environments of files with findings, which need no
        question."""
        known = self._environments.get(path)
        return known if known is not None else tuple(self._ask("environment", path))


class _Process:
    """The process, and a queue of its messages. Raises OSError if it cannot be started."""

    def __init__(self, cache: Path | None) -> None:
        self._said: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        arguments = () if cache is None else (str(cache),)
        self._child = Child(
            "loaderlint.lsp.engine_process", *arguments, heard=self._said.put, variables=memory.allocator()
        )

    def send(self, message: Call | Stop) -> None:
        """Send a message. Raises Died if the process has ended."""
        try:
            self._child.send(message)
        except (OSError, ValueError):
            raise self._death() from None

    def receive(self, patience: float | None) -> Reply | None:
        """The next reply; None if none arrives within `patience` seconds. Raises Died if the process has ended."""
        try:
            data = self._said.get(timeout=patience)
        except queue.Empty:
            return None
        if data is None:
            self._said.put(None)
            raise self._death()
        reply: Reply = pickle.loads(data)
        return reply

    def _death(self) -> Died:
        return Died(f"the analysis process has ended with {self._child.exit_code()}")

    def end(self) -> None:
        """End it, if it has not ended."""
        self._child.end()
