"""Measures the latency that a user feels: from a keystroke to the diagnostics, with the real server process over stdio.

    python -m benchmarks.typing_latency                        small projects, warm; and edits that link again
    python -m benchmarks.typing_latency --large FOLDER         also while the first index of a copy of FOLDER runs
    python -m benchmarks.typing_latency --package transformers the same with a package from PyPI

The replay is *open loop*: every keystroke has a time, drawn once from a fixed seed, and is sent at that time, whatever
the server does. The times between keys are realistic: log-normal around 150 ms, words typed in bursts of 40 to 60 ms,
deletions by a held key (33 ms), a pause to think after each line.

The latency of a keystroke is the time from its *scheduled* moment to the arrival of the first diagnostics for the
version that it made, or for a later one: a version that is superseded before it is answered counts as answered by the
answer that replaced it on the screen, and so counts with the full wait. A push client reads the version from the
notification. A pull client behaves like VS Code's library: it asks after each change; if a request is pending, it
cancels it and asks again when that one has been answered; an answer is about the version at the time of the request.

In addition, a probe sends `loaderlint/status` every 10 ms, also on schedule: the time to its answer shows how long the
server's event loop was blocked. All times are wall times in ms, and only meaningful on an idle machine; the load is
printed. Memory is that of the server and its children (Linux).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks import projects

Mode = Literal["push", "pull"]
MODES: tuple[Mode, ...] = ("push", "pull")

SIZES = (1000, 3000)
#: The typed text: statements with brackets and a string, as is common in such code.
TYPED = ('value = compute(index, key="name")[0]', "for item in items(self.data): total += item", "return {1: (2, [3])}")
#: The text that is typed where a loader's dataset draws: every part of it changes what the rules see.
RELINKING = ("image = np.copy(self.data[index]) + self.rng.random()", "return float(np.random.rand()) + image")
#: Seconds between two probes, and the maximum number of seconds to wait for anything.
PROBE, PATIENCE = 0.01, 300.0


class Key(NamedTuple):
    """One edit: `text` replaces `deleted` characters before (line, column). `wait`: seconds after the previous key."""

    wait: float
    line: int
    column: int
    deleted: int
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """One replay. Milliseconds, wall; each of `latency`, `probe` and `late` as p50, p95, p99, max. `late`: how much
    later than scheduled the keys were sent (the benchmark's own fault). `first`: from opening to the first diagnostics;
    `settled`: to the end of all work, None if typing ended before it. `parse`: one bare `libcst.parse_module` of the
    file in CPU time. `memory`: MiB of the server and its children at the end. `load`: of the machine, before."""

    scenario: str
    mode: Mode
    lines: int
    files: int
    keys: int
    answers: int
    latency: Mapping[str, float]
    probe: Mapping[str, float]
    late: Mapping[str, float]
    first: float
    settled: float | None
    parse: float
    memory: float
    load: float


def measure(
    large: Sequence[Path] = (), *, keys: int = 300, seed: int = 0, modes: Sequence[Mode] = MODES, probe: bool = True
) -> Iterator[Row]:
    """Replay all scenarios. Each folder in `large` is copied, and keys are typed in it while it is indexed for the
    first time."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        for size, mode in itertools.product(SIZES, modes):
            subject = _project(folder / f"warm-{size}-{mode}", size)
            yield replay(f"warm, {size} lines", subject, mode, keys, seed, probe=probe)
        for mode in modes:
            subject = _project(folder / f"relink-{mode}", 1000, files=200)
            yield replay("links anew, 200 files", subject, mode, keys, seed, relinking=True, probe=probe)
        for tree, mode in itertools.product(large, modes):
            subject = _project(folder / f"{tree.name}-{mode}", 1000)
            shutil.copytree(tree, subject.parent / tree.name, ignore=_only_sources)
            yield replay(f"first index of {tree.name}", subject, mode, keys, seed, cold=True, probe=probe)
            shutil.rmtree(subject.parent)


def replay(
    scenario: str,
    subject: Path,
    mode: Mode,
    keys: int,
    seed: int,
    *,
    cold: bool = False,
    relinking: bool = False,
    probe: bool = True,
) -> Row:
    """Type `keys` keys into `subject`, or into the script in the same folder if `relinking`; when the project is
    settled or, if `cold`, at once."""
    project = subject.parent
    edited = project / "train.py" if relinking else subject
    text = edited.read_text(encoding="utf-8")
    schedule = list(itertools.islice(_keys(text, random.Random(seed), relinking), keys))
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    with Typist(project, mode) as typist:
        opened = time.perf_counter()
        typist.open(edited, text)
        first = typist.diagnosed(1)
        if not cold:
            settled: float | None = typist.settle() - opened
            typist.type(schedule[:20])  # warm up: one-time work is not measured
            typist.settle()
            typist.clear()
        else:
            threading.Thread(target=typist.watch, args=(opened,), daemon=True).start()
        if probe:
            typist.probe()
        typist.type(schedule if cold else schedule[20:])
        end = time.perf_counter()
        typist.settle()
        if cold:
            settled = typist.quiet - opened if typist.quiet and typist.quiet < end else None
        latencies = typist.latencies()
        answers = typist.answers()
        files = sum(1 for _ in project.rglob("*.py"))
        return Row(
            scenario,
            mode,
            text.count("\n"),
            files,
            len(latencies),
            answers,
            _quantiles(latencies),
            _quantiles(typist.probes),
            _quantiles(typist.late),
            (first.result() - opened) * 1000,
            settled * 1000 if settled is not None else None,
            _parse(text),
            typist.memory(),
            load,
        )


# --- the person -------------------------------------------------------------------------------------------------------


def _keys(text: str, chance: random.Random, relinking: bool) -> Iterator[Key]:
    """An endless series of lines that are typed at places in the text and deleted again."""
    lines = text.split("\n")
    hot = next((number for number, line in enumerate(lines) if "image = self.data[index]" in line), 0)
    while True:
        at = hot if relinking else chance.randrange(len(lines) - 1)
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        words = chance.choice(RELINKING if relinking else TYPED)
        yield Key(chance.uniform(0.4, 1.2), at, 0, 0, indent + "\n")
        burst = False
        for column, sign in enumerate(words, len(indent)):
            burst = not burst and chance.random() < 0.3 if sign in " (=" else burst
            wait = chance.uniform(0.04, 0.06) if burst else min(chance.lognormvariate(-1.9, 0.35), 1.0)
            yield Key(wait, at, column, 0, sign)
        yield Key(chance.uniform(0.4, 1.2), at, len(indent) + len(words), 1, "")
        for column in range(len(indent) + len(words) - 1, len(indent), -1):
            yield Key(0.033, at, column, 1, "")
        yield Key(chance.lognormvariate(-1.9, 0.35), at + 1, 0, len(indent) + 1, "")


# --- the editor -------------------------------------------------------------------------------------------------------


class Moment:
    """A time at which something happens, to wait for."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._time = 0.0

    def is_now(self) -> None:
        """Set the time to now, unless it is set already."""
        if not self._event.is_set():
            self._time = time.perf_counter()
            self._event.set()

    def result(self) -> float:
        """Wait for the time. Raises TimeoutError if it does not come."""
        if not self._event.wait(PATIENCE):
            raise TimeoutError("the server does not answer")
        return self._time


@dataclass(slots=True)
class _Request:
    done: Moment = field(default_factory=Moment)
    sent: float = 0.0
    answer: Any = None


class Typist:
    """An editor with one open file, and the server that it started in `folder`."""

    def __init__(self, folder: Path, mode: Mode) -> None:
        self._mode = mode
        command = [sys.executable, "-m", "loaderlint", "server", "--no-cache"]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
        self._folder = folder
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._open: dict[int, _Request] = {}
        self._uri = ""
        self._version = 0
        self._scheduled: dict[int, float] = {}
        self._answered: list[tuple[int, float]] = []
        self._firsts: dict[int, Moment] = {}
        self._pull: tuple[int, int] | None = None
        self._again = False
        self._ended = threading.Event()
        self.quiet = 0.0
        """The time when the server first said that everything is checked; 0 until then."""
        self.probes: list[float] = []
        self.late: list[float] = []

    def __enter__(self) -> Typist:
        threading.Thread(target=self._read, daemon=True).start()
        self._ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": self._folder.as_uri(),
                "workspaceFolders": [{"uri": self._folder.as_uri(), "name": self._folder.name}],
                "capabilities": _capabilities(self._mode),
            },
        ).done.result()
        self._notify("initialized", {})
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._ask("shutdown", None).done.result()
        self._notify("exit", None)
        self._server.wait(PATIENCE)

    def open(self, path: Path, text: str) -> None:
        """Open the one file."""
        self._uri, self._version = path.as_uri(), 1
        document = {"uri": self._uri, "languageId": "python", "version": 1, "text": text}
        self._notify("textDocument/didOpen", {"textDocument": document})
        self._changed()

    def diagnosed(self, version: int) -> Moment:
        """The time at which the first diagnostics of this version, or of a later one, arrive."""
        with self._lock:
            moment = self._firsts.setdefault(version, Moment())
            if self._answered and self._answered[-1][0] >= version:
                moment.is_now()
        return moment

    def type(self, keys: Sequence[Key]) -> None:
        """Send the keys, each at its time."""
        due = time.perf_counter()
        for key in keys:
            due += key.wait
            time.sleep(max(due - time.perf_counter(), 0))
            self._version += 1
            self._scheduled[self._version] = due
            start = {"line": key.line, "character": key.column}
            end = dict(start)
            if key.deleted:
                start = {"line": key.line, "character": key.column - key.deleted}
                if key.column == 0:  # the typed line is deleted
                    start = {"line": key.line - 1, "character": 0}
            change = {"range": {"start": start, "end": end}, "text": key.text}
            self.late.append((time.perf_counter() - due) * 1000)
            identifier = {"uri": self._uri, "version": self._version}
            self._notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": [change]})
            self._changed()

    def settle(self) -> float:
        """Wait until the server has checked everything, and this client has its answer. Returns the time of that."""
        self._ask("loaderlint/status", {"uri": self._uri, "wait": True}).done.result()
        return self.diagnosed(self._version).result()

    def watch(self, since: float) -> None:
        """Record when everything is settled for the first time."""
        while not self._ended.wait(0.05):
            request = self._ask("loaderlint/status", {"uri": self._uri})
            request.done.result()
            if request.answer.get("settled") and time.perf_counter() > since:
                self.quiet = request.done.result()
                return

    def probe(self) -> None:
        """Start to request the server's status every few milliseconds."""

        def ask() -> None:
            due = time.perf_counter()
            asked: list[tuple[float, _Request]] = []
            while not self._ended.wait(max(due - time.perf_counter(), 0)):
                asked.append((due, self._ask("loaderlint/status", {"uri": self._uri})))
                due += PROBE
                while asked and asked[0][1].answer is not None:
                    at, request = asked.pop(0)
                    self.probes.append((request.done.result() - max(at, request.sent)) * 1000)

        threading.Thread(target=ask, daemon=True).start()

    def clear(self) -> None:
        """Forget the measurements so far."""
        with self._lock:
            self._scheduled.clear()
            self.late.clear()
            self._answered = self._answered[-1:]

    def latencies(self) -> list[float]:
        """The latency of each key in ms, in order."""
        answered, found = iter(self._answered), []
        version, when = next(answered)
        for key, due in sorted(self._scheduled.items()):
            while version < key:
                version, when = next(answered)
            found.append((when - due) * 1000)
        return found

    def answers(self) -> int:
        """The number of answers to the keys: fewer than keys if some came too fast."""
        return len({version for version, _ in self._answered if version in self._scheduled})

    def memory(self) -> float:
        """MiB of memory of the server and its children; 0 if it cannot be read."""
        return sum(map(_resident, (self._server.pid, *_children(self._server.pid))))

    # --- messages -----------------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        """Like VS Code's library: send a request; if one is pending, cancel it and send the next one after its
        answer."""
        if self._mode == "push":
            return
        with self._lock:
            if self._pull is None:
                self._send_pull()
            elif not self._again:
                self._again = True
                self._notify("$/cancelRequest", {"id": self._pull[0]})

    def _send_pull(self) -> None:
        number = next(self._numbers)
        self._pull = (number, self._version)
        self._again = False
        self._send({"id": number, "method": "textDocument/diagnostic", "params": {"textDocument": {"uri": self._uri}}})

    def _notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def _ask(self, method: str, params: Any) -> _Request:
        number, request = next(self._numbers), _Request()
        self._open[number] = request
        request.sent = time.perf_counter()
        self._send({"id": number, "method": method, "params": params})
        return request

    _writing = threading.Lock()

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._server.stdin is not None
        with self._writing:
            try:
                self._server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
                self._server.stdin.flush()
            except (OSError, ValueError):
                if not self._ended.is_set():
                    raise

    def _read(self) -> None:
        assert self._server.stdout is not None
        while header := self._server.stdout.readline():
            length = int(header.split(b":")[1])
            while self._server.stdout.readline().strip():
                pass
            message = json.loads(self._server.stdout.read(length))
            if "method" in message:
                self._told(message)
            elif self._pull is not None and message.get("id") == self._pull[0]:
                self._pulled(message)
            elif (request := self._open.pop(message.get("id"), None)) is not None:
                request.answer = message.get("result") or {}
                request.done.is_now()

    def _told(self, message: dict[str, Any]) -> None:
        params = message.get("params") or {}
        if message["method"] == "textDocument/publishDiagnostics":
            if params["uri"] == self._uri and params.get("version") is not None:
                self._shown(params["version"])
        elif "id" in message:
            result = [None] * len(params["items"]) if message["method"] == "workspace/configuration" else None
            self._send({"id": message["id"], "result": result})
            if message["method"] == "workspace/diagnostic/refresh" and self._uri:
                self._changed()

    def _pulled(self, message: dict[str, Any]) -> None:
        with self._lock:
            assert self._pull is not None
            version = self._pull[1]
            again = self._again or "error" in message
            self._pull = None
            if again and not self._ended.is_set():
                self._send_pull()
        if "result" in message:
            self._shown(version)

    def _shown(self, version: int) -> None:
        now = time.perf_counter()
        with self._lock:
            self._answered.append((version, now))
            for wanted, moment in self._firsts.items():
                if version >= wanted:
                    moment.is_now()


def _capabilities(mode: Mode) -> dict[str, Any]:
    document: dict[str, Any] = {"publishDiagnostics": {"versionSupport": True, "relatedInformation": True}}
    workspace: dict[str, Any] = {"configuration": True, "workspaceFolders": True}
    if mode == "pull":
        document["diagnostic"] = {"relatedDocumentSupport": False}
        workspace["diagnostics"] = {"refreshSupport": True}
    return {"textDocument": document, "workspace": workspace}


# --- projects ---------------------------------------------------------------------------------------------------------


def _project(folder: Path, size: int, files: int = 0) -> Path:
    """Create a project around an installed file of about `size` lines, with `files` small ones. Returns the file's
    path."""
    source = next(path for path in projects.installed(size) if path.read_bytes().isascii())
    subject = projects.around(source, folder)
    for number, path in enumerate(projects.installed(200, files)):
        shutil.copy(path, folder / f"module_{number}.py")
    return subject


def _only_sources(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if not name.endswith(".py") and not os.path.isdir(os.path.join(folder, name))}


def package(name: str, folder: Path) -> Path:
    """The sources of a package from PyPI, without its dependencies."""
    asked = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", str(folder)]
    subprocess.run([*asked, name], check=True)
    return folder / name.replace("-", "_").partition("=")[0]


# --- numbers ----------------------------------------------------------------------------------------------------------


def _quantiles(times: Sequence[float]) -> dict[str, float]:
    if len(times) < 2:
        return {}
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(times)}


def _parse(text: str) -> float:
    import libcst

    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        libcst.parse_module(text)
        best = min(best, time.process_time() - start)
    return best * 1000


def _children(parent: int) -> Iterator[int]:
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            yield int(status.parent.name)
            yield from _children(int(status.parent.name))


def _resident(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/status").read_text().split("\n")
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


_HEAD = f"{'':<36}{'keys':>5}{'answers':>8}{'p50':>7}{'p95':>7}{'p99':>7}{'max':>8}  loop{'p99':>6}{'max':>7}"
_HEAD += f"{'first':>8}{'settled':>9}{'parse':>7}{'MiB':>6}{'load':>6}"


def _line(row: Row) -> str:
    latency = "".join(f"{row.latency.get(name, 0):>{width}.0f}" for name, width in _WIDTHS)
    probe = f"{row.probe.get('p99', 0):>12.0f}{row.probe.get('max', 0):>7.0f}"
    settled = "-" if row.settled is None else f"{row.settled:.0f}"
    rest = f"{row.first:>8.0f}{settled:>9}{row.parse:>7.0f}{row.memory:>6.0f}{row.load:>6.1f}"
    return f"{f'{row.scenario}, {row.mode}':<36}{row.keys:>5}{row.answers:>8}{latency}{probe}{rest}"


_WIDTHS = (("p50", 7), ("p95", 7), ("p99", 7), ("max", 8))


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--large", type=Path, action="append", default=[], help="a folder to copy and index")
    arguments.add_argument("--package", action="append", default=[], help="a package to install and index")
    arguments.add_argument("--keys", type=int, default=300, help="keystrokes a replay (default 300)")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--mode", choices=MODES, action="append", help="default: both")
    arguments.add_argument("--no-probe", action="store_true", help="do not probe the event loop")
    arguments.add_argument("--json", type=Path, help="write the rows here, too")
    asked = arguments.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        trees = [*asked.large, *(package(name, Path(scratch) / str(n)) for n, name in enumerate(asked.package))]
        print(_HEAD, flush=True)
        for row in measure(
            trees, keys=asked.keys, seed=asked.seed, modes=asked.mode or MODES, probe=not asked.no_probe
        ):
            rows.append(asdict(row))
            print(_line(row), flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
