"""Runs the user's code in a copy of this process, with a time limit: its effects stay there.

The copy is forked and leads a process group of its own; everything that it starts ends with it. So the random states,
the dataset and the iterators of the original process stay as they were, and Ctrl+C leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import itertools
import os
import random
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Struct, field

from loaderlint.audit.messages import Began, Failed, Failure, Message, Receiver, Sender, channel

#: A worker writes its stack when it gets this signal.
SHOW_STACK = getattr(signal, "SIGUSR2", None)

#: Seconds that a worker may take to write its stack.
_STACK_PATIENCE = 1.0

#: From Linux's <sys/prctl.h>.
_PR_SET_PDEATHSIG = 1

#: A process waits for something if it sleeps at each of this many checks, this many seconds apart. A process that only
#: gets no processor is ready to run.
_LOOKS = 10
_BETWEEN = 0.1

#: It must also have worked on one batch for at least this share of the time.
_SHARE = 0.4


class Stuck(Struct, frozen=True):
    """A worker that had not finished its batch when the time was over. `waiting`: it no longer used processor time."""

    worker: int
    pid: int
    index: str
    seconds: float
    waiting: bool
    stack: str


class Outcome(Struct):
    """The outcome of a sandbox. `finished`: it ended by itself; `stuck`: the workers that were busy when the time was
    over; `died`: how the copy ended if it crashed."""

    messages: list[Message] = field(default_factory=list)
    finished: bool = False
    stuck: list[Stuck] = field(default_factory=list)
    died: str = ""
    seconds: float = 0.0


def why_not() -> str | None:
    """Why this system cannot run a sandbox; None if it can."""
    if not hasattr(os, "fork") or sys.platform == "win32":
        return "audit copies the running process, which this system cannot do; run it on Linux, macOS or WSL"
    return None


def run(work: Callable[[Sender, socket.socket], None], timeout: float) -> Outcome:
    """Run `work` in a copy of this process, for at most `timeout` seconds. Its arguments are the sender of its
    messages, and the socket to which workers write their stack."""
    ours, theirs = channel()
    stacks, stack_writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    started = time.monotonic()
    numbers = random.getstate()  # Python reseeds it in each copy
    child = os.fork()
    if child == 0:
        random.setstate(numbers)
        _work(work, Sender(theirs), stack_writer)
    with contextlib.suppress(OSError):
        os.setpgid(child, child)
    theirs.close()
    stack_writer.close()
    outcome = Outcome()
    try:
        _listen(child, ours, stacks, started + timeout, outcome)
    finally:
        _end_group(child)
        ours.close()
        stacks.close()
    outcome.seconds = time.monotonic() - started
    return outcome


def _work(work: Callable[[Sender, socket.socket], None], sender: Sender, stacks: socket.socket) -> NoReturn:
    """The part that runs in the copy."""
    code = 0
    try:
        os.setpgid(0, 0)
        _end_with_parent()
        gc.freeze()  # objects of the parent are never collected here: its iterators would tell its workers to end
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _forget_children()
        work(sender, stacks)
    except BaseException as error:
        sender.send(Failed(failure_of(error)))
        code = 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(code)


def _end_with_parent() -> None:
    """Make Linux kill this process when its parent is killed; its workers then end by themselves."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _forget_children() -> None:
    """Forget the child processes and the fork server of the parent: they are not the copy's."""
    import multiprocessing.process
    from multiprocessing import forkserver, resource_tracker

    vars(multiprocessing.process)["_children"].clear()
    vars(multiprocessing.process)["_process_counter"] = itertools.count(1)
    known: Any = forkserver._forkserver
    preloaded = vars(known).get("_preload_modules")
    known.__init__()
    if preloaded:
        known.set_forkserver_preload(list(preloaded))
    tracker: Any = resource_tracker._resource_tracker
    if vars(tracker).get("_pid") is not None:
        tracker.__init__()


def failure_of(error: BaseException) -> Failure:
    """An exception as plain text."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return Failure(type(error).__name__, str(error)[-2000:], text[-8000:])


def _listen(child: int, ours: socket.socket, stacks: socket.socket, end: float, outcome: Outcome) -> None:
    """Collect messages until the copy ends or the time is over."""
    receiver = Receiver()
    began: dict[int, tuple[Began, float]] = {}
    started = time.monotonic()
    while True:
        left = end - time.monotonic()
        if left <= 0:
            outcome.stuck = [_stuck(each, since, end - started, stacks) for each, since in began.values()]
            return
        readable, _, _ = select.select([ours], [], [], min(left, 0.05))
        if not readable:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid == 0:
                continue
            outcome.finished = True
            outcome.died = _died(status)
            return
        for message in receiver.messages(ours.recv(1 << 18)):
            outcome.messages.append(message)
            if isinstance(message, Began):
                began[message.pid] = message, time.monotonic()
            else:
                began.pop(getattr(message, "pid", -1), None)


def _died(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"ended by signal {os.WTERMSIG(status)}"
    return ""


def _stuck(began: Began, since: float, whole: float, stacks: socket.socket) -> Stuck:
    """What is known about a worker that is still busy."""
    seconds = time.monotonic() - since
    waiting = seconds >= _SHARE * whole and _sleeps(began.pid)
    stack = _stack_of(began.pid, stacks)
    return Stuck(began.worker, began.pid, began.index, seconds, waiting, stack)


def _stack_of(pid: int, stacks: socket.socket) -> str:
    """The Python stack of a process, innermost first; '' if it does not answer."""
    if SHOW_STACK is None:
        return ""
    try:
        os.kill(pid, SHOW_STACK)
    except OSError:
        return ""
    text = b""
    end = time.monotonic() + _STACK_PATIENCE
    while time.monotonic() < end:
        readable, _, _ = select.select([stacks], [], [], 0.2)
        if readable:
            text += stacks.recv(1 << 16)
        elif text:
            break
    return text.decode(errors="replace")


def _sleeps(pid: int) -> bool:
    """Whether a process waits: it sleeps at every check, and uses no processor time in between."""
    used = set()
    for _ in range(_LOOKS):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return False
        if fields[0] != "S":
            return False
        used.add((fields[11], fields[12]))
        time.sleep(_BETWEEN)
    return len(used) == 1


def _end_group(child: int) -> None:
    """Kill what is left of the copy and of the processes that it started, and reap it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)
