"""Runs command lines of loaderlint, each in a fork of a process that has imported it: some milliseconds a run.

Started by `bounded.Runner`. It reads one JSON request a line from standard input and answers each with one JSON line.
A request names the folder, the arguments, the limits, and the files that take the output."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

#: A project in which a check looks for faults and mends one.
PROJECT = """\
import numpy as np
from torch.utils.data import DataLoader


def init(worker_id):
    np.random.seed(0)


loader = DataLoader([1, 2], num_workers=2, worker_init_fn=init)
"""


def main() -> None:
    """Answer requests until standard input ends."""
    import loaderlint.cli as cli

    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _warm_up(cli)
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line), cli)), file=replies, flush=True)


def _warm_up(cli: Any) -> None:
    """Do once what every fork would do again: import what a command imports when it is needed, compile expressions."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(PROJECT)
        os.chdir(folder)
        for command in (["check", "."], ["check", "--fix", "."], ["workers", "."]):
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                cli.main(command)
        os.chdir("/")
    gc.freeze()


def _run(request: dict[str, Any], cli: Any) -> dict[str, Any]:
    ended, held = os.pipe()  # The end of the fork, and of all that it started, closes the pipe.
    child = os.fork()
    if child == 0:
        os.close(ended)
        _be_a_command(request, cli)
    os.close(held)
    hang = not _ends(child, ended, request["patience"])
    os.close(ended)
    if hang:
        os.killpg(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "hang": hang,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * 1024,
    }


def _ends(child: int, ended: int, patience: int) -> bool:
    """Whether the child ends before it has waited for something for `patience` looks, a second apart. One that works,
    or that waits for a processor, ends by its limit."""
    idle, used = 0, -1
    while idle < patience:
        if select.select([ended], [], [], 1)[0]:
            return True
        state, now = _usage(child)
        idle = idle + 1 if state in "SDT" and now == used else 0
        used = now
    return False


def _usage(pid: int) -> tuple[str, int]:
    """The state of a process, and the processor time that it has used, in ticks."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return fields[0], int(fields[11]) + int(fields[12])


def _be_a_command(request: dict[str, Any], cli: Any) -> None:
    """The fork's part. Never returns."""
    code = 99
    try:
        os.setpgid(0, 0)
        os.chdir(request["folder"])
        _limit(request)
        _redirect(request)
        sys.argv = ["loaderlint", *request["arguments"]]
        try:
            cli.entry()
        except SystemExit as leave:
            code = leave.code if isinstance(leave.code, int) else 99
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _limit(request: dict[str, Any]) -> None:
    used = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + request["cpu"], used + request["cpu"] + 1))
    resource.setrlimit(resource.RLIMIT_AS, (request["space"], request["space"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_size"], request["file_size"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _redirect(request: dict[str, Any]) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    for number, stream in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        mode = "r" if number == 0 else "w"
        setattr(sys, stream, open(number, mode, closefd=False, encoding="utf-8"))


if __name__ == "__main__":
    main()
