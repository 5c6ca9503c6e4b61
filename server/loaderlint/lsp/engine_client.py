"""The engine in a process of its own, for the server: a backend whose workspace asks `loaderlint.lsp.engine_process`.

The process starts when the backend is made and ends with the server, whose end closes its stdin. If it dies (libcst's
parser can be made to crash), the next one is told what the last one knew, and asked again; once."""

from __future__ import annotations

import logging
import pickle
import queue
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from loaderlint.lsp import memory
from loaderlint.lsp.engine_messages import Call, Edited, Reply, Stop, Told
from loaderlint.runtime.child_processes import Child

if TYPE_CHECKING:
    from loaderlint.explanations.explanation import Explanation
    from loaderlint.explanations.worker_map import WorkerMap
    from loaderlint.findings.diagnostics import Diagnostic, Problem, ProjectInfo
    from loaderlint.findings.finding import Fix, Place
    from loaderlint.fixes.file_edits import FileEdit, Repair
    from loaderlint.lsp.backend import Backend
    from loaderlint.syntax.span import Span

    Found = Mapping[Path, tuple[Diagnostic, ...]]

logger = logging.getLogger(__name__)

#: Seconds between two looks at whether an answer is still wanted.
_LOOK = 0.005
#: The texts of so many files that are not open are kept.
_KEPT = 64

_Answer = TypeVar("_Answer")


def _never() -> bool:
    return False


class Cancelled(Exception):
    """The caller's `stop` said so."""


class Died(ConnectionError):
    """The engine's process ended while it was asked something."""


class Failed(Exception):
    """The engine raised an error; the message is its type and text. Its process has logged it."""

    is_logged = True


def load(cache: Callable[[], Path | None] = lambda: None) -> Backend:
    """The engine: in a process of its own, or, where none can be started, in this one. `cache` tells the folder in
    which facts of files are kept between sessions."""
    folder = cache()
    try:
        return Remote(folder)
    except (OSError, Died, Failed):
        logger.warning("no process for the analysis; it runs in the server's", exc_info=True)
    from loaderlint.lsp.backend import Loaderlint

    return Loaderlint(folder)


class Remote:
    """The backend; see `load`. Raises OSError or Died if the process cannot be started."""

    cancelled: type[Exception] = Cancelled

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache
        self._process = _Process(cache)
        self._told: list[Told] = []
        self._state: list[Told] = []
        self._numbers = 0
        self.pages: Mapping[str, str] = self.ask("pages", ())

    def workspace(self, folders: Sequence[Path], overrides: Mapping[str, object]) -> RemoteWorkspace:
        """The workspace; the one before it is gone."""
        return RemoteWorkspace(self, folders, overrides)

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.end()

    def tell(self, told: Told) -> None:
        """Let the engine know something before the next question."""
        self._told.append(told)

    def remember(self, state: list[Told]) -> None:
        """What a new process has to be told. The list is read when one is needed."""
        self._state = state

    def ask(
        self,
        method: str,
        about: tuple[Any, ...],
        *,
        stop: Callable[[], bool] | None = None,
        edited: Callable[[], bool] = _never,
        heard: Callable[[Reply], None] = lambda reply: None,
    ) -> Any:
        """The answer to a question. `heard` is called with every reply before the last. Raises Cancelled once `stop`
        says so, or where the engine waits for a pause and `edited` says that there is none; Failed if the engine raises
        an error, Died if its process ends twice."""
        told, self._told = tuple(self._told), []
        try:
            return self._asked(told, method, about, stop, edited, heard)
        except Died as death:
            logger.error("%s; it is started again", death)
            self._process = _Process(self._cache)
            return self._asked(tuple(self._state), method, about, stop, edited, heard)

    def _asked(
        self,
        told: tuple[Told, ...],
        method: str,
        about: tuple[Any, ...],
        stop: Callable[[], bool] | None,
        edited: Callable[[], bool],
        heard: Callable[[Reply], None],
    ) -> Any:
        self._numbers += 1
        self._process.send(Call(self._numbers, told, method, about))
        is_edited = False
        while True:
            if not is_edited and edited():
                is_edited = True
                self._process.send(Edited(self._numbers))
            reply = self._process.receive(None if stop is None else _LOOK)
            if reply is None or reply.number != self._numbers:
                if stop is not None and stop():
                    self._process.send(Stop(self._numbers))
                    raise Cancelled
            elif reply.kind == "done":
                return reply.value
            elif reply.kind == "failed":
                raise Failed(reply.value)
            elif reply.kind == "cancelled":
                raise Cancelled
            else:
                heard(reply)


