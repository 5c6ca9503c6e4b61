"""The parts of an audit that need no PyTorch."""

from __future__ import annotations

import errno
import functools
import os
import random
import socket
import sqlite3
import subprocess
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from loaderlint.audit import AuditError, open_files, user_places
from loaderlint.audit.crossed import crossed
from loaderlint.audit.digests import digest
from loaderlint.audit.evidence import Facts
from loaderlint.audit.line_trace import LineTrace
from loaderlint.audit.messages import CHUNK, Answer, Receiver, Sender, make_room
from loaderlint.audit.reachable import reachable
from loaderlint.audit.report import Report, Result, Verdict, report_of
from loaderlint.audit.stored import changes, snapshot
from loaderlint.audit.streams import streams

GENERATOR = random.Random(3)


class Held:
    """An object of a user."""

    shared = random.Random(1)

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def drawn(self) -> float:
        return GENERATOR.random()


class Tensor:
    """PyTorch's, as far as an audit asks it."""

    def __init__(self, *, is_cuda: bool) -> None:
        self.is_cuda = is_cuda


class Slotted:
    __slots__ = ("part", "unset")

    def __init__(self, part: Any) -> None:
        self.part = part


class Meta(type):
    """As the metaclass of Cython's functions: its own module is no text."""

    __module__ = property(lambda cls: "compiled")  # type: ignore[assignment]


class Compiled(metaclass=Meta):
    """What Cython makes."""


def test_a_class_whose_module_is_no_text_is_walked_over() -> None:
    held = {"dataset": Held(function=Compiled, made=Compiled(), rows=[1])}
    assert "dataset.function" in dict(reachable(held))
    assert crossed(held) == () and streams(held)
    assert changes(snapshot(held), snapshot(held)) == ()


def test_a_message_of_any_size_arrives_whole() -> None:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver = Receiver()
    sent = Answer({"text": ("x" * (3 * CHUNK), "y")})
    Sender(one).send(sent)
    got = []
    while not got:
        got = list(receiver.messages(other.recv(1 << 18)))
    assert got == [sent]
    one.close()
    other.close()


def test_what_can_be_reached_has_the_shortest_path() -> None:
    inner = Held()
    dataset = Held(transform=Held(steps=[None, Slotted(inner)]), call=functools.partial(print, inner))
    paths = {id(value): path for path, value in reachable({"dataset": dataset})}
    assert paths[id(inner)] == "dataset.call.args[0]"
    assert paths[id(Held.shared)] == "Held.shared"
    assert paths[id(GENERATOR)].endswith(".GENERATOR")


def test_a_cycle_and_a_long_list_end() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert [path for path, _ in reachable({"a": loop})] == ["a"]
    assert len(list(reachable({"a": [[] for _ in range(5_000)]}, limit=100))) == 100


def test_streams_are_told_apart_by_their_state() -> None:
    held = Held(one=random.Random(5), other=random.Random(5), system=random.SystemRandom())
    found = {stream.name: stream for stream in streams({"dataset": held})}
    assert "dataset.system" not in found
    assert found["dataset.one"].digest() == found["dataset.other"].digest()
    saved = found["dataset.one"].save()
    held.one.random()
    assert found["dataset.one"].digest() != found["dataset.other"].digest()
    found["dataset.one"].restore(saved)
    assert found["dataset.one"].digest() == found["dataset.other"].digest()


def test_the_line_that_draws_is_found() -> None:
    own = random.Random(5)
    found = [stream for stream in streams({"dataset": [own]}) if stream.name == "dataset[0]"]

    def draw() -> float:
        unused = 1
        number = own.random()
        return number + unused

    with LineTrace(found) as trace:
        draw()
    (move,) = trace.moves[0]
    assert move.state == found[0].digest() and move.watched
    line = draw.__code__.co_firstlineno + 2
    assert move.stack[0].endswith(f"(tests/audit/test_parts.py:{line})") or f"test_parts.py:{line})" in move.stack[0]


def test_a_line_that_draws_from_something_else_too_is_marked() -> None:
    own, other = random.Random(5), random.Random(6)

    def draw() -> float:
        return own.random() + other.random()

    with LineTrace([stream for stream in streams({"dataset": [own]}) if stream.name == "dataset[0]"]) as trace:
        draw()
    assert [move.watched for move in trace.moves[0]] == [False]


@pytest.mark.parametrize("value", [[1, "a", None], {"a": (1, 2)}, {3, 1}, Held(a=1), bytearray(b"ab")])
def test_digests_follow_the_content(value: Any) -> None:
    assert digest(value) == digest(value)
    assert digest(value) != digest([value, 1])


def test_what_has_changed_is_told_by_kind() -> None:
    dataset = Held(rows=[{"path": "a"}, {"path": "b"}], cache={}, texts=[None, None], seen=0, buffer=bytearray(b"ab"))
    before = snapshot({"dataset": dataset})
    assert changes(before, snapshot({"dataset": dataset})) == ()
    dataset.rows[1]["path"] = "x/b"
    dataset.cache[3] = "c"
    dataset.texts[0] = "text"
    dataset.seen += 1
    dataset.buffer[0] = 7
    found = {each.path: each.kind for each in changes(before, snapshot({"dataset": dataset}))}
    assert found == {
        "dataset.rows[1]['path']": "data",
        "dataset.buffer": "data",
        "dataset.cache": "grown",
        "dataset.texts[0]": "filled",
        "dataset.seen": "number",
    }


