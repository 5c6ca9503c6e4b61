"""Processes of our own beside this one."""

from __future__ import annotations

import multiprocessing
import signal
from multiprocessing.context import BaseContext


def context(*preloaded: str) -> BaseContext:
    """Processes that inherit neither threads nor memory of this one; where it can be, from a server that has these
    modules loaded."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(list(preloaded))
    return found


def leave_interrupts() -> None:
    """What is interrupted is the process that asked for this one, and it ends this one itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