class RemoteWorkspace:
    """The workspace of a `Remote`: what `loaderlint.engine.Workspace` does, done where the engine is. Called on the
    worker's thread only."""

    def __init__(self, remote: Remote, folders: Sequence[Path], overrides: Mapping[str, object]) -> None:
        self._remote = remote
        self._folders = tuple(folders)
        self._overrides = dict(overrides)
        self._overlays: dict[Path, str] = {}
        self._texts: dict[Path, str] = {}
        self._environments: Mapping[Path, tuple[str, ...]] = {}
        self.problems: list[Problem] = []
        self.links = 0
        """How often projects were linked, as of the last answer."""
        self._tell("workspace", self._folders, self._overrides)

    def _tell(self, method: str, *about: Any) -> None:
        self._texts.clear()
        state = [Told("workspace", (self._folders, self._overrides))]
        self._remote.remember(state + [Told("set_text", overlay) for overlay in self._overlays.items()])
        self._remote.tell(Told(method, about))

    def set_text(self, path: Path, text: str | None) -> None:
        """As `Workspace.set_text`."""
        if text is None:
            self._overlays.pop(path, None)
        else:
            self._overlays[path] = text
        self._tell("set_text", path, text)

    def configure(self, overrides: Mapping[str, object]) -> None:
        """As `Workspace.configure`."""
        self._overrides = dict(overrides)
        self._tell("configure", self._overrides)

    def forget(self, paths: Iterable[Path]) -> None:
        """As `Workspace.forget`."""
        self._tell("forget", tuple(paths))

    def check(
        self,
        paths: Sequence[Path] | None = None,
        *,
        stop: Callable[[], bool] = lambda: False,
        edited: Callable[[], bool] | None = None,
        progress: Callable[[int, int], None] | None = None,
        early: Callable[[Found], None] | None = None,
    ) -> dict[Path, tuple[Diagnostic, ...]]:
        """As `Workspace.check`."""
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
            "check", (asked, edited is not None), stop=stop, edited=edited or _never, heard=heard
        )
        return {**found, **rest}

    def alone(self, paths: Iterable[Path], texts: Mapping[Path, str]) -> dict[Path, tuple[Diagnostic, ...]]:
        """As `Workspace.alone`."""
        found: dict[Path, tuple[Diagnostic, ...]] = self._ask("alone", tuple(paths), dict(texts))
        return found

    def rest(self) -> Iterator[None]:
        """Its process does that by itself."""
        yield from ()

    def answer(self, question: Callable[..., _Answer], *about: Any) -> _Answer:
        """`question(workspace, *about)`, asked where the engine is. `question` is a function of a module that imports
        neither pygls nor lsprotocol."""
        value: _Answer = self._ask("answer", question, about)
        return value

    def _ask(self, method: str, *about: Any) -> Any:
        value, self.links = self._remote.ask(method, about)
        return value

    def text(self, path: Path) -> str:
        """As `Workspace.text`."""
        known = self._texts.get(path)
        if known is None:
            if len(self._texts) >= _KEPT:
                self._texts.clear()
            known = self._texts[path] = str(self._ask("text", path))
        return known

    def unreadable(self, path: Path) -> str:
        """As `Workspace.unreadable`."""
        return str(self._ask("unreadable", path))

    def cells(self, path: Path) -> tuple[int, ...]:
        """As `Workspace.cells`."""
        return tuple(self._ask("cells", path))

    def projects(self) -> tuple[ProjectInfo, ...]:
        """As `Workspace.projects`."""
        return tuple(self._ask("projects"))

    def environment(self, path: Path) -> tuple[str, ...]:
        """As `Workspace.environment`."""
        known = self._environments.get(path)
        return known if known is not None else tuple(self._ask("environment", path))

    def worker_map(self, paths: Sequence[Path] | None = None) -> WorkerMap:
        """As `Workspace.worker_map`."""
        made: WorkerMap = self._ask("worker_map", paths)
        return made

    def explain(self, path: Path, line: int, column: int | None = None) -> Explanation:
        """As `Workspace.explain`."""
        made: Explanation = self._ask("explain", path, line, column)
        return made

    def locate(self, place: Place) -> Span | None:
        """As `Workspace.locate`."""
        found: Span | None = self._ask("locate", place)
        return found

    def refactorings(self, path: Path, line: int) -> tuple[Fix, ...]:
        """As `Workspace.refactorings`."""
        found: tuple[Fix, ...] = self._ask("refactorings", path, line)
        return found

    def repair(self, path: Path, fix: Fix) -> Repair | None:
        """As `Workspace.repair`."""
        made: Repair | None = self._ask("repair", path, fix)
        return made

    def repairs(self, diagnostic: Diagnostic) -> tuple[Repair, ...]:
        """As `Workspace.repairs`."""
        made: tuple[Repair, ...] = self._ask("repairs", diagnostic)
        return made

    def fix_all(self, paths: Sequence[Path], *, rules: Collection[str] | None = None) -> tuple[FileEdit, ...]:
        """As `Workspace.fix_all`."""
        made: tuple[FileEdit, ...] = self._ask("answer", _fix_all, (tuple(paths), rules))
        return made


def _fix_all(workspace: Any, paths: Sequence[Path], rules: Collection[str] | None) -> Any:
    return workspace.fix_all(paths, rules=rules)


class _Process:
    """The process, and a queue of what it says. Raises OSError if it cannot be started."""

    def __init__(self, cache: Path | None) -> None:
        self._said: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        arguments = () if cache is None else (str(cache),)
        self._child = Child(
            "loaderlint.lsp.engine_process", *arguments, heard=self._said.put, variables=memory.allocator()
        )

    def send(self, message: Call | Stop | Edited) -> None:
        """Raises Died if nobody listens."""
        try:
            self._child.send(message)
        except (OSError, ValueError):
            raise self._death() from None

    def receive(self, patience: float | None) -> Reply | None:
        """The next reply; None if there is none for so many seconds. Raises Died at the end."""
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