def test_threads_and_held_locks_are_found_and_free_ones_are_not() -> None:
    free, held = threading.Lock(), threading.Lock()
    with held:
        found = crossed({"dataset": Held(free=free, held=held)})
    assert [(each.path, each.what) for each in found] == [("dataset.held", "a lock that is held")]
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    assert [each.rule for each in crossed({"dataset": Held(thread=thread)}) if each.path == "dataset.thread"] == [
        "executor-across-fork"
    ]
    stop.set()
    thread.join()


def test_open_handles_are_found_and_closed_ones_are_not() -> None:
    one, other = socket.socketpair()
    database, closed = sqlite3.connect(":memory:"), sqlite3.connect(":memory:")
    other.close()
    closed.close()
    found = crossed({"dataset": Held(one=one, other=other, database=database, closed=closed)})
    assert {each.path: each.what for each in found} == {
        "dataset.one": "an open socket",
        "dataset.database": "an open Connection",
    }
    database.close()
    one.close()


def test_a_database_of_another_thread_is_open() -> None:
    with ThreadPoolExecutor(1) as pool:
        database = pool.submit(sqlite3.connect, ":memory:").result()
        assert [each.what for each in crossed({"dataset": Held(database=database)})] == ["an open Connection"]
        pool.submit(database.close).result()
    assert crossed({"dataset": Held(database=database)}) == ()


def test_tensors_on_a_gpu_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = types.ModuleType("torch")
    torch.Tensor = Tensor  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    found = crossed({"dataset": Held(here=Tensor(is_cuda=False), there=Tensor(is_cuda=True))})
    assert [(each.path, each.rule) for each in found] == [("dataset.there", "cuda-in-worker")]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_file_is_seen_to_move_also_after_its_number_is_another_one(tmp_path: Path) -> None:
    path, other = tmp_path / "rows", tmp_path / "other"
    path.write_bytes(b"0123456789")
    other.write_bytes(b"0123456789")
    handle = os.open(path, os.O_RDONLY)
    log = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    (file,) = [each for each in open_files.inherited() if each.target.startswith(str(tmp_path))]
    assert not file.moved()
    os.read(handle, 3)
    assert file.moved()
    assert not file.moved()
    os.dup2(os.open(other, os.O_RDONLY), handle)
    os.read(handle, 3)
    assert not file.moved()
    os.close(handle)
    os.close(log)
    os.close(file.copy)


FACTS = Facts(2, "fork", False, True, False, "2.4", 2, 8, "Rows", iterates=("data.py:4", "data.py:5"))


def test_places_are_those_of_the_user() -> None:
    inside = ("choice (/env/lib/python3.11/site-packages/x.py:3)", "Crops.draw (lib/crops.py:9)", "main (train.py:1)")
    assert user_places.of_stack(inside) == "lib/crops.py:9"
    assert user_places.of_stack(inside[:1]) == ""
    text = f'File "train.py", line 3, in f\nFile "{os.__file__}", line 4, in g\nFile "<string>", line 5\n'
    assert user_places.of_traceback(text) == ["train.py:3"]
    first = test_places_are_those_of_the_user.__code__.co_firstlineno
    lines = user_places.of_code(test_places_are_those_of_the_user)
    assert lines[:2] == (f"{__file__}:{first}", f"{__file__}:{first + 1}")
    assert user_places.of_code(os.path.join) == user_places.of_code(None) == user_places.of_code(len) == ()
    assert __file__ in user_places.loaded_files() and os.__file__ not in user_places.loaded_files()


def test_a_report_survives_json_and_raises() -> None:
    result = Result(
        "items", Verdict.FAULT, "items come twice", ("worker 0",), "unsharded-iterable-dataset", ("data.py:4",)
    )
    report = Report(
        "loader", FACTS, (result, Result("samples", Verdict.CLEAN, "none")), 1.0, ("data.py:5",), ("/data.py",)
    )
    assert report_of(report.as_data()) == report
    assert "fault: items: items come twice [unsharded-iterable-dataset]\n    worker 0" in str(report)
    with pytest.raises(AuditError, match="items come twice"):
        report.raise_for_faults()
    Report("loader", FACTS, (result,)[1:], 0.0).raise_for_faults()


def test_the_plugin_imports_neither_torch_nor_the_engine() -> None:
    program = (
        "import sys, pytest; before = set(sys.modules); import loaderlint.audit.pytest_plugin\n"
        "print(*sorted(name for name in set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["loaderlint", "loaderlint.audit", "loaderlint.audit.pytest_plugin"]


def test_small_buffers_are_made_larger() -> None:
    reader, writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    reader.settimeout(5)
    for end in (reader, writer):  # as on macOS
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2048)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        make_room(end)
    Sender(writer).send(Answer({"text": ("x" * (2 * CHUNK),)}))
    receiver = Receiver()
    received = [message for _ in range(3) for message in receiver.messages(reader.recv(1 << 18))]
    assert received == [Answer({"text": ("x" * (2 * CHUNK),)})]


class Full:
    """A socket whose reader has no room the first times."""

    def __init__(self, *refused: int) -> None:
        self.refused = list(refused)
        self.sent: list[bytes] = []

    def send(self, data: bytes) -> None:
        if self.refused:
            raise OSError(self.refused.pop(0), "refused")
        self.sent.append(data)


def test_a_full_buffer_is_waited_for() -> None:
    full = Full(errno.ENOBUFS, errno.ENOBUFS)
    Sender(full).send(Answer({}))  # type: ignore[arg-type]
    assert len(full.sent) == 1


def test_a_reader_that_is_gone_is_not_waited_for() -> None:
    gone = Full(errno.ECONNRESET)
    Sender(gone).send(Answer({}))  # type: ignore[arg-type]
    assert not gone.sent and not gone.refused
