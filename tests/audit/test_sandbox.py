"""What runs in a copy of the process, and that nothing of it stays."""

from __future__ import annotations

import os
import random
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loaderlint.audit import sandbox
from loaderlint.audit.messages import Answer, Began, Failed, Sender

pytestmark = pytest.mark.skipif(sandbox.why_not() is not None, reason="no fork here")


def _is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _pid(outcome: sandbox.Outcome) -> int:
    (answer,) = [each for each in outcome.messages if isinstance(each, Answer)]
    return int(answer.values["pid"][0])


def test_what_the_copy_does_stays_there() -> None:
    state = random.getstate()

    def work(sender: Sender, stacks: socket.socket) -> None:
        sender.send(Answer({"pid": (str(os.getpid()),), "drawn": (str(random.random()),)}))
        os.environ["LOADERLINT_TEST"] = "1"

    first, second = sandbox.run(work, 30), sandbox.run(work, 30)
    assert first.finished and not first.stuck
    assert random.getstate() == state
    assert "LOADERLINT_TEST" not in os.environ
    drawn = [each.values["drawn"] for run in (first, second) for each in run.messages if isinstance(each, Answer)]
    assert drawn[0] == drawn[1], "each copy begins in the state of the process"


def test_an_exception_is_told_with_its_traceback() -> None:
    def work(sender: Sender, stacks: socket.socket) -> None:
        raise ValueError("no such row")

    (failed,) = sandbox.run(work, 30).messages
    assert isinstance(failed, Failed)
    assert failed.failure.kind == "ValueError" and "in work" in failed.failure.traceback


@pytest.mark.parametrize("waits", [True, False])
def test_a_worker_that_waits_is_told_from_one_that_works(waits: bool) -> None:
    def work(sender: Sender, stacks: socket.socket) -> None:
        sender.send(Answer({"pid": (str(os.getpid()),)}))
        sender.send(Began(0, os.getpid(), 0, "[3]"))
        while True:
            if waits:
                time.sleep(60)

    outcome = sandbox.run(work, 1)
    (stuck,) = outcome.stuck
    assert not outcome.finished
    assert (stuck.worker, stuck.index) == (0, "[3]")
    if Path("/proc/self/stat").exists():
        assert stuck.waiting == waits
    assert not _is_there(_pid(outcome))


def test_what_the_copy_starts_ends_with_it() -> None:
    def work(sender: Sender, stacks: socket.socket) -> None:
        child = os.fork()
        if child == 0:
            time.sleep(60)
        sender.send(Answer({"pid": (str(child),)}))

    outcome = sandbox.run(work, 30)
    assert outcome.finished
    end = time.monotonic() + 10
    while _is_there(_pid(outcome)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _is_there(_pid(outcome))


def test_an_interruption_ends_the_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    pids: list[int] = []
    listen: Callable[..., None] = sandbox._listen

    def interrupted(child: int, *arguments: object) -> None:
        pids.append(child)
        raise KeyboardInterrupt

    monkeypatch.setattr(sandbox, "_listen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sandbox.run(lambda sender, stacks: time.sleep(60), 30)
    monkeypatch.setattr(sandbox, "_listen", listen)
    assert not _is_there(pids[0])
