"""The process in which the cases run: it imports PyTorch once and forks a copy of itself for each run.

Started by `harness.Zygote` as `python zygote.py MODULE...`, with what it imports beside PyTorch. It reads one JSON
request a line from standard input and answers with one JSON line on standard output. A request names the folder of a
program, the function of `oracles` that measures it, the changes to its loaders (`loader`, see
`oracles.override_loaders`) and a time limit in seconds. An answer is what the oracle returned,
`{"error": "<traceback>"}` or `{"hang": true}`.

A fork of a process that has imported torch takes some 0.06 s, an import of torch takes seconds.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: What the programs import. The fork server has them too, so that its workers need not import them again.
PRELOADED = ("torch", "torch.utils.data", "numpy", "numpy.random", "h5py", "lmdb", "cv2")

# The number of threads that OpenCV takes must not depend on the machine: with one core there would be no symptom.
os.environ["OPENCV_FOR_THREADS_NUM"] = "4"
os.environ["OPENCV_FFMPEG_THREADS"] = "2"
os.environ["OMP_NUM_THREADS"] = "1"


def main() -> None:
    """Answer requests until standard input ends."""
    here = Path(__file__).resolve().parent
    sys.path.insert(0, str(here))
    for name in (*PRELOADED, *sys.argv[1:]):
        importlib.import_module(name)
    import oracles
    import torch

    torch.set_num_threads(1)
    _start_fork_server()
    # Workers that are spawned import the main module again; that is this file, which is not part of any program.
    del sys.modules["__main__"].__file__
    gc.freeze()  # a fork that collects garbage writes to every page that it shares
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a program prints is not an answer
    print(json.dumps({"versions": oracles.versions()}), file=replies, flush=True)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line), oracles)), file=replies, flush=True)


def _start_fork_server() -> None:
    """Start the fork server once, for all runs: its forked users find it by the address that they inherit."""
    import multiprocessing
    from multiprocessing import forkserver, resource_tracker

    multiprocessing.get_context("forkserver").set_forkserver_preload(list(PRELOADED))
    resource_tracker.ensure_running()
    forkserver.ensure_running()


def run(request: dict[str, Any], oracles: Any) -> dict[str, Any]:
    """Fork, measure in the child, and return its answer. The child's whole process group ends with it."""
    with tempfile.TemporaryFile() as answer:
        child = os.fork()
        if child == 0:
            _measure(request, oracles, answer.fileno())
        hang = not _ended(child, request["timeout"])
        _end_group(child)
        if hang:
            return {"hang": True}
        answer.seek(0)
        text = answer.read().decode()
        return json.loads(text) if text else {"error": "the process ended without an answer"}


def _measure(request: dict[str, Any], oracles: Any, answer: int) -> None:
    """The child's part. Never returns."""
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.chdir(request["folder"])
        sys.path.insert(0, request["folder"])
        _trust_inherited_fork_server()
        oracles.override_loaders(request["loader"])
        measure: Callable[..., Any] = getattr(oracles, request["oracle"])
        name = request["module"]
        module = name if request["oracle"] in oracles.SCRIPTS else importlib.import_module(name)
        result = measure(module, **request["arguments"])
    except BaseException:
        result = {"error": traceback.format_exc()}
    os.write(answer, json.dumps(result).encode())
    os._exit(0)


def _trust_inherited_fork_server() -> None:
    """`ensure_running` waits for the server as for a child, which it is of the zygote only."""
    from multiprocessing import forkserver

    setattr(forkserver._forkserver, "ensure_running", lambda: None)  # noqa: B010 (no attribute that a type checker knows)


def _ended(child: int, timeout: float) -> bool:
    """Whether `child` ended within `timeout` seconds."""
    handle = os.pidfd_open(child)
    try:
        readable, _, _ = select.select([handle], [], [], timeout)
    finally:
        os.close(handle)
    return bool(readable)


def _end_group(child: int) -> None:
    """Kill what is left of the child's group (workers that hang), reap the child, and kill the workers that it had from
    the fork server: nobody would, and they wait for ever."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for worker in _served():
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


def _served() -> list[int]:
    """The processes that the fork server has started and that live."""
    from multiprocessing import forkserver

    server = vars(forkserver._forkserver)["_forkserver_pid"]
    return [int(word) for word in Path(f"/proc/{server}/task/{server}/children").read_text().split()]


if __name__ == "__main__":
    main()
